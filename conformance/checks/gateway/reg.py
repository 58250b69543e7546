"""Dynamic client registration."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

from gateproof.conformance.checks.gateway._held_again import leave_out_if_held_again
from gateproof.conformance.checks.gateway._visits import code_came
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.entropy import apparent_bits
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.conformance.suite.parties import Authorization
from gateproof.conformance.wire.backend import basic
from gateproof.conformance.wire.exchange import Exchange

OTHER = "https://agent.example/other"
DAY_S = 24 * 3600
YEAR_S = 366 * DAY_S
# Longer than usual lifetimes of certificates, contracts and retention periods.
YEARS = 3
SAMPLES = 32
FRAGMENT = "#part"
# Redirect URIs of which one has a fragment.
AMONG_OTHERS = {
    "second": [CALLBACK, f"{OTHER}{FRAGMENT}"],
    "first": [f"{OTHER}{FRAGMENT}", CALLBACK],
    "behind-a-query": [f"{CALLBACK}?tenant=1{FRAGMENT}"],
}


@check("REG-01")
def valid_registration_answers_201(gateway: Gateway, world: World) -> None:
    """A valid registration is answered with 201."""
    answer = world.agents.within_limits(gateway.register(world.agents.metadata()))
    require.that(
        answer.status not in {401, 403, 407},
        "registration without an authentication header",
        expected="no challenge for credentials",
        got=answer.outcome(),
        exchange=answer,
    )

    expect(answer).status(201)


@check("REG-01")
def several_redirect_uris_answer_201(gateway: Gateway, world: World) -> None:
    """A registration with several HTTPS redirect URIs is answered with 201."""
    world.agents.accepted(gateway.register(world.agents.metadata()))

    answer = gateway.register(world.agents.metadata(redirect_uris=[CALLBACK, OTHER]))
    expect(world.agents.within_limits(answer)).status(201)


@check("REG-04")
def registration_needs_no_credential(gateway: Gateway, world: World) -> None:
    """A registration without any credentials is accepted."""
    answer = world.agents.within_limits(gateway.register(world.agents.metadata()))
    granted = isinstance(answer.member("client_id"), str)
    require.that(
        granted or answer.status in {401, 403, 407},
        "registration",
        expected="a client, or a challenge for credentials",
        got=answer.outcome(),
        exchange=answer,
    )

    expect.that(
        granted,
        "registration without an authentication header",
        expected="a client",
        got=answer.outcome(),
        exchange=answer,
    )


@check("REG-07")
def client_secret_post_works(gateway: Gateway, world: World) -> None:
    """An agent that sends its secret in the form (client_secret_post) gets its tokens."""
    authorization = world.new_code(agent=world.agents.new())

    answer = gateway.exchange(authorization)

    expect(answer).status(200)
    expect.text(answer.member("access_token"), "access_token")


@check("REG-08", cases=("with-basic", "with-the-form"))
def client_secret_basic_obtains_no_token(gateway: Gateway, world: World, case: str) -> None:
    """An agent with client_secret_basic is refused at registration, authorization or the token endpoint."""
    world.grant()

    registered = gateway.register(world.agents.metadata(auth_method="client_secret_basic"))
    if registered.status in range(400, 500):
        expect(registered).not_granted("a client", "client_id", "client_secret")
        return
    attempt = world.attempt(world.agents.of(registered))
    visit = gateway.visit(attempt, wherever=True)
    code = visit.parameter("code")
    if not code:
        expect.that(True, "authorization", expected="no code", got=visit.outcome())
        return
    answer = _exchanged(gateway, world.authorization_of(attempt, code), by_basic=case == "with-basic")

    expect(answer).not_granted("tokens", "access_token", "id_token", "refresh_token")


@check("REG-08", cases=("with-basic", "with-the-form"))
def client_secret_basic_obtains_no_token_for_the_agent_itself(
    gateway: Gateway, world: World, case: str
) -> None:
    """An agent with client_secret_basic is refused at registration or gets no client_credentials token."""
    require(gateway.proxy_token(world.projects.home().proxy_client)).status(200)
    metadata = world.agents.metadata(auth_method="client_secret_basic")
    grants = [*metadata["grant_types"], "client_credentials"]

    registered = gateway.register(metadata | {"grant_types": grants})
    if registered.status in range(400, 500):
        expect(registered).not_granted("a client", "client_id", "client_secret")
        return
    agent = world.agents.of(registered)
    pair = agent.client_id, agent.client_secret.reveal()
    grant = ("grant_type", "client_credentials")
    if case == "with-basic":
        answer = gateway.token_request([grant], gateway.spelling.basic(*pair))
    else:
        answer = gateway.token_request([grant, *zip(("client_id", "client_secret"), pair, strict=True)])

    asked = replace(answer, step="client_credentials of an agent with client_secret_basic")
    expect(asked).not_granted("tokens", "access_token", "id_token", "refresh_token")


@check("REG-09")
def registrations_give_different_clients(gateway: Gateway, world: World) -> None:
    """Registrations with the same metadata give different client IDs and secrets."""
    records = [
        require(world.agents.accepted(gateway.register(world.agents.metadata()))).json_object()
        for _ in range(3)
    ]

    for name in ("client_id", "client_secret"):
        values = [require.text(record.get(name), name) for record in records]
        expect.that(
            len(set(values)) == len(values),
            f"{name} of three registrations",
            expected="three different ones",
            got=f"{len(set(values))} different",
        )


@check("REG-09")
def installs_of_one_software_are_different_clients(gateway: Gateway, world: World) -> None:
    """Registrations with the same `software_id` and version give different clients, one for each install."""
    require(world.agents.accepted(gateway.register(world.agents.metadata()))).json_object()
    software = {"software_id": world.unique(), "software_version": "1.0"}
    answers = [gateway.register({**world.agents.metadata(), **software}) for _ in range(2)]
    if any(answer.status in range(400, 500) for answer in answers):
        raise LeftOut("the gateway refuses registrations with a software_id")

    for name in ("client_id", "client_secret"):
        one, two = (require.text(answer.member(name), name) for answer in answers)
        expect.that(
            one != two,
            f"{name} of two registrations with the same software_id",
            expected="two different ones",
            got="the same",
        )


@check("REG-09")
def nobody_chooses_a_clients_name_or_secret(gateway: Gateway, world: World) -> None:
    """A registration that names another agent's client_id and a client_secret gets neither of them."""
    world = world.in_one_browser()
    agent = world.agents.new()
    chosen = gateway.keyring.secret("chosen_secret", secrets.token_urlsafe(32)).reveal()
    wanted = {**world.agents.metadata(), "client_id": agent.client_id, "client_secret": chosen}

    answer = gateway.register(wanted)

    for name in ("client_id", "client_secret"):
        expect.that(
            answer.member(name) != wanted[name],
            f"{name} of a registration that names one",
            expected="another, or a refusal",
            got="the one that was named",
        )
    expect(gateway.exchange(world.new_code(agent=agent))).status(200)


@check("REG-11")
def how_odd_registrations_are_answered(gateway: Gateway, world: World) -> None:
    """Records the form of a refusal, and the answer to scopes, unknown metadata and missing fields."""
    good = world.agents.metadata()
    odd: dict[str, Any] = {
        "http_redirect_uri": good | {"redirect_uris": ["http://agent.example/callback"]},
        "upper_case_https": good | {"redirect_uris": ["HTTPS://agent.example/callback"]},
        "scope_sent": good | {"scope": "openid"},
        "unknown_metadata": good | {"gateproof_unknown": {"deep": [1]}},
        "no_client_name": _without(good, "client_name"),
        "no_grant_types": _without(good, "grant_types"),
        "no_response_types": _without(good, "response_types"),
        "no_auth_method": _without(good, "token_endpoint_auth_method"),
        "auth_method_none": good | {"token_endpoint_auth_method": "none"},
    }
    observe(**{name: gateway.register(metadata).status for name, metadata in odd.items()})


@check("REG-12")
def fragment_in_redirect_uri_is_refused(gateway: Gateway, world: World) -> None:
    """A redirect URI with a fragment is refused."""
    world.agents.accepted(gateway.register(world.agents.metadata()))

    expect(gateway.register(world.agents.metadata(redirect_uris=[f"{CALLBACK}{FRAGMENT}"]))).refused()


@check("REG-12", cases=AMONG_OTHERS)
def fragment_in_one_of_several_redirect_uris_is_refused(
    gateway: Gateway, world: World, case: list[str]
) -> None:
    """A redirect URI with a fragment is refused also beside another one, or behind a query."""
    good = [uri.removesuffix(FRAGMENT) for uri in case]
    world.agents.new_if_accepted(*good)

    expect(gateway.register(world.agents.metadata(redirect_uris=case))).refused()


@check("REG-12", cases={"missing": None, "empty": []})
def redirect_uris_are_demanded(gateway: Gateway, world: World, case: list[str] | None) -> None:
    """A registration without redirect URIs is refused."""
    good = world.agents.metadata()
    world.agents.accepted(gateway.register(good))

    without = _without(good, "redirect_uris") if case is None else good | {"redirect_uris": case}

    expect(gateway.register(without)).refused()


@check("REG-12")
def client_secret_is_unguessable(gateway: Gateway, world: World) -> None:
    """Client secrets have 128 random bits or more, judged by 32 samples."""
    secrets = [
        require.text(
            world.agents.accepted(gateway.register(world.agents.metadata())).member("client_secret"),
            "client_secret",
        )
        for _ in range(SAMPLES)
    ]

    bits = apparent_bits(secrets)
    expect.that(
        bits > 127, f"{SAMPLES} client secrets", expected="128 bits that vary", got=f"about {bits:.0f} bits"
    )


@check("REG-14")
def secret_works_a_year_later(gateway: Gateway, world: World) -> None:
    """A client secret still works after a year.

    The positive twin is an agent that registers a year later. A gateway may require an operator to approve
    the old agent again.
    """
    _works_later(gateway, world, YEAR_S)


@check("REG-14")
def secret_works_three_years_later(gateway: Gateway, world: World) -> None:
    """A client secret still works after three years: it does not expire."""
    _works_later(gateway, world, YEARS * YEAR_S)


@check("REG-14", cases={"two-days": 2 * DAY_S, "forty-days": 40 * DAY_S})
def secret_that_was_never_used_works_later(gateway: Gateway, world: World, case: float) -> None:
    """An agent that registered and did nothing for days gets its code and its tokens.

    The positive twin is an agent that registers now. A gateway may require an operator to approve the
    old one.
    """
    idle = world.agents.new()
    world.clock.advance(case)
    require(gateway.exchange(world.new_code())).status(200)

    attempt = world.attempt(idle)
    visit = gateway.visit(attempt)

    leave_out_if_held_again(gateway, attempt, visit)
    code_came(visit, "first authorization of an agent that registered days ago")
    expect(gateway.exchange(world.authorization_of(attempt, visit.codes()[0]))).status(200)


def _works_later(gateway: Gateway, world: World, seconds: float) -> None:
    """Expects a code and tokens for an agent that registered so long ago."""
    first = world.new_code()
    require(gateway.exchange(first)).status(200)
    world.clock.advance(seconds)
    require(gateway.exchange(world.new_code())).status(200)

    attempt = world.attempt(first.agent)
    visit = gateway.visit(attempt)

    leave_out_if_held_again(gateway, attempt, visit)
    code_came(visit, "authorization of an agent that registered long ago")
    expect(gateway.exchange(world.authorization_of(attempt, visit.codes()[0]))).status(200)


def _without(metadata: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key != name}


def _exchanged(gateway: Gateway, authorization: Authorization, *, by_basic: bool) -> Exchange:
    """Exchanges a code with the agent's credentials in the Authorization header or in the form."""
    if not by_basic:
        return gateway.exchange(authorization)
    agent = authorization.agent
    fields = [
        ("grant_type", "authorization_code"),
        ("code", authorization.code.reveal()),
        ("redirect_uri", authorization.redirect_uri),
        ("code_verifier", authorization.verifier.reveal()),
    ]
    return gateway.token_request(fields, basic(agent.client_id, agent.client_secret.reveal()))
