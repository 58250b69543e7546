"""A code is bound to its agent, which authenticates with client_secret_post only."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import quote, unquote_plus, urlencode

from gateproof.conformance.checks.gateway._exchanges import (
    NESTED,
    TOKENS,
    code_after_working_exchange,
    no_tokens,
    require_exchange,
)
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.misplaced_tokens import JWT
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.near_tokens import (
    changed,
    changed_at_the_end,
    cut_short,
    in_other_case,
    longer,
    wildcarded,
    with_blank_before,
    with_blank_behind,
)
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Authorization
from gateproof.conformance.wire.agent import fresh_verifier, get, token_endpoint
from gateproof.conformance.wire.backend import basic
from gateproof.conformance.wire.exchange import NOT_JSON, Exchange

# Makes the secret that is sent from the right one; None leaves it out.
WRONG_SECRETS: Mapping[str, Callable[[str], str | None]] = {
    "missing": lambda _: None,
    "empty": lambda _: "",
    "invented": lambda _: "gateproof-wrong",
    "first-character-changed": lambda secret: changed(secret, 0),
    "changed-at-the-end": changed_at_the_end,
    "beginning": lambda secret: secret[: len(secret) // 2],
    "all-but-the-last-character": cut_short,
    "longer": longer,
    "other-case": in_other_case,
    "blank-behind": lambda secret: f"{secret} ",
    "backwards": lambda secret: secret[::-1] if secret[::-1] != secret else secret + "x",
    "null": lambda _: "null",
}

UNKNOWN_CLIENTS: Mapping[str, Callable[[str], str | None]] = {
    "invented": lambda _: "gateproof-nobody",
    "changed-at-the-end": changed_at_the_end,
    "longer": longer,
    "underscore-for-a-character": lambda own: wildcarded(own, "_"),
    "percent-for-a-character": lambda own: wildcarded(own, "%"),
    "full-stop-for-a-character": lambda own: wildcarded(own, "."),
    # Equal to the right one for a database with a lenient collation, or for a framework that trims values.
    "other-case": in_other_case,
    "blank-before": with_blank_before,
    "blank-behind": with_blank_behind,
}

# Requests without a client identity: otherwise anybody who found code and verifier could use them.
NO_CLIENT: Mapping[str, Mapping[str, str | None]] = {
    "neither-of-both": {"client_id": None, "client_secret": None},
    "both-empty": {"client_id": "", "client_secret": ""},
}

# How the header encodes the credentials, and which of them are in the form as well, right or wrong.
BASIC: Mapping[str, tuple[Callable[[str, str], tuple[str, str]], Mapping[str, str | None]]] = {
    "basic": (basic, {"client_id": None, "client_secret": None}),
    "basic-and-client-id-in-the-form": (basic, {"client_secret": None}),
    "basic-and-a-wrong-secret-in-the-form": (basic, {"client_secret": "gateproof-wrong"}),
    "scheme-in-lower-case": (
        lambda user, secret: _lower(basic(user, secret)),
        {"client_id": None, "client_secret": None},
    ),
}

CREDENTIALS = ("client_id", "client_secret")
DOUBLED = ("grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier")
# What is moved from the form to the URL.
IN_THE_URL: Mapping[str, tuple[str, ...]] = {
    "credentials": CREDENTIALS,
    "secret": ("client_secret",),
    "everything": ("grant_type", "code", "redirect_uri", *CREDENTIALS, "code_verifier"),
}


@check("CODE-07", cases=WRONG_SECRETS)
def wrong_secret_gets_no_tokens(world: World, case: Callable[[str], str | None]) -> None:
    """A code exchange with a wrong or missing client secret gets no tokens; one with the right one does."""
    world, authorization = code_after_working_exchange(world)
    wrong = case(authorization.agent.client_secret.reveal())
    if wrong is None and case is in_other_case:
        raise LeftOut("the case of letters may mean nothing in this secret")
    if wrong:
        world.gateway.keyring.secret("wrong_secret", wrong)

    no_tokens(world.gateway.exchange(authorization, client_secret=wrong), "a wrong client_secret, or none")


@check("CODE-07", cases=NESTED)
def nested_secret_gets_no_tokens(world: World, case: tuple[str, str]) -> None:
    """A secret sent as a nested field such as `client_secret[]` gets no tokens."""
    world, authorization = code_after_working_exchange(world)
    key, value = case

    answer = world.gateway.exchange(authorization, **{"client_secret": None, f"client_secret{key}": value})
    no_tokens(answer, f"client_secret{key} in place of client_secret")


@check("CODE-07")
def secret_of_another_agent_gets_no_tokens(world: World) -> None:
    """A code exchange with the secret of another agent gets no tokens."""
    world, authorization = code_after_working_exchange(world)
    other = world.agents.new()

    answer = world.gateway.exchange(authorization, client_secret=other.client_secret.reveal())
    no_tokens(answer, "the client_secret of another agent")


@check("CODE-07", cases=UNKNOWN_CLIENTS)
def unknown_client_gets_no_tokens(world: World, case: Callable[[str], str | None]) -> None:
    """A code exchange with a client ID that was never issued gets no tokens."""
    world, authorization = code_after_working_exchange(world)
    unknown = case(authorization.agent.client_id)
    if unknown is None:
        raise LeftOut("a change of this kind may mean nothing in this client ID")

    answer = world.gateway.exchange(authorization, client_id=unknown)
    no_tokens(answer, "an unknown client_id")


@check("CODE-07", cases=NO_CLIENT)
def nobody_gets_no_tokens(world: World, case: Mapping[str, str | None]) -> None:
    """A code and its verifier without a client identity get no tokens."""
    world, authorization = code_after_working_exchange(world)

    no_tokens(world.gateway.exchange(authorization, **case), "no client_id")


# Fields that a Proxy client leaves out of the form: its identity is in its header.
BY_PROXY_CLIENTS: Mapping[str, tuple[str, ...]] = {
    "proxy-client": CREDENTIALS,
    "proxy-client-that-names-the-agent": ("client_secret",),
}


@check("CODE-08", cases=("agent", "agent-with-a-verifier-of-its-own", *BY_PROXY_CLIENTS))
def code_of_one_agent_gets_another_client_no_tokens(world: World, case: str) -> None:
    """A client with valid credentials of its own gets no tokens for another agent's code.

    The other clients are an agent and a Proxy client. A Proxy client authenticates in the header; the form
    may still name the agent.
    """
    world, authorization = code_after_working_exchange(world)
    gateway = world.gateway
    if case in BY_PROXY_CLIENTS:
        client = world.projects.home().proxy_client
        require(gateway.proxy_token(client)).status(200)
        form = _form(gateway, authorization, without=BY_PROXY_CLIENTS[case])
        answer = gateway.token_request(form, gateway.basic(client))
        no_tokens(answer, "an agent's code, by a Proxy client")
        return
    thief = world.agents.new()
    require_exchange(world, thief)
    own = {"code_verifier": fresh_verifier()} if case != "agent" else {}

    answer = gateway.exchange(
        authorization, client_id=thief.client_id, client_secret=thief.client_secret.reveal(), **own
    )
    no_tokens(answer, "another agent's code")


@check("CODE-09", cases=BASIC)
def agent_credentials_in_a_header_are_refused(
    world: World, case: tuple[Callable[[str, str], tuple[str, str]], Mapping[str, str | None]]
) -> None:
    """An agent that sends its correct credentials by HTTP Basic gets no tokens.

    Credentials that are form-encoded first are tried as well, if that changes them.
    """
    header, instead = case
    world, authorization = code_after_working_exchange(world)
    agent = authorization.agent
    pair = (agent.client_id, agent.client_secret.reveal())
    plain, *encoded = dict.fromkeys((header(*pair), header(*(quote(part, safe="") for part in pair))))
    _refused_in_a_header(world, authorization, plain, instead)
    for other in encoded:
        _refused_in_a_header(world, world.new_code(agent=agent), other, instead)


def _refused_in_a_header(
    world: World,
    authorization: Authorization,
    header: tuple[str, str],
    instead: Mapping[str, str | None],
) -> None:
    fields = {**world.gateway.exchange_fields(authorization), **instead}
    form = [(name, value) for name, value in fields.items() if value is not None]
    no_tokens(world.gateway.token_request(form, header), "the agent's credentials in a Basic header")


# A token beside its name, in a form, JSON, XML or a script.
_VALUE = r"{name}\W{{1,6}}[\w~+/.-]{{16}}"


@check("CODE-15")
def get_gives_no_tokens(world: World) -> None:
    """A code exchange by GET is refused, or answered by a redirect or a page without code, secret or tokens.

    A gateway may redirect any GET without a session to its sign-in pages, or answer any GET that it does not
    know with a page.
    """
    world, authorization = code_after_working_exchange(world)
    url = f"{token_endpoint(world.gateway.core_url)}?{urlencode(_form(world.gateway, authorization))}"
    answer = world.gateway.wire.send("code exchange by GET", get(url))
    _record_tokens(world, answer)

    if answer.status in range(300, 400) or (answer.status == 200 and answer.json() is NOT_JSON):
        _holds_no_credentials(answer, authorization)
    else:
        no_tokens(answer, "the method GET")


def _holds_no_credentials(answer: Exchange, authorization: Authorization) -> None:
    """A redirect or a page with neither tokens nor the code nor the secret in its headers and its body."""
    got = answer.answer
    texts = [*(value for _, value in got.headers), got.text()] if got is not None else []
    once = unquote_plus("\n".join(texts))
    # A return URL in a parameter of the redirect is encoded twice.
    said = f"{once}\n{unquote_plus(once)}"
    secrets = {"code": authorization.code, "client_secret": authorization.agent.client_secret}
    taken = [name for name, secret in secrets.items() if secret.reveal() in said]
    taken += [f"a value of {name}" for name in TOKENS if re.search(_VALUE.format(name=name), said)]
    taken += ["a JWT"] if JWT.search(said) else []
    expect.that(
        not taken,
        "exchange with the method GET",
        expected="a refusal, or a redirect or page without code, secret and tokens",
        got=f"{answer.outcome()} with {', '.join(taken)}",
        exchange=answer,
    )


@check("CODE-15", cases=DOUBLED)
def doubled_parameter_gives_no_tokens(world: World, case: str) -> None:
    """An exchange with a form parameter twice is refused, also if both values are the same."""
    world, authorization = code_after_working_exchange(world)
    fields = _form(world.gateway, authorization)
    same = next((name, value) for name, value in fields if name == case)

    no_tokens(world.gateway.token_request([*fields, same]), f"{case} doubled")


@check("CODE-15", cases=("wrong-one-first", "wrong-one-last"))
def second_verifier_gives_no_tokens(world: World, case: str) -> None:
    """An exchange with a right and a wrong verifier gets no tokens, in either order."""
    world, authorization = code_after_working_exchange(world)
    fields = _form(world.gateway, authorization)
    wrong = ("code_verifier", fresh_verifier())

    answer = world.gateway.token_request([wrong, *fields] if case == "wrong-one-first" else [*fields, wrong])
    no_tokens(answer, "a right and a wrong code_verifier")


@check("CODE-15", cases=IN_THE_URL)
def credentials_in_the_url_give_no_tokens(world: World, case: tuple[str, ...]) -> None:
    """An exchange by POST with credentials in the URL and not in the form is refused."""
    world, authorization = code_after_working_exchange(world)
    everything = _form(world.gateway, authorization)
    moved = [(name, value) for name, value in everything if name in case]
    endpoint = f"{token_endpoint(world.gateway.core_url)}?{urlencode(moved)}"

    form = _form(world.gateway, authorization, without=case)
    no_tokens(world.gateway.token_request(form, endpoint=endpoint), f"{', '.join(case)} in the URL")


def _form(
    gateway: Gateway, authorization: Authorization, *, without: tuple[str, ...] = ()
) -> list[tuple[str, str]]:
    fields = gateway.exchange_fields(authorization)
    return [(name, value) for name, value in fields.items() if value is not None and name not in without]


def _lower(header: tuple[str, str]) -> tuple[str, str]:
    return header[0], header[1].replace("Basic ", "basic ", 1)


def _record_tokens(world: World, answer: Exchange) -> None:
    for name in TOKENS:
        value = answer.member(name)
        if isinstance(value, str) and value:
            world.gateway.keyring.secret(name, value)
