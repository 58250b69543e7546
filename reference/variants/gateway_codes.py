"""Other legal ways for codes to stand beside each other."""

from __future__ import annotations

from typing import Any

from starlette.types import ASGIApp

from reference.gateway.gateway import Gateway
from reference.gateway.ids import fingerprint
from reference.gateway.policy import authorization, code_exchange
from reference.gateway.policy.code_exchange import CodeCheck, CodeFacts, CodeRefused
from reference.gateway.records import AuthorizationRequest, Code
from reference.gateway.store import Expiring
from reference.variants.variant import Variant, variant


def _newest_alone() -> dict[str, Any]:
    """A user who approves an agent again has thought better of the code before."""
    held: list[Gateway] = []
    given: list[str] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        held[:] = [gateway]
        return app

    def redirect(request: AuthorizationRequest, code: str, issuer: str) -> str:
        given.append(fingerprint(code))
        return authorization.code_redirect(request, code, issuer)

    def whose(code: Code | None) -> tuple[str, str, str] | None:
        grant = held[0].store.grants.get(code.grant_id) if code is not None else None
        return (grant.agent_id, grant.resource_id, grant.sub) if grant is not None else None

    async def spend(
        codes: Expiring[Code], key: str, checks: tuple[CodeCheck, ...], facts: CodeFacts
    ) -> Code | CodeRefused:
        later = given[given.index(key) + 1 :] if key in given else []
        whose_it_is = whose(codes.get(key))
        if whose_it_is is not None and any(whose(codes.get(each)) == whose_it_is for each in later):
            return await code_exchange.spend_code(codes, "", checks, facts)
        return await code_exchange.spend_code(codes, key, checks, facts)

    return {"around": around, "code_redirect": redirect, "spend_code": spend}


VARIANTS: tuple[Variant, ...] = (
    variant(
        "newest-code-alone",
        "a code that a user gives an agent ends the one that was given before",
        **_newest_alone(),
    ),
)
