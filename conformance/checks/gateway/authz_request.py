"""Authorization requests with one fault: none of them gives a code."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.checks.gateway._visits import attempt_known_to_work, code_came, no_code, visit_with
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.near_tokens import (
    changed,
    changed_at_the_end,
    cut_short,
    in_other_case,
    longer,
    may_be_anothers,
)
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe
from gateproof.conformance.suite.parties import Attempt
from gateproof.conformance.wire.agent import fresh_verifier, s256
from gateproof.conformance.wire.jose import read

PKCE = ("code_challenge", "code_challenge_method")
REQUIRED = ("response_type", "client_id", "redirect_uri", "scope", "state", *PKCE)

# Parameters that are left out of a request.
MISSING = {name: (name,) for name in REQUIRED} | {"both-pkce-parameters": PKCE}
# Parameters that a client of OpenID Connect adds.
OPENID: Mapping[str, Mapping[str, str]] = {
    "nonce": {"nonce": "gateproof-0123456789"},
    "nonce-and-more": {"nonce": "gateproof-0123456789", "prompt": "consent", "response_mode": "query"},
}
# Parameters for which an empty value is wrong; the specification does not define an empty scope or state.
EMPTY = {name: names for name, names in MISSING.items() if name not in ("scope", "state")}

METHODS = {
    "plain": "plain",
    "plain-upper-case": "PLAIN",
    "none": "none",
    "S512": "S512",
    "S384": "S384",
    "S256-and-more": "S2567",
    "beginning-of-S256": "S25",
    "both": "S256 plain",
    "two-in-a-list": "plain,S256",
    "sha-name": "SHA256",
}

RESPONSE_TYPES = {
    "token": "token",
    "id_token": "id_token",
    "id_token-token": "id_token token",
    "code-token": "code token",
    "code-id_token": "code id_token",
    "code-id_token-token": "code id_token token",
    "token-code": "token code",
    "code-and-a-comma": "code,token",
    "code-and-a-plus": "code+token",
    "none": "none",
    "invented": "gateproof",
    "longer": "codes",
    "shorter": "cod",
    "other-case": "Code",
}

TOKEN_NAMES = frozenset({"access_token", "id_token", "refresh_token", "token"})


def _changed_at_the_beginning(client_id: str) -> str:
    return changed(client_id, 0)


# Neighbours of a real agent's client_id, for gateways that number their client IDs.
NEIGHBOURS = (_changed_at_the_beginning, changed_at_the_end, cut_short)
# Makes a client_id that was never issued from that of a real agent.
UNKNOWN_CLIENTS: Mapping[str, Callable[[str], str | None]] = {
    "invented": lambda _: "gateproof-nobody",
    "changed-at-the-end": changed_at_the_end,
    "first-character-changed": _changed_at_the_beginning,
    "beginning": cut_short,
    "longer": longer,
    "other-case": in_other_case,
    "sql-wildcard": lambda _: "%",
    "glob": lambda _: "*",
}

# The parameter to repeat, its added value made from the correct one, and whether the added one goes first.
DOUBLED: Mapping[str, tuple[str, Callable[[str], str], bool]] = {
    **{f"{name}-same": (name, lambda value: value, False) for name in REQUIRED},
    "state-other": ("state", lambda value: value[::-1], False),
    "response_type-token": ("response_type", lambda _: "token", False),
    "redirect_uri-foreign-first": ("redirect_uri", lambda _: "https://evil.example/callback", True),
    "redirect_uri-foreign-last": ("redirect_uri", lambda _: "https://evil.example/callback", False),
    "scope-part": ("scope", lambda _: "openid", True),
    "code_challenge-other-first": ("code_challenge", lambda _: s256(fresh_verifier()), True),
    "code_challenge-other-last": ("code_challenge", lambda _: s256(fresh_verifier()), False),
    "code_challenge_method-plain-first": ("code_challenge_method", lambda _: "plain", True),
    "code_challenge_method-plain-last": ("code_challenge_method", lambda _: "plain", False),
}


@check("AUTHZ-03", cases=MISSING)
def request_without_it_gives_no_code(world: World, case: tuple[str, ...]) -> None:
    """A request without a required parameter gives no code; the same request with it gives one."""
    world, attempt = attempt_known_to_work(world)
    pairs = [(name, value) for name, value in attempt.parameters.items() if name not in case]

    visit = world.gateway.visit(attempt, pairs=pairs, wherever=True)
    no_code(visit, f"authorization without {' and '.join(case)}")


@check("AUTHZ-03", cases=OPENID)
def request_of_openid_without_pkce_gives_no_code(world: World, case: Mapping[str, str]) -> None:
    """Parameters of OpenID Connect do not replace those of PKCE."""
    world, attempt = attempt_known_to_work(world)
    others = {name: value for name, value in attempt.parameters.items() if name not in PKCE}

    visit = world.gateway.visit(attempt, pairs=list({**others, **case}.items()), wherever=True)
    no_code(visit, f"authorization with {' and '.join(case)}, and without PKCE")


@check("AUTHZ-03", cases=EMPTY)
def request_with_it_empty_gives_no_code(world: World, case: tuple[str, ...]) -> None:
    """An empty parameter counts as missing (RFC 6749 section 3.1) and gives no code."""
    world, attempt = attempt_known_to_work(world)

    visit = visit_with(world, attempt, **dict.fromkeys(case, ""))
    no_code(visit, f"authorization with {' and '.join(case)} empty")


@check("AUTHZ-04", cases=METHODS)
def other_challenge_method_gives_no_code(world: World, case: str) -> None:
    """A code_challenge_method other than S256 gives no code, although the challenge is correct."""
    world, attempt = attempt_known_to_work(world)

    no_code(visit_with(world, attempt, code_challenge_method=case), f"authorization with the method {case}")


@check("AUTHZ-04")
def plain_challenge_gives_no_code(world: World) -> None:
    """The method `plain`, with the verifier as its challenge, gives no code."""
    world, attempt = attempt_known_to_work(world)
    visit = visit_with(
        world, attempt, code_challenge_method="plain", code_challenge=attempt.verifier.reveal()
    )

    no_code(visit, "authorization with the method plain and a plain challenge")


@check("AUTHZ-04")
def challenge_without_a_method_gives_no_code(world: World) -> None:
    """A challenge without a method means `plain` in RFC 7636, so it gives no code."""
    world, attempt = attempt_known_to_work(world)
    pairs = [(name, value) for name, value in attempt.parameters.items() if name != PKCE[1]]

    visit = world.gateway.visit(attempt, pairs=pairs, wherever=True)
    no_code(visit, "authorization without a method")


@check("AUTHZ-04")
def s256_in_lower_case_is_never_plain(world: World) -> None:
    """`s256` may be treated as S256 or refused (recorded), but not treated as `plain`."""
    world, attempt = attempt_known_to_work(world)
    visit = visit_with(world, attempt, code_challenge_method="s256")
    observe(s256_in_lower_case="gives a code" if visit.codes() else "gives no code")
    if not visit.codes():
        no_code(visit, "authorization with the method s256")
        return
    authorization = world.authorization_of(attempt, visit.codes()[0])
    challenge = attempt.parameters["code_challenge"]

    answer = world.gateway.exchange(authorization, code_verifier=challenge)

    no_tokens(answer, "the challenge as verifier, after the method s256")


@check("AUTHZ-05", cases=RESPONSE_TYPES)
def other_response_type_gives_no_code_and_no_token(world: World, case: str) -> None:
    """A response_type other than `code` gives no code, and no token in any address."""
    world, attempt = attempt_known_to_work(world)

    visit = visit_with(world, attempt, response_type=case)

    no_code_and_no_token(visit, f"authorization with response_type={case}")


def no_code_and_no_token(visit: Visit, what: str) -> None:
    """The visit gave no code, and the address to which it led has nothing like a token."""
    no_code(visit, what)
    came = sorted(name for name, value in visit.sent() if name in TOKEN_NAMES and value)
    expect.that(not came, f"the end of the {what}", expected="no token", got=f"parameters {', '.join(came)}")
    tokens = [name for name, value in visit.sent() if name != "response" and read(value) is not None]
    expect.that(
        not tokens, f"the end of the {what}", expected="no token", got=f"a JWT in {', '.join(tokens)}"
    )


@check("AUTHZ-11", cases=UNKNOWN_CLIENTS)
def unknown_client_gets_no_code_and_no_redirect(world: World, case: Callable[[str], str | None]) -> None:
    """An unregistered client_id gets no code, and the browser is not redirected to its redirect_uri."""
    world, attempt = attempt_known_to_work(world)
    own = attempt.agent.client_id
    if case in NEIGHBOURS and may_be_anothers(own):
        raise LeftOut("client IDs are so short that a neighbouring one may belong to another agent")
    client_id = case(own)
    if client_id is None:
        raise LeftOut("the case of letters may mean nothing in this client_id")
    _no_code_and_no_redirect(world, attempt, client_id)


@check("AUTHZ-11")
def proxy_client_is_no_agent(world: World) -> None:
    """A Proxy client's ID as client_id gets no code and no redirect: it has no redirect URI."""
    world, attempt = attempt_known_to_work(world)
    _no_code_and_no_redirect(world, attempt, world.projects.home().proxy_client.id)


@check("AUTHZ-14", cases=DOUBLED)
def doubled_parameter_gives_no_code(world: World, case: tuple[str, Callable[[str], str], bool]) -> None:
    """A request with a parameter twice gives no code, whichever of the two is correct."""
    name, other, first = case
    world, attempt = attempt_known_to_work(world)
    pairs = list(attempt.parameters.items())
    added = (name, other(attempt.parameters[name]))

    pairs = [added, *pairs] if first else [*pairs, added]
    visit = world.gateway.visit(attempt, pairs=pairs, wherever=True)

    no_code(visit, f"authorization with {name} doubled")


@check("AUTHZ-14")
def unknown_parameters_change_nothing(world: World) -> None:
    """Unknown parameters are ignored, and the request gives a code."""
    world, attempt = attempt_known_to_work(world)
    unknown = [("gateproof", "1"), ("x_empty", ""), ("utm_source", "https://agent.example/?code=x")]

    visit = world.gateway.visit(attempt, pairs=[*unknown, *attempt.parameters.items()])

    code_came(visit, "authorization with unknown parameters")


@check("AUTHZ-14", cases={"reversed": -1, "rotated": 1})
def order_of_parameters_does_not_matter(world: World, case: int) -> None:
    """The same parameters in another order give a code."""
    world, attempt = attempt_known_to_work(world)
    pairs = list(attempt.parameters.items())
    pairs = pairs[::-1] if case < 0 else pairs[case:] + pairs[:case]

    code_came(world.gateway.visit(attempt, pairs=pairs), "authorization with the parameters in another order")


@check("AUTHZ-14")
def order_of_scopes_does_not_matter(world: World) -> None:
    """The same scopes in another order give a code."""
    world, attempt = attempt_known_to_work(world)
    scope = " ".join(reversed(attempt.parameters["scope"].split()))

    code_came(visit_with(world, attempt, scope=scope), "authorization with the scopes in another order")


def _no_code_and_no_redirect(world: World, attempt: Attempt, client_id: str) -> None:
    world.show(client_id)
    visit = visit_with(world, attempt, client_id=client_id)

    ends_without_its_uri(visit, attempt, f"authorization with the client_id {client_id}")


def ends_without_its_uri(visit: Visit, attempt: Attempt, what: str) -> None:
    """The visit gave no code, and the browser was not redirected to the attempt's redirect URI."""
    no_code(visit, what)
    redirect_uri = attempt.parameters["redirect_uri"]
    sent_to = (visit.sent_to or "").partition("?")[0].partition("#")[0]
    expect.that(sent_to != redirect_uri, what, expected="no redirect to it", got=visit.outcome())
