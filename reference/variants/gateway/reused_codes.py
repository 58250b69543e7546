"""What else ends when a code is used a second time: the code may have been stolen."""

from __future__ import annotations

from dataclasses import replace

from starlette.types import ASGIApp

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.records import Grant
from gateproof.reference.gateway.store import Store
from gateproof.reference.variants.variant import variant


class _EndingAll(Store):
    """Revokes all grants and codes of the agent and the user, as if they were one authorization."""

    __slots__ = ()

    def revoke_grant(self, grant_id: str) -> None:
        if (reused := self.grants.get(grant_id)) is None:
            return
        ended = {key for key in self.grants if _whose(self.grants.get(key)) == _whose(reused)}
        for key in ended:
            if grant := self.grants.get(key):
                self.grants.change(key, replace(grant, revoked=True))
        for key in [key for key in self.codes if (code := self.codes.get(key)) and code.grant_id in ended]:
            if (code := self.codes.get(key)) and not code.spent:
                self.codes.take(key)


def _whose(grant: Grant | None) -> tuple[str, str] | None:
    return (grant.agent_id, grant.person.login_id) if grant is not None else None


def _ending_all(app: ASGIApp, gateway: Gateway) -> ASGIApp:
    gateway.store.__class__ = _EndingAll
    return app


VARIANTS = (
    variant(
        "second-use-ends-all-of-an-agent-and-user: a second use of a code revokes all tokens and codes that "
        "the agent has for this user",
        around=_ending_all,
    ),
)
