"""The redirect URI must be exactly one that was registered."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import no_code, redirected_elsewhere
from gateproof.conformance.kit.gateway.gateway import CALLBACK
from gateproof.conformance.kit.gateway.reused_agent import reused_authorization
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect
from gateproof.conformance.suite.generated_input import Draw
from gateproof.conformance.suite.parties import Agent

# Redirect URIs to request when https://agent.example/callback is registered. Other case of scheme and host is
# left out: it leads to the same place.
NEAR_MISSES = {
    "trailing-slash": "https://agent.example/callback/",
    "double-slash": "https://agent.example//callback",
    "path-case-first-letter": "https://agent.example/Callback",
    "path-case-all": "https://agent.example/CALLBACK",
    "extra-query": "https://agent.example/callback?next=1",
    "extra-query-code": "https://agent.example/callback?code=x",
    "empty-query": "https://agent.example/callback?",
    "space-behind": "https://agent.example/callback ",
    "space-before": " https://agent.example/callback",
    "fragment": "https://agent.example/callback#x",
    "extra-segment": "https://agent.example/callback/next",
    "longer-segment": "https://agent.example/callback2",
    "path-parameter": "https://agent.example/callback;x=1",
    "shorter-segment": "https://agent.example/callbac",
    "root": "https://agent.example/",
    "no-path": "https://agent.example",
    "other-path": "https://agent.example/other",
    "path-before": "https://agent.example/next/callback",
    "sub-domain": "https://evil.agent.example/callback",
    "host-behind": "https://agent.example.evil.example/callback",
    "host-before": "https://evilagent.example/callback",
    "host-with-any-character": "https://agentxexample/callback",
    "host-with-final-dot": "https://agent.example./callback",
    "other-host": "https://evil.example/callback",
    "host-look-alike": "https://\N{CYRILLIC SMALL LETTER A}gent.example/callback",
    "port": "https://agent.example:8443/callback",
    "default-port": "https://agent.example:443/callback",
    "port-80": "https://agent.example:80/callback",
    "userinfo": "https://evil@agent.example/callback",
    "userinfo-that-looks-like-the-host": "https://agent.example@evil.example/callback",
    "userinfo-and-password": "https://agent.example:443@evil.example/callback",
    "http": "http://agent.example/callback",
    "scheme-relative": "//agent.example/callback",
    "javascript": "javascript://agent.example/callback",
    "encoded-letter": "https://agent.example/%63allback",
    "encoded-slash": "https://agent.example/%2Fcallback",
    "encoded-slash-behind": "https://agent.example/callback%2F",
    "encoded-null": "https://agent.example/callback%00",
    "encoded-question-mark": "https://agent.example/callback%3Fnext=1",
    "encoded-at": "https://agent.example%40evil.example/callback",
    "dot-segment": "https://agent.example/./callback",
    "dot-segment-behind": "https://agent.example/callback/.",
    "dot-segments": "https://agent.example/next/../callback",
    "dot-segments-behind": "https://agent.example/callback/../callback",
    "dot-segments-out": "https://agent.example/callback/../other",
    "encoded-dot-segments": "https://agent.example/next/%2e%2e/callback",
    "backslash": "https://agent.example\\callback",
    "backslash-and-userinfo": "https://evil.example\\@agent.example/callback",
    "registered-one-in-the-query": "https://evil.example/?https://agent.example/callback",
    "registered-one-in-the-fragment": "https://evil.example/#https://agent.example/callback",
    "registered-one-in-the-path": "https://evil.example/https://agent.example/callback",
    "registered-one-and-another": "https://agent.example/callback https://evil.example/callback",
    "registered-one-on-the-first-line": "https://agent.example/callback\nhttps://evil.example/callback",
    "registered-one-on-the-last-line": "https://evil.example/callback\nhttps://agent.example/callback",
}

# Characters that parsers, comparisons and browsers may read in different ways.
EDITS = "/.?#%;:@\\&=+-_~*!$'(),aZ0|^ \t\r\n"
# How characters that would break a line are shown in texts.
_ESCAPED = str.maketrans({"\t": "\\t", "\r": "\\r", "\n": "\\n"})

WITH_QUERY = "https://agent.example/callback?tenant=1&place=a"
QUERY_MISSES = {
    "no-query": "https://agent.example/callback",
    "other-value": "https://agent.example/callback?tenant=2&place=a",
    "longer-value": "https://agent.example/callback?tenant=1&place=ab",
    "one-less": "https://agent.example/callback?tenant=1",
    "one-more": "https://agent.example/callback?tenant=1&place=a&next=1",
    "other-order": "https://agent.example/callback?place=a&tenant=1",
    "encoded": "https://agent.example/callback?tenant=%31&place=a",
    "other-path": "https://agent.example/other?tenant=1&place=a",
}

# A registered URI, and one that other systems treat as the same: they let native applications change the port
# (RFC 8252 section 7.3), or ignore the case of an escape.
ALIKE = {
    "port-on-loopback": ("https://127.0.0.1:8443/callback", "https://127.0.0.1:9443/callback"),
    "port-on-ipv6-loopback": ("https://[::1]:8443/callback", "https://[::1]:9443/callback"),
    "port-on-localhost": ("https://localhost:8443/callback", "https://localhost:9443/callback"),
    "port-left-out-on-loopback": ("https://127.0.0.1:8443/callback", "https://127.0.0.1/callback"),
    "case-of-an-escape": ("https://agent.example/call%2fback", "https://agent.example/call%2Fback"),
}
# A URI registered in addition to https://agent.example/callback, and one that it would match as a pattern.
PATTERNS = {
    "any-path": ("https://agent.example/*", "https://agent.example/anything"),
    "any-sub-domain": ("https://*.agent.example/callback", "https://x.agent.example/callback"),
}
# Usual lengths of columns for addresses, and a URI that is longer.
COLUMNS = (128, 191, 200, 250, 255, 256, 500, 512)
LONG = f"{CALLBACK}/{'gateproof-' * 56}end"
# Separators between two addresses that are stored in one string.
SEPARATORS = {"comma": ",", "semicolon": ";", "blank": " ", "line-feed": "\n", "bar": "|"}


@check("AUTHZ-06", cases=NEAR_MISSES)
def near_miss_gets_no_code_and_no_browser(world: World, case: str) -> None:
    """A redirect URI that differs slightly from the registered one gets neither code nor redirect."""
    world, given = reused_authorization(world)

    _refused(world, given.agent, CALLBACK, case)


@check("AUTHZ-06", cases=QUERY_MISSES)
def query_of_the_registered_uri_counts(world: World, case: str) -> None:
    """If the registered URI has a query, a different query gets neither code nor redirect."""
    world = world.in_one_browser()
    agent = world.agents.new_if_accepted(WITH_QUERY)
    world.new_code(agent=agent)

    _refused(world, agent, WITH_QUERY, case)


@check("AUTHZ-06", cases=ALIKE)
def uri_that_other_systems_take_for_the_same_gets_no_code(world: World, case: tuple[str, str]) -> None:
    """A redirect URI with another port of a loopback address, or other case of an escape, gets no code."""
    registered, other = case
    agent = world.agents.new_if_accepted(registered)
    world.new_code(agent=agent)

    _refused(world, agent, registered, other)


@check("AUTHZ-06")
def uri_of_another_agent_gets_no_code_and_no_browser(world: World) -> None:
    """A redirect URI that only another agent registered gets neither code nor redirect."""
    world, given = reused_authorization(world)
    theirs = "https://other-agent.example/callback"
    world.new_code(agent=world.agents.new_if_accepted(theirs))

    _refused(world, given.agent, CALLBACK, theirs)


@check("AUTHZ-06")
def registered_uris_are_not_mixed(world: World) -> None:
    """A combination of two registered URIs, or an extension of one, gets neither code nor redirect."""
    world = world.in_one_browser()
    one, two = "https://one.agent.example/here", "https://two.agent.example/there"
    agent = world.agents.new_if_accepted(one, two)
    for uri in (one, two):
        world.code_for(world.attempt(agent, redirect_uri=uri))

    _refused(world, agent, one, "https://one.agent.example/there")
    _refused(world, agent, two, f"{two}/next")


@check("AUTHZ-06", cases=PATTERNS)
def registered_pattern_stands_for_itself_alone(world: World, case: tuple[str, str]) -> None:
    """A registered URI with an asterisk, if the gateway accepts one, matches no other address."""
    world = world.in_one_browser()
    pattern, asked_for = case
    agent = world.agents.new_if_accepted(CALLBACK, pattern)
    world.code_for(world.attempt(agent))

    world.show(pattern)
    _refused(world, agent, CALLBACK, asked_for, beside=f" beside {pattern}")


@check("AUTHZ-06", cases=SEPARATORS)
def registered_uri_is_no_list(world: World, case: str) -> None:
    """A registered URI with a separator in it, if the gateway accepts one, does not match either part.

    Databases and configuration files may store several addresses in one string.
    """
    world = world.in_one_browser()
    world.code_for(world.attempt(world.agents.new_if_accepted(CALLBACK)))
    other = "https://other-agent.example/callback"
    agent = world.agents.new_if_accepted(f"{CALLBACK}{case}{other}")

    for asked_for in (other, CALLBACK):
        _refused(world, agent, f"{CALLBACK}{case.translate(_ESCAPED)}{other}", asked_for)


@check("AUTHZ-06")
def beginning_of_a_long_registered_uri_gets_no_code(world: World) -> None:
    """The first characters of a long registered URI, as a column of a database keeps them, get no code."""
    world = world.in_one_browser()
    world.code_for(world.attempt(world.agents.new_if_accepted(CALLBACK)))
    agent = world.agents.new_if_accepted(LONG)

    for length in COLUMNS:
        _refused(world, agent, LONG, LONG[:length])


@check("AUTHZ-06", needs=["examples"])
def generated_near_miss_gets_no_code_and_no_browser(world: World, draw: Draw) -> None:
    """The registered address with one or two characters changed gets neither code nor redirect."""
    from hypothesis import strategies as st  # noqa: PLC0415 - loaded by those who generate

    world, given = reused_authorization(world)
    edit = st.tuples(
        st.integers(min_value=0, max_value=len(CALLBACK)),
        st.integers(min_value=0, max_value=2),
        st.sampled_from(["", *EDITS]),
    )

    def holds(edits: list[tuple[int, int, str]]) -> None:
        changed = CALLBACK
        for place, removed, put in edits:
            changed = changed[:place] + put + changed[place + removed :]
        if not _is_equivalent(changed):
            _refused(world, given.agent, CALLBACK, changed)

    # The first one is certainly different, so that something is always tested.
    holds([(len(CALLBACK), 0, "x")])
    draw.each(st.lists(edit, min_size=1, max_size=2), holds)


def _is_equivalent(uri: str) -> bool:
    """True if the URI is another spelling of the registered address, or no web address at all."""
    if not uri.lower().startswith("https://"):
        return True
    host, slash, path = uri[len("https://") :].strip(" \t\r\n").partition("/")
    return f"https://{host.lower()}{slash}{path.rstrip('?#')}" == CALLBACK


def _refused(world: World, agent: Agent, registered: str, asked_for: str, beside: str = "") -> None:
    shown = asked_for.translate(_ESCAPED)
    world.show(asked_for, shown)
    visit = world.gateway.visit(world.attempt(agent, redirect_uri=asked_for), wherever=True)

    what = f"authorization with the redirect URI {shown}, where {registered} is registered{beside}"
    no_code(visit, what)
    expect.that(
        not redirected_elsewhere(visit.sent_to, registered, asked_for),
        what,
        expected="no redirect to the unregistered address",
        got=visit.outcome(),
    )
