"""Codes and pages in the user's browser, and codes that need an action of the user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gateproof.conformance.checks.gateway._references import reference_elsewhere
from gateproof.conformance.checks.gateway._visits import approves, no_code
from gateproof.conformance.kit.gateway.gateway import Browsing, Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.entropy import apparent_bits, max_bits, steady_steps
from gateproof.conformance.signin.markup import read_page
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Agent, User
from gateproof.conformance.wire.exchange import Answer, Exchange
from gateproof.conformance.wire.route import origin

# Numbers of codes. Sign-ins outside the harness's own browser take longer, so there are fewer of them.
SAMPLES, SAMPLES_ELSEWHERE = 32, 8

# Policies that do not send a page's address to other hosts.
DISCREET = frozenset(
    {
        "no-referrer",
        "same-origin",
        "origin",
        "strict-origin",
        "origin-when-cross-origin",
        "strict-origin-when-cross-origin",
    }
)

# What an agent may add to its request to avoid the consent page.
WITHOUT_ASKING = {
    "plain-request": {},
    "prompt-none": {"prompt": "none"},
    "approval-prompt-auto": {"approval_prompt": "auto", "prompt": "none"},
}


@check("AUTHZ-12")
def codes_look_random(gateway: Gateway, world: World) -> None:
    """Codes do not repeat, do not follow from each other, and have 128 random bits or more.

    With few codes, the check fails only if they clearly have fewer bits.
    """
    world = world.in_one_browser()
    agent = world.agents.new()
    many = gateway.new_browser is not None
    count = SAMPLES if many else SAMPLES_ELSEWHERE
    codes = [world.new_code(agent=agent).code.reveal() for _ in range(count)]

    expect.that(
        len(set(codes)) == count,
        f"{count} codes",
        expected="no repeat",
        got=f"{count - len(set(codes))} repeats",
    )
    expect.that(
        not steady_steps(codes),
        f"{count} codes",
        expected="no constant step",
        got="always the same difference from one to the next",
    )
    bits = apparent_bits(codes) if many else max_bits(codes)
    expect.that(bits > 127, f"{count} codes", expected="128 random bits", got=f"about {bits:.0f} bits")


@check("AUTHZ-12")
def code_is_carried_by_the_redirect_alone(world: World) -> None:
    """The code is in the redirect to the agent only, in no cookie and no other answer's body."""
    code = world.new_code().code.reveal()
    received = [(exchange, exchange.answer) for exchange in world.seen() if exchange.answer is not None]
    if not any(_is_redirect_with_code(answer, code) for _, answer in received):
        raise LeftOut("this method to sign in does not show the redirect that carries the code")

    for exchange, answer in received:
        cookies = any(code in cookie for cookie in answer.headers_named("Set-Cookie"))
        where = f"answer at {exchange.request.url.partition('?')[0]}"
        expect.that(not cookies, where, expected="no code in a cookie", got="the code in Set-Cookie")
        # A gateway may relay the code between its own hosts before the redirect to the agent.
        if not _is_redirect_with_code(answer, code):
            expect.that(code not in answer.text(), where, expected="no code in the body", got="the code")


@check("AUTHZ-15", needs=["sign-in:browser"])
def sign_in_and_approve_pages_cannot_be_framed(gateway: Gateway, world: World) -> None:
    """Every gateway page with a form forbids framing by other sites."""
    for page in _gateway_pages(gateway, world):
        expect.that(
            _cannot_be_framed(page.answer),
            f"page at {page.address}",
            expected="frame-ancestors without *, http: or https:, or X-Frame-Options DENY or SAMEORIGIN",
            got=_framing(page.answer),
        )


@check("AUTHZ-15", needs=["sign-in:browser"])
def sign_in_and_approve_pages_leak_no_referer(gateway: Gateway, world: World) -> None:
    """No gateway page with a form sends its address to other sites.

    Without a Referrer-Policy, old browsers send it to the sites that the page refers to.
    """
    own = {origin(gateway.base_url), origin(gateway.core_url)}
    for page in _gateway_pages(gateway, world):
        elsewhere = reference_elsewhere(page.url, page.answer.text(), own)
        expect.that(
            page.referrer_policy in DISCREET or (not page.referrer_policy and elsewhere is None),
            f"page at {page.address}",
            expected="a Referrer-Policy under which no other site learns the address, or no reference to one",
            got=page.referrer_policy or f"no Referrer-Policy, and a reference to {elsewhere}",
        )


@check("AUTHZ-16", cases=("in-a-new-browser", "signed-in"))
def user_who_declines_gives_no_code(world: World, case: str) -> None:
    """A user who signs in and declines gives no code, also in a browser that approved another agent."""
    signed_in = world.in_one_browser()
    signed_in.new_code()
    asker = signed_in if case == "signed-in" else world
    visit = asker.gateway.visit(asker.attempt(), approve=False, wherever=True)
    require.that(
        visit.declined is not False,
        "the user's refusal",
        expected="a button to decline with",
        got=visit.outcome(),
    )

    no_code(visit, "authorization that the user declined")


@check("AUTHZ-17")
def code_never_comes_unasked_in_a_new_browser(gateway: Gateway, world: World) -> None:
    """Opening the authorization URL in a browser without a sign-in gives no code."""
    user, elsewhere = world.users[0], gateway.browser()
    for _ in range(2):
        approves(gateway, world, elsewhere, world.agents.new(), user)

    _needs_user_action(gateway, world, gateway.browser(), world.agents.new(), user)


@check("AUTHZ-17", cases=WITHOUT_ASKING)
def code_never_comes_unasked_for_another_agent(gateway: Gateway, world: World, case: dict[str, str]) -> None:
    """A browser that has just approved one agent gives another agent no code without asking the user."""
    user, browser = world.users[0], gateway.browser()
    approves(gateway, world, browser, world.agents.new(), user)

    _needs_user_action(gateway, world, browser, world.agents.new(), user, case)


@check("AUTHZ-17", needs=["users:2"])
def code_never_comes_unasked_after_another_users_yes(gateway: Gateway, world: World) -> None:
    """The approval of one user does not count for another user who is signed in."""
    first, second = world.users[:2]
    agent, browser = world.agents.new(), gateway.browser()
    approves(gateway, world, gateway.browser(), agent, first)
    approves(gateway, world, browser, world.agents.new(), second)

    _needs_user_action(gateway, world, browser, agent, second)


@check("AUTHZ-17", needs=["users:2"])
def code_never_comes_unasked_with_a_yes_in_the_address(gateway: Gateway, world: World) -> None:
    """The fields of the approval form in the URL do not count as approval: anybody can make such a link.

    The fields have another user's values, because an attacker who makes a link has only those.
    """
    first, second = world.users[:2]
    agent, browser = world.agents.new(), gateway.browser()
    yes = approves(gateway, world, gateway.browser(), agent, second).sent_last
    if not yes:
        raise LeftOut("the last form has no fields that could be put into a URL")
    approves(gateway, world, browser, world.agents.new(), first)

    _needs_user_action(gateway, world, browser, agent, first, dict(yes))


@check("AUTHZ-17", needs=["sign-in:decline"])
def code_never_comes_unasked_after_a_no(gateway: Gateway, world: World) -> None:
    """An agent that the user has declined gets no code when it authorizes again."""
    user, browser, agent = world.users[0], gateway.browser(), world.agents.new()
    approves(gateway, world, browser, world.agents.new(), user)
    attempt = world.attempt(agent, user=user)
    url = gateway.authorization_url(attempt)
    declined = gateway.record_secrets(browser.visit(url, agent.redirect_uri, user, approve=False))
    if declined.declined is False:
        raise LeftOut("there was no button to decline with")
    require.that(
        not declined.codes(),
        "the user's refusal",
        expected="no code",
        got=declined.outcome(),
    )

    _needs_user_action(gateway, world, browser, agent, user)


def _needs_user_action(
    gateway: Gateway,
    world: World,
    browser: Browsing,
    agent: Agent,
    user: User,
    extra: Mapping[str, str] | None = None,
) -> None:
    """Opening the page alone gives no code; after the user acts, the same agent gets its code."""
    attempt = world.attempt(agent, user=user)
    pairs = list({**(extra or {}), **attempt.parameters}.items())
    looked = gateway.record_secrets(browser.look(gateway.authorization_url(attempt, pairs=pairs), user))

    no_code(looked, "authorization in which the user did nothing")
    approves(gateway, world, browser, agent, user)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Served:
    """A page of the gateway that has a form."""

    url: str
    address: str
    answer: Answer
    referrer_policy: str


def _gateway_pages(gateway: Gateway, world: World) -> list[_Served]:
    """The gateway's pages with forms in two authorizations; the merchant's pages are not judged.

    In the second authorization the user is already signed in, and another agent asks.
    """
    browser, user = gateway.browser(), world.users[0]
    visits = [approves(gateway, world, browser, world.agents.new(), user) for _ in range(2)]
    homes = {origin(gateway.base_url), origin(gateway.core_url)}
    pages = list(_forms_at(homes, world.seen(), [page for visit in visits for page in visit.acted_on]))
    if not pages:
        raise LeftOut("the gateway shows no page of its own: the user acts on the merchant's pages alone")
    return pages


def _forms_at(homes: set[str], exchanges: Iterable[Exchange], acted_on: Sequence[str]) -> Iterable[_Served]:
    """Pages with a form in their source, and pages on which the user acted: scripts may create forms."""
    for exchange in exchanges:
        url, answer = exchange.request.url, exchange.answer
        if answer is None or answer.status != 200 or origin(url) not in homes:
            continue
        page, address = read_page(url, answer), url.partition("?")[0]
        if page.forms or address in acted_on:
            yield _Served(url=url, address=address, answer=answer, referrer_policy=page.referrer_policy)


def _cannot_be_framed(answer: Answer) -> bool:
    """Follows the rule of browsers: X-Frame-Options is ignored if a policy has frame-ancestors."""
    ancestors = _frame_ancestors(answer)
    if ancestors:
        return any(not {"*", "http:", "https:"}.intersection(sources) for sources in ancestors)
    options = {option.strip().upper() for option in _listed(answer, "X-Frame-Options")}
    return bool(options) and options <= {"DENY", "SAMEORIGIN"}


def _frame_ancestors(answer: Answer) -> list[list[str]]:
    """The sources of frame-ancestors in each policy that has it."""
    found = []
    for policy in _listed(answer, "Content-Security-Policy"):
        for directive in policy.split(";"):
            name, *sources = directive.lower().split() or [""]
            if name == "frame-ancestors":
                found.append(sources)
    return found


def _framing(answer: Answer) -> str:
    ancestors = [" ".join(["frame-ancestors", *sources]) for sources in _frame_ancestors(answer)]
    options = [f"X-Frame-Options {option.strip()}" for option in _listed(answer, "X-Frame-Options")]
    return ", ".join([*ancestors, *options]) or "neither"


def _listed(answer: Answer, name: str) -> list[str]:
    return [part for value in answer.headers_named(name) for part in value.split(",")]


def _is_redirect_with_code(answer: Answer, code: str) -> bool:
    redirected = any(code in value for value in answer.headers_named("Location"))
    return redirected or any(code in value for value in answer.headers_named("Refresh"))
