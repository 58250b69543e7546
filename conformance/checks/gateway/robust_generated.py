"""Generated input; a failing input is shrunk to the smallest one that causes a server error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from gateproof.conformance.checks.gateway._exchanges import require_exchange
from gateproof.conformance.checks.gateway._visits import attempt_known_to_work as good_request
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Gateway
from gateproof.conformance.kit.gateway.valid_tokens import RefreshingTokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.robust_answers import ask, is_robust
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect
from gateproof.conformance.suite.generated_input import Draw
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Request

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

# Characters that often break parsers, encoders and templates, and a few rare ones.
LETTERS = (
    "aZ09 \x00\n\r\t\x1b\x7f\x85\xa0\xe4\u0130\u0301\u202e\u2028\ud800\udfff\uffff\U0001f600"
    "%&=+;#?/:@[]{}<>\"'\\`,.$|~^*()-_"
)
# Those of them that are allowed in a header.
IN_HEADERS = "".join(letter for letter in LETTERS if letter.isprintable() and letter < "\u0100") + "\x85\xa0"
# How many characters of a value are kept, and the text put before and after; it does not show the value.
Edit: TypeAlias = tuple[int, str, str]


@check("ROBUST-01", needs=["examples"])
def generated_registrations_get_an_answer(gateway: Gateway, world: World, draw: Draw) -> None:
    """A registration with generated members causes no server error."""
    endpoint = agent_wire.registration_endpoint(gateway.base_url)
    good = world.agents.metadata()
    world.agents.new()

    def holds(members: Mapping[str, Any]) -> None:
        request = agent_wire.registration(endpoint, {**good, **members})
        _expect_robust(gateway, request, "registration", members)

    draw.each(_some_of(good), holds)


@check("ROBUST-01", needs=["examples"])
def generated_resources_get_an_answer(gateway: Gateway, world: World, draw: Draw) -> None:
    """A redemption with a generated resource causes no server error."""
    tokens = RefreshingTokens(world=world)
    tokens.now()

    def holds(resource: Any) -> None:
        good = tokens.now()
        request = backend_wire.redemption(
            gateway.base_url,
            bearer=good.grant.access_token,
            proxy_token=good.proxy_token,
            resource=resource,
        )
        _expect_robust(gateway, request, "redemption", resource)

    draw.each(_json(), holds)


@check("ROBUST-01", needs=["examples"])
def generated_credentials_get_an_answer(gateway: Gateway, world: World, draw: Draw) -> None:
    """A redemption with shortened, extended or replaced credentials causes no server error."""
    tokens = RefreshingTokens(world=world)
    tokens.now()

    def holds(edits: Mapping[str, Edit]) -> None:
        good = tokens.now()
        request = backend_wire.redemption(
            gateway.base_url,
            bearer=good.grant.access_token,
            proxy_token=good.proxy_token,
            resource=good.grant.resource.indicator,
        )
        headers = tuple((name, _edited(value, edits.get(name))) for name, value in request.headers)
        _expect_robust(gateway, replace(request, headers=headers), "redemption", edits)

    draw.each(_edits_of("Authorization", "X-Proxy-Token"), holds)


@check("ROBUST-01", needs=["examples"])
def generated_exchanges_get_an_answer(gateway: Gateway, world: World, draw: Draw) -> None:
    """A known agent's exchange with generated fields causes no server error."""
    agent = world.agents.new()
    require_exchange(world, agent)
    good = {
        "grant_type": "authorization_code",
        "code": agent_wire.fresh_state(),
        "redirect_uri": CALLBACK,
        "client_id": agent.client_id,
        "client_secret": agent.client_secret.reveal(),
        "code_verifier": agent_wire.fresh_verifier(),
    }

    def holds(fields: Mapping[str, str]) -> None:
        request = Request(
            method="POST",
            url=agent_wire.token_endpoint(gateway.core_url),
            headers=(agent_wire.FORM_BODY,),
            body=_encoded({**good, **fields}),
        )
        _expect_robust(gateway, request, "exchange", fields)

    draw.each(_texts_for(good), holds)


@check("ROBUST-01", needs=["examples"])
def generated_authorizations_get_an_answer(gateway: Gateway, world: World, draw: Draw) -> None:
    """An authorization request with generated parameters causes no server error."""
    world, attempt = good_request(world)
    endpoint = agent_wire.authorization_endpoint(gateway.base_url, attempt.resource.id)

    def holds(parameters: Mapping[str, str]) -> None:
        query = _encoded({**attempt.parameters, **parameters}).decode("ascii")
        _expect_robust(gateway, Request(method="GET", url=f"{endpoint}?{query}"), "authorization", parameters)

    draw.each(_texts_for(attempt.parameters), holds)


def _expect_robust(gateway: Gateway, request: Request, what: str, drawn: object) -> None:
    answer = ask(gateway, request, what)
    expect.that(
        is_robust(answer),
        what,
        expected="an answer in time and below 500",
        got=f"{answer.outcome()} to {json.dumps(drawn)}",
        exchange=answer,
    )


def _texts_for(good: Mapping[str, str]) -> SearchStrategy[dict[str, str]]:
    from hypothesis import strategies as st  # noqa: PLC0415 - loaded by those who generate

    return st.dictionaries(st.sampled_from(sorted(good)), _text(), min_size=1, max_size=3)


def _edits_of(*names: str) -> SearchStrategy[dict[str, Edit]]:
    from hypothesis import strategies as st  # noqa: PLC0415

    odd = st.lists(st.sampled_from(IN_HEADERS), max_size=8).map("".join)
    kept = st.one_of(st.integers(0, 60), st.just(10_000))
    return st.dictionaries(st.sampled_from(names), st.tuples(kept, odd, odd), min_size=1, max_size=2)


def _edited(value: str, edit: Edit | None) -> str:
    if edit is None:
        return value
    kept, before, behind = edit
    return f"{before}{value[:kept]}{behind}".strip(" \t")


def _some_of(good: Mapping[str, Any]) -> SearchStrategy[dict[str, Any]]:
    from hypothesis import strategies as st  # noqa: PLC0415

    return st.dictionaries(st.sampled_from(sorted(good)), _json(), min_size=1, max_size=2)


def _json() -> SearchStrategy[Any]:
    from hypothesis import strategies as st  # noqa: PLC0415

    leaves = st.one_of(st.sampled_from([None, True, False, 0, -1, 1.5, 2**70, -0.0, 1e308]), _text())
    return st.recursive(
        leaves,
        lambda inner: st.one_of(st.lists(inner, max_size=8), st.dictionaries(_text(), inner, max_size=8)),
        max_leaves=24,
    )


def _text() -> SearchStrategy[str]:
    from hypothesis import strategies as st  # noqa: PLC0415

    odd = st.lists(st.sampled_from(LETTERS), max_size=8).map("".join)
    return st.one_of(odd, odd.map(lambda text: f"https://agent.example/{text}"))


def _encoded(fields: Mapping[str, str]) -> bytes:
    pairs = (
        f"{name}={quote(text.encode('utf-8', 'surrogatepass'), safe='')}" for name, text in fields.items()
    )
    return "&".join(pairs).encode("ascii")
