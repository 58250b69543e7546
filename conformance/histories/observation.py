"""What came of one step: the gateway's answer in a word, and what the merchant was asked meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# What the merchant made of a request for a merchant token. `reused` stands for a refresh token that it had
# replaced or revoked; `lost` for a grant that was carried out and whose answer failed.
Result = Literal["accepted", "rejected", "reused", "failed", "lost"]


# With these the merchant has failed its caller, and rejected nothing.
TROUBLE: frozenset[Result] = frozenset({"failed", "lost"})


# What a sign-in comes to that ends on a page of the server's failure: no code, and no answer either.
CRASHED = "crash"


@dataclass(frozen=True, kw_only=True, slots=True)
class Heard:
    """One request for a merchant token that reached the merchant, at a moment of the gateway's clock."""

    grant: Literal["provisioning", "refresh"]
    result: Result
    project: int
    user: int
    at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantToken:
    """What the merchant says of a merchant token that was redeemed; `until` is by the gateway's clock."""

    owned: bool
    until: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What came of a step.

    `came` is a word of the model's: `code`, `no code`, `crash`, `tokens`, `invalid_grant`, or a status, of
    which only the hundred is told where the specification names no such status. `said` is for people.
    """

    came: str
    said: str
    at: float
    heard: tuple[Heard, ...] = ()
    # When a code may be over, or when the gateway access token of an exchange, or a Proxy token, is.
    until: float = float("inf")
    token: MerchantToken | None = None


_NAMED = frozenset({200, 401, 404, 410})


def status_word(status: int | None) -> str:
    """The status, or its hundred where the specification names none of it."""
    if status is None:
        return "no answer"
    return str(status) if status in _NAMED else f"{status // 100}xx"
