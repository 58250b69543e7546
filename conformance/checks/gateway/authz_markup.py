"""Values from agents, requests and the merchant are text on the gateway's pages, never markup."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.gateway._markup import PAYLOADS, is_no_markup, new_mark
from gateproof.conformance.checks.gateway._openid_sign_in import openid_sign_in
from gateproof.conformance.checks.gateway._visits import attempt_known_to_work, visit_with
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unavailable
from gateproof.conformance.suite.parties import Agent

# Parameters with markup in them. A scope cannot contain quotes (RFC 6749 section 3.3).
REQUESTS: Mapping[str, Callable[[str], tuple[str, str]]] = {
    "state": lambda mark: ("state", f'gateproof"><{mark}>'),
    "scope": lambda mark: ("scope", f"openid <{mark}>"),
    "client_id": lambda mark: ("client_id", f"gateproof'\"><{mark}>"),
    "redirect_uri": lambda mark: ("redirect_uri", f"{CALLBACK}?x='\"><{mark}>"),
    "response_type": lambda mark: ("response_type", f"code'\"><{mark}>"),
    "code_challenge_method": lambda mark: ("code_challenge_method", f"S256'\"><{mark}>"),
}

# Parameters that make the request of a registered agent wrong.
MISTAKES = {
    "redirect_uri": "https://agent.example/not-registered",
    "response_type": "gateproof",
    "scope": "openid gateproof:unknown",
    "code_challenge_method": "plain",
}

# Claims about a user, in groups; a gateway may refuse one group and accept another.
CLAIMS = (("preferred_username", "name"), ("email",), ("sub",))


@check("AUTHZ-23", needs=["sign-in:browser"], cases=PAYLOADS)
def name_of_an_agent_is_no_markup(gateway: Gateway, world: World, case: Callable[[str], str]) -> None:
    """Markup in a client_name is text on the pages: it creates no element and no attribute."""
    mark = new_mark()
    agent, here = _called(world, case(mark)), world.in_one_browser()
    for _ in range(2):
        # The second time the user is signed in, and the pages may be different.
        here.gateway.visit(here.attempt(agent), wherever=True)

    is_no_markup(gateway, world, mark, "an agent's name")


@check("AUTHZ-23", needs=["sign-in:browser"], cases=PAYLOADS)
def name_of_an_agent_without_a_code_is_no_markup(
    gateway: Gateway, world: World, case: Callable[[str], str]
) -> None:
    """Markup in a client_name is text on pages after the user declines, and after a wrong request."""
    mark = new_mark()
    agent, here = _called(world, case(mark)), world.in_one_browser()
    attempt = here.attempt(agent)
    here.gateway.visit(attempt, approve=False, wherever=True)
    for name, value in MISTAKES.items():
        visit_with(here, attempt, **{name: value})

    is_no_markup(gateway, world, mark, "the name of an agent that gets no code")


@check("AUTHZ-23", needs=["sign-in:browser"], cases=PAYLOADS)
def name_of_a_pending_agent_is_no_markup(gateway: Gateway, world: World, case: Callable[[str], str]) -> None:
    """Markup in the client_name of a Pending agent is text on the pages for its users."""
    here = world.in_one_browser()
    try:
        resource = world.projects.holding_resource()
    except Unavailable as missing:
        raise LeftOut("no Project holds agents in this run") from missing
    mark = new_mark()
    agent = _called(world, case(mark))
    for _ in range(2):
        here.gateway.visit(here.attempt(agent, resource=resource), wherever=True)

    is_no_markup(gateway, world, mark, "the name of a Pending agent")


@check("AUTHZ-23", needs=["sign-in:browser", "merchant"], cases=PAYLOADS)
def name_of_an_agent_is_no_markup_after_a_failed_sign_in(
    gateway: Gateway, world: World, case: Callable[[str], str]
) -> None:
    """Markup in a client_name is text on the page after the merchant ends a sign-in with an error."""
    alone, mark = openid_sign_in(world).alone, new_mark()
    alone.script(page="error=access_denied")
    agent = _called(world, case(mark))
    gateway.visit(world.attempt(agent, resource=alone.resource, user=alone.user), wherever=True)
    alone.script()

    is_no_markup(gateway, world, mark, "the name of an agent whose user did not sign in")


@check("AUTHZ-23", needs=["sign-in:browser", "merchant"], cases=PAYLOADS)
def what_the_merchant_says_of_a_user_is_no_markup(
    gateway: Gateway, world: World, case: Callable[[str], str]
) -> None:
    """Markup in a claim about the user, in ID token and userinfo, is text on the pages.

    A gateway may refuse such a user; its error page is tested as well.
    """
    alone = openid_sign_in(world).alone
    for claims in CLAIMS:
        marks = {claim: new_mark() for claim in claims}
        said = {claim: case(mark) for claim, mark in marks.items()}
        alone.script(id_token=said, userinfo=said)
        here = world.in_one_browser()
        for _ in range(2):
            # The second time the user is signed in, and the pages may be different.
            here.gateway.visit(here.attempt(resource=alone.resource, user=alone.user), wherever=True)
        for claim, mark in marks.items():
            is_no_markup(gateway, world, mark, f"the claim {claim}")


@check("AUTHZ-23", needs=["sign-in:browser"], cases=REQUESTS)
def what_a_request_says_is_no_markup(
    gateway: Gateway, world: World, case: Callable[[str], tuple[str, str]]
) -> None:
    """Markup in a request parameter creates no element and no attribute of a page, error pages included."""
    mark = new_mark()
    here, attempt = attempt_known_to_work(world)
    name, value = case(mark)
    visit_with(here, attempt, **{name: value})

    is_no_markup(gateway, world, mark, f"the parameter {name}")


def _called(world: World, name: str) -> Agent:
    """An agent of this name, if the gateway accepts one."""
    registered = world.gateway.register(world.agents.metadata() | {"client_name": name})
    if registered.status in range(400, 500):
        raise LeftOut("the gateway does not accept an agent of such a name")
    return world.agents.of(registered)
