"""The JWTs that the gateway sends to the merchant, from the fake merchant's journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.documents import strings_in
from gateproof.conformance.wire.jose import read
from gateproof.fakes.merchant.records import JournalEntry

CLIENT_ASSERTION = "client assertion"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"  # noqa: S105 - a name, not a token


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """One JWT, and the number of the request that contained it."""

    kind: str
    token: str = field(repr=False)
    request: int

    @property
    def claims(self) -> Mapping[str, Any]:
        parsed = read(self.token)
        return parsed.claims if parsed is not None else {}


def assertions_sent(alone: IsolatedUser, grants: Sequence[Grant], after: int = 0) -> list[Sent]:
    """The JWTs that the gateway sent for the Resource or the agents, accepted or not.

    A request with a rejected assertion may name no client; its claims then show to whom it belongs. The
    search begins at this client's first request after `after`. Assertions of the sign-in are included.
    """
    named = {alone.client_id, *(grant.agent.client_id for grant in grants)}
    own = alone.merchant.journal(alone.client_id, after)
    first = min((entry.ordinal for entry in own), default=after + 1)
    entries = alone.merchant.journal(after=first - 1)
    return [
        sent
        for entry in entries
        for sent in _tokens(entry)
        if entry.client_id == alone.client_id
        or (entry.client_id is None and named & set(strings_in(dict(sent.claims))))
    ]


def requests_naming_agents(alone: IsolatedUser) -> int:
    """The number of gateway requests so far that could name an agent to the merchant."""
    sent = alone.asked(JWT_BEARER, TOKEN_EXCHANGE)
    if not sent:
        raise LeftOut("the gateway gets merchant tokens by a grant in which no agent can be named")
    return len(sent)


def _tokens(entry: JournalEntry) -> list[Sent]:
    found = (
        ("assertion", entry.assertion),
        ("subject token", entry.subject_token),
        (CLIENT_ASSERTION, entry.client_assertion),
    )
    return [Sent(kind=kind, token=token, request=entry.ordinal) for kind, token in found if token]
