"""Runs that several rules use: each is made once, and its result is shared by their checks."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from gateproof.conformance.checks.agent._interrupted_runs import ASKED_TO_END, AUTHORIZED, interrupted
from gateproof.conformance.kit.agent.agent import (
    Agents,
    Install,
    end_tokens,
    require_all_in_time,
    runs_in_time,
)
from gateproof.conformance.kit.agent.launch import Ended, Run
from gateproof.conformance.kit.agent.world import AgentWorld, ReceivedRequest
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.fakes.gateway.agent_endpoints import AgentEndpoints
from gateproof.fakes.gateway.gateway import ACCESS_TOKEN_S
from gateproof.fakes.gateway.script import Answer, Endpoint, Script
from gateproof.fakes.orders_service import AMONG_OTHERS

TOKEN_ENDPOINT_FAILS = "the token endpoint fails"  # noqa: S105 - a name
SERVICE_FAILS_LATE, SERVICE_FORBIDS = "the service fails at a token", "the service forbids it"
ORDERS_ARE_NONE, SERVICE_HANGS_UP = "the orders are no JSON", "the service hangs up at a token"
TOKEN_ENDPOINT_HANGS_UP, TOKENS_BREAK_OFF = "the token endpoint hangs up", "the token answer breaks off"
NO_JSON_FOR_TOKENS, NO_TOKEN = "the token answer is no JSON", "the token answer brings no token"
REGISTRATION_REFUSED, NO_CLIENT = "the registration is refused", "the registration brings no client"
CLIENT_REJECTED = "the client is rejected"
METADATA_GONE, DISCOVERY_GONE = "the metadata are gone", "the discovery document is gone"
EXPIRED, REFUSED = "the access token has expired", "a fresh access token is refused"
# Rule AGENT-15 fails an agent that makes this many calls with one refused token.
MOST_WITH_ONE_TOKEN = 20
# Faults that last for the whole first run of an install.
FAULTS: Mapping[str, tuple[Endpoint, Answer]] = {
    TOKEN_ENDPOINT_FAILS: (Endpoint.TOKEN, Answer(status=500)),
    NO_JSON_FOR_TOKENS: (Endpoint.TOKEN, Answer(body=b"<html>")),
    TOKEN_ENDPOINT_HANGS_UP: (Endpoint.TOKEN, Answer(reset=True)),
    "the token answer drips": (Endpoint.TOKEN, Answer(drips_s=3.0)),
    TOKENS_BREAK_OFF: (Endpoint.TOKEN, Answer(breaks_off=True)),
    NO_TOKEN: (Endpoint.TOKEN, Answer(members={"access_token": None})),
    CLIENT_REJECTED: (Endpoint.TOKEN, Answer(status=401, members={"error": "invalid_client"})),
    REGISTRATION_REFUSED: (Endpoint.REGISTRATION, Answer(status=400)),
    NO_CLIENT: (
        Endpoint.REGISTRATION,
        Answer(members={"client_id": None, "client_secret": None}),
    ),
    "discovery fails": (Endpoint.DISCOVERY, Answer(status=503)),
    "discovery names no token endpoint": (Endpoint.DISCOVERY, Answer(members={"token_endpoint": None})),
    METADATA_GONE: (Endpoint.METADATA, Answer(status=404)),
    DISCOVERY_GONE: (Endpoint.DISCOVERY, Answer(status=404)),
    "the metadata are no JSON": (Endpoint.METADATA, Answer(body=b"<html>")),
    "the metadata name no authorization server": (
        Endpoint.METADATA,
        Answer(members={"authorization_servers": None}),
    ),
    "the service fails": (Endpoint.OPERATION, Answer(status=500)),
    SERVICE_FAILS_LATE: (Endpoint.OPERATION, Answer(status=500, whose=AUTHORIZED)),
    SERVICE_FORBIDS: (Endpoint.OPERATION, Answer(status=403, whose=AUTHORIZED)),
    SERVICE_HANGS_UP: (Endpoint.OPERATION, Answer(reset=True, whose=AUTHORIZED)),
    ORDERS_ARE_NONE: (Endpoint.OPERATION, Answer(body=b"<html>", whose=AUTHORIZED)),
}
# The specification does not define these members of the gateway's document; some gateways leave them out.
UNSHOWN = ("token_endpoint_auth_methods_supported", "code_challenge_methods_supported", "scopes_supported")
# Faults in a later run, in which a token has expired and the install has stored data. Those in the documents
# come first, because an agent may store them. Without one, some SDKs use paths of an older revision of MCP.
LATER = (
    "discovery names no token endpoint",
    METADATA_GONE,
    DISCOVERY_GONE,
    TOKEN_ENDPOINT_FAILS,
    NO_TOKEN,
    SERVICE_FAILS_LATE,
)
_OF_THE_SERVICE = {Endpoint.METADATA, Endpoint.OPERATION}
# The lifetime of a token that a check lets expire by the clock, and for how long the service still accepts
# it: a slow agent must be able to use a token that it has just got.
_SHORT_LIFE_S, _LEEWAY_S = 3, 30.0
# More calls than an agent makes before its run is stopped.
_MOST_CALLS = 400


@dataclass(frozen=True, kw_only=True)
class Expiry:
    """How the access tokens of an install end: the service refuses them, or they expire by the clock."""

    by_the_clock: bool

    def begin(self, desk: AgentEndpoints) -> None:
        """If tokens expire by the clock, shortens their lifetime; called before the first one is issued."""
        if self.by_the_clock:
            desk.lifetime_s, desk.leeway_s = _SHORT_LIFE_S, _LEEWAY_S

    def end_access_tokens(self, desk: AgentEndpoints) -> None:
        """Ends the access tokens issued so far.

        Later tokens have the usual lifetime: a slow agent may check the clock before it uses a fresh one.
        """
        if self.by_the_clock:
            wait_for(Cause.EXPIRY, max(0.0, desk.all_expired_at() - time.time()))
            desk.lifetime_s = ACCESS_TOKEN_S
        else:
            desk.end_access_tokens()


def pending_runs(agents: Agents) -> Install:
    """Two runs in which the agent is Pending, and one after an operator has approved it.

    In the first the browser stays on a page; in the second it is redirected with the error of RFC 6749
    section 4.1.2.1, as if the user had declined.
    """

    def play(install: Install) -> None:
        desk = install.world.gateway_endpoints
        desk.holds = True
        install.launch("a run that is held as Pending")
        desk.redirects_pending = True
        install.launch_after_trouble("a run that is held as Pending, and told so by a redirect")
        desk.approve_all()
        install.launch_after_trouble("a run after the approval")

    return agents.scene("held as Pending", play)


def refused_code_runs(agents: Agents) -> Install:
    """A run whose first code is refused, and a later run with two refused codes, which may fail."""

    def play(install: Install) -> None:
        install.world.gateway_endpoints.refusals = 1
        install.launch("a run whose first code is refused")
        end_tokens(install.world)
        install.world.gateway_endpoints.refusals = 2
        later = install.launch("a later run whose first two codes are refused")
        if not later.done:
            install.world.gateway_endpoints.refusals = 0
            install.launch_after_trouble("the run after it")

    return agents.scene("a code refused", play)


def all_authorizing_runs(agents: Agents) -> list[tuple[Install, Run]]:
    """Runs in which an agent authorizes: a normal one, after refusals, and after an approval.

    If the normal run fails, no other one is examined.
    """
    found = [(agents.shared(), run) for run in agents.runs()]
    if agents.normal().done:
        after_refusals, after_approval = refused_code_runs(agents), pending_runs(agents)
        found += [(after_refusals, run) for run in after_refusals.runs]
        found += [(after_approval, run) for run in after_approval.runs[2:]]
    return [(install, run) for install, run in found if run.ended is not Ended.AT_LIMIT]


def all_tokens_refused(agents: Agents) -> Install:
    """Two runs in which the service refuses every token, each followed by a run in which it does not.

    In the first run the refused tokens are fresh; in the later run a kept token is refused, and then fresh
    ones.
    """

    def play(install: Install) -> None:
        service = install.world.service

        def refused_throughout(what: str) -> None:
            before = max((each.call.ordinal for each in install.world.heard()), default=0)
            service.refuses_all = True
            install.launch(what, until=lambda: _calls_without_end(install, before))
            service.refuses_all = False

        refused_throughout("a run whose tokens are all refused")
        install.launch_after_trouble("the run after it, whose token is good")
        refused_throughout("a run whose kept token and all others are refused")
        install.launch_after_trouble("the run after that one, whose token is good again")

    return agents.scene("fresh tokens refused", play)


def forbidden_by_scope(agents: Agents) -> Install:
    """A run in which the service answers every token with 403 for scopes that it has, and the next run."""

    def play(install: Install) -> None:
        service = install.world.service
        before = max((each.call.ordinal for each in install.world.heard()), default=0)
        scopes = " ".join(service.scopes)
        wants = (
            f'Bearer error="insufficient_scope", scope="{scopes}", '
            f'resource_metadata="{service.url}{service.metadata_path}"'
        )
        forbids = Answer(status=403, headers={"www-authenticate": wants}, whose=AUTHORIZED)
        service.script.always(Endpoint.OPERATION, forbids)
        install.launch(
            "a run whose tokens are all said to lack a scope",
            until=lambda: _calls_without_end(install, before),
        )
        service.script.clear()
        install.launch_after_trouble("the run after one whose tokens were all said to lack a scope")

    return agents.scene("a scope is said to be missing", play)


def forbidden_in_other_words(agents: Agents) -> Install:
    """A run in which each 403 for scopes has another text, as with the ID of the request."""

    def play(install: Install) -> None:
        service = install.world.service
        before = max((each.call.ordinal for each in install.world.heard()), default=0)
        wants = f'Bearer error="insufficient_scope", scope="{" ".join(service.scopes)}"'
        forbids = [
            Answer(
                status=403,
                headers={"www-authenticate": f'{wants}, error_description="request {number}"'},
                whose=AUTHORIZED,
            )
            for number in range(_MOST_CALLS)
        ]
        service.script.tape(Endpoint.OPERATION, forbids)
        install.launch(
            "a run whose tokens are said to lack a scope, each time in other words",
            until=lambda: _calls_without_end(install, before),
        )
        service.script.clear()

    return agents.scene("a scope is said to be missing in other words", play)


def tool_calls_refused(agents: Agents) -> Install:
    """A run in which an MCP service accepts every token, but for the tool call."""

    def play(install: Install) -> None:
        service = install.world.service
        before = max((each.call.ordinal for each in install.world.heard()), default=0)
        service.refuses_next = _MOST_CALLS
        install.launch(
            "a run whose tool calls alone are refused", until=lambda: _calls_without_end(install, before)
        )
        service.refuses_next = 0

    return agents.scene("tool calls refused", play)


def refused_calls(heard: Iterable[ReceivedRequest]) -> Counter[str]:
    """How often each token was refused in these calls of the operation."""
    shown = (each.call.header("authorization") or "" for each in heard if each.call.status in {401, 403})
    return Counter(value for value in shown if value)


def _calls_without_end(install: Install, before: int) -> bool:
    """True if a token was refused so often since `before` that the run can be stopped."""
    calls = [
        each
        for each in install.world.heard(since=before)
        if each.call.endpoint is Endpoint.OPERATION and not each.by_browser
    ]
    return max(refused_calls(calls).values(), default=0) >= MOST_WITH_ONE_TOKEN


def refresh_runs(agents: Agents) -> Install:
    """A run that gets a token, and two runs after its expiry; the refresh token remains valid.

    The service answers with the same challenge as without a token.
    """

    def play(install: Install) -> None:
        install.launch("a run that gets a token")
        install.world.service.says_why = False
        for which in ("the access token", "the next access token"):
            install.world.gateway_endpoints.end_access_tokens()
            install.launch(f"a run in which {which} alone has expired")

    return agents.scene("the access token expired", play)


def renewed_by_the_clock(agents: Agents) -> Install:
    """A run that gets a token for a few seconds, and one after its expiry; the refresh token remains valid.

    Only an agent that checks the clock replaces the token: the service still accepts it.
    """

    def play(install: Install) -> None:
        desk, expiry = install.world.gateway_endpoints, Expiry(by_the_clock=True)
        expiry.begin(desk)
        if install.launch("a run that gets a token for a few seconds").done:
            expiry.end_access_tokens(desk)
            install.launch("a run in which the access token has expired by the clock, and can be refreshed")

    return agents.scene("the access token expired by the clock", play)


def short_list_runs(agents: Agents) -> Install:
    """A run in which the gateway's document lists neither methods nor scopes."""

    def play(install: Install) -> None:
        less = Answer(members=dict.fromkeys(UNSHOWN))
        install.world.gateway_endpoints.script.always(Endpoint.DISCOVERY, less)
        install.launch("a run with a document that lists neither methods nor scopes")

    return agents.scene("a document that lists little", play)


def long_list_runs(agents: Agents) -> Install:
    """A run whose service lists only the Resource's scopes, and whose gateway lists other methods first.

    One method is that of Proxy clients, which use the same token endpoint; others are for other clients.
    `openid` is a scope of the gateway, so a service need not list it.
    """

    def play(install: Install) -> None:
        service = install.world.service
        service.script.always(Endpoint.METADATA, Answer(members={"scopes_supported": list(service.scopes)}))
        service.challenge = AMONG_OTHERS.replace("{scope}", " ".join(service.scopes))
        methods = {
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "none", "client_secret_post"],
            "code_challenge_methods_supported": ["plain", "S256"],
        }
        install.world.gateway_endpoints.script.always(Endpoint.DISCOVERY, Answer(members=methods))
        install.launch("a run whose documents list other scopes and methods than an agent's")

    return agents.scene("documents that list for others, too", play)


def recovered(agents: Agents, case: str) -> Install:
    """A run with a fault for its whole duration, and a later run without it."""

    def play(install: Install) -> None:
        _run_with_fault(install, case, f"a run in which {case}")
        install.launch_after_trouble(f"the run after one in which {case}")

    return agents.scene(case, play)


def fault_sequence(agents: Agents) -> Install:
    """A run that gets a token; then for each fault a run with an expired token and the fault, and a next run.

    All runs use one install: the next run after one fault is the run before another.
    """

    def play(install: Install) -> None:
        install.launch("a run that gets a token")
        for each in LATER:
            install.world.gateway_endpoints.end_access_tokens()
            _run_with_fault(install, each, f"a run whose token has expired, and in which {each}")
            install.launch_after_trouble(f"the run after one whose token had expired, and in which {each}")

    return agents.scene("one fault after another", play)


def recovered_later(agents: Agents, case: str) -> tuple[Run, Run, Run]:
    """The run before this fault, the one with it, and the next."""
    runs, place = fault_sequence(agents).runs, 2 * LATER.index(case)
    return runs[place], runs[place + 1], runs[place + 2]


# The reason why a call with a token fails, and the runs in which it does.
FAILED_TOKEN_CALLS: Mapping[str, Callable[[Agents], Install]] = {
    EXPIRED: refresh_runs,
    REFUSED: all_tokens_refused,
    SERVICE_FAILS_LATE: lambda agents: recovered(agents, SERVICE_FAILS_LATE),
    SERVICE_FORBIDS: lambda agents: recovered(agents, SERVICE_FORBIDS),
    SERVICE_HANGS_UP: lambda agents: recovered(agents, SERVICE_HANGS_UP),
    ORDERS_ARE_NONE: lambda agents: recovered(agents, ORDERS_ARE_NONE),
    ASKED_TO_END: interrupted,
}


def failed_token_runs(agents: Agents, case: str) -> tuple[Install, list[Run]]:
    """An install in which a call with a token failed, and its runs up to the first time limit."""
    install = FAILED_TOKEN_CALLS[case](agents)
    require_all_in_time(install.runs[:1])
    runs = runs_in_time(install.runs)
    # Faults last for the first run, except for tokens that get the challenge. A signal ends the second run.
    tried = runs if case in {EXPIRED, REFUSED} else runs[1:2] if case == ASKED_TO_END else runs[:1]
    struck = [
        each for run in tried for each in run.calls(Endpoint.OPERATION) if _failed_with_token(each, case)
    ]
    if not struck:
        raise LeftOut("the agent made no call with a token that failed")
    return install, runs


def _failed_with_token(each: ReceivedRequest, case: str) -> bool:
    """True for a call with a token that failed; for invalid tokens, only if it got the challenge."""
    is_challenged = each.call.status == 401
    return each.call.header("authorization") is not None and (is_challenged or case not in {EXPIRED, REFUSED})


def _run_with_fault(install: Install, case: str, what: str) -> None:
    """Launches a run with a fault for its whole duration."""
    endpoint, answer = FAULTS[case]
    script = _script(install.world, endpoint)
    script.always(endpoint, answer)
    install.launch(what)
    script.clear()


def _script(world: AgentWorld, endpoint: Endpoint) -> Script:
    return world.service.script if endpoint in _OF_THE_SERVICE else world.gateway_endpoints.script
