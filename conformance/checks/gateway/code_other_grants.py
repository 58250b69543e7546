"""Grant types that the gateway does not announce give no tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gateproof.conformance.checks.gateway._exchanges import TOKENS, code_after_working_exchange
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Grant

_JWT = "urn:ietf:params:oauth:token-type:jwt"
_ACCESS = "urn:ietf:params:oauth:token-type:access_token"
# The grant type, and its form fields made from the agent's tokens and user.
GRANTS: Mapping[str, tuple[str, Callable[[Grant], dict[str, str]]]] = {
    "password": (
        "password",
        lambda grant: {"username": grant.user.login, "password": grant.user.password.reveal()},
    ),
    "password-that-is-wrong": (
        "password",
        lambda grant: {"username": grant.user.login, "password": "gateproof-wrong-password"},
    ),
    "implicit": ("implicit", lambda _: {}),
    "jwt-bearer": (
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        lambda grant: {"assertion": grant.id_token.reveal()},
    ),
    "token-exchange": (
        "urn:ietf:params:oauth:grant-type:token-exchange",
        lambda grant: {"subject_token": grant.access_token.reveal(), "subject_token_type": _ACCESS},
    ),
    "token-exchange-of-an-id-token": (
        "urn:ietf:params:oauth:grant-type:token-exchange",
        lambda grant: {"subject_token": grant.id_token.reveal(), "subject_token_type": _JWT},
    ),
    "invented": ("gateproof", lambda _: {}),
}


@check("CODE-17", cases=GRANTS)
def grant_that_nobody_announced_gives_no_tokens(
    gateway: Gateway, world: World, case: tuple[str, Callable[[Grant], dict[str, str]]]
) -> None:
    """A registered agent with correct credentials gets no tokens by a grant type that is not announced.

    A grant type in the discovery document's grant_types_supported is announced. `password` never counts as
    announced.
    """
    grant_type, fields = case
    _is_not_announced(world, grant_type)
    if case is GRANTS["password-that-is-wrong"] and world.merchant is None:
        raise LeftOut("at another merchant than the fake one, a run tries only one wrong password")
    code_after_working_exchange(world)
    grant = world.grant()
    credentials = {"client_id": grant.agent.client_id, "client_secret": grant.agent.client_secret.reveal()}
    scope = {"scope": " ".join(("openid", *grant.resource.scopes))}
    form = {"grant_type": grant_type, **credentials, **scope, **fields(grant)}

    answer = gateway.token_request(list(form.items()))

    expect(replace(answer, step=f"token request with grant_type={grant_type}")).not_granted("tokens", *TOKENS)


@check("CODE-17", cases={name: name for name in ("password", "implicit", "gateproof")})
def proxy_client_gets_no_token_by_another_grant(gateway: Gateway, world: World, case: str) -> None:
    """A Proxy client with correct credentials gets no token by a grant type that is not announced."""
    _is_not_announced(world, case)
    client = world.projects.home().proxy_client
    require(gateway.proxy_token(client)).status(200)

    answer = gateway.token_request([("grant_type", case)], gateway.basic(client))

    step = f"token request of a Proxy client with grant_type={case}"
    expect(replace(answer, step=step)).not_granted("tokens", *TOKENS)


def _is_not_announced(world: World, grant_type: str) -> None:
    """Raises LeftOut if the discovery document has this grant type; `password` never counts."""
    announced = world.discovery(world.projects.home().resource).get("grant_types_supported")
    if grant_type != "password" and isinstance(announced, list) and grant_type in announced:
        raise LeftOut(f"the gateway announces the grant {grant_type}")
