"""The result of one step: the gateway's answer as a word, and the merchant calls meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# The merchant's answer to a token request. `reused`: the refresh token had been replaced or revoked. `lost`:
# the grant was carried out, but its answer failed.
Result = Literal["accepted", "rejected", "reused", "failed", "lost"]


# In these results the merchant failed, but rejected nothing.
TROUBLE: frozenset[Result] = frozenset({"failed", "lost"})


# The result of a sign-in that ends on a server error page.
CRASHED = "crash"


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantCall:
    """One token request that reached the merchant, by the gateway's clock."""

    grant: Literal["provisioning", "refresh"]
    result: Result
    project: int
    user: int
    at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantToken:
    """What the merchant knows about a redeemed token; `until` is by the gateway's clock."""

    owned: bool
    until: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """The result of a step.

    `came` is a word of the model: `code`, `no code`, `crash`, `tokens`, `invalid_grant` or a status. Statuses
    that the specification does not name are grouped as `4xx` or `5xx`. `said` is the text for reports.
    """

    came: str
    said: str
    at: float
    heard: tuple[MerchantCall, ...] = ()
    # The end of the code, of the gateway access token, or of the Proxy token.
    until: float = float("inf")
    token: MerchantToken | None = None


_NAMED = frozenset({200, 401, 404, 410})


def status_word(status: int | None) -> str:
    """The status if the specification names it, otherwise its group such as 4xx."""
    if status is None:
        return "no answer"
    return str(status) if status in _NAMED else f"{status // 100}xx"
