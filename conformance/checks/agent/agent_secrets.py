"""Where credentials are sent: to the service, to others, in URLs, and in the agent's output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gateproof.conformance.checks.agent._printed_secrets import (
    LASTING,
    PASSING,
    TOKENS,
    forbidden,
    none_of,
    nothing_printed,
    some,
)
from gateproof.conformance.checks.agent._shared_runs import FAILED_TOKEN_CALLS, failed_token_runs
from gateproof.conformance.kit.agent.agent import Agents, require_all_in_time, require_ended
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.output import (
    ADDRESSES,
    ENVIRONMENTS,
    PAGES,
    REQUESTS,
    UNSEARCHED,
    Printed,
    printed,
    printed_in,
)
from gateproof.conformance.kit.agent.world import METADATA, SERVICE, ReceivedRequest
from gateproof.conformance.kit.gateway.received import Leak, RunTotals, brought_up
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.conformance.wire import leaks
from gateproof.fakes.gateway.script import Endpoint

OTHER_TOKENS = ("id_token", "refresh_token")
OF_THE_EXCHANGE = (*LASTING, *PASSING)
# The code passes through the browser in any case.
KEPT_FROM_BROWSERS = tuple(kind for kind in OF_THE_EXCHANGE if kind != "code")
# Claims that make an ID token invalid for a client that checks them (OpenID Connect Core 3.1.3.7).
_WRONG_CLAIMS: Mapping[str, Mapping[str, Any]] = {
    "for-another-client": {"aud": ["gateproof-another-client"]},
    "of-another-issuer": {"iss": "https://another-issuer.example"},
    "expired": {"exp": 1_000_000_000, "iat": 999_999_000},
}


@check("AGENT-07")
def access_token_goes_as_bearer(agents: Agents) -> None:
    """The access token is sent in the Authorization header, and in no URL or body."""
    first, runs = _with_tokens(agents), agents.runs()
    tokens = list(agents.shared().world.gateway_endpoints.access_tokens)
    calls = first.calls(Endpoint.OPERATION)
    bearer = [each for each in calls if _is_bearer(each, tokens)]
    expect.that(
        bool(bearer),
        "calls to the service",
        expected="one with the access token in the Authorization header",
        got=f"{len(calls)} without",
        exchange=calls[-1].exchange() if calls else None,
    )
    _in_the_header_alone([each for run in runs for each in run.calls(Endpoint.OPERATION)], tokens)


@check("AGENT-07", cases=OTHER_TOKENS)
def other_tokens_do_not_go_to_the_service(agents: Agents, case: str) -> None:
    """The ID token and the refresh token are in no request to the service, in any form."""
    found = _sent(agents, (case,), lambda each: each.party in {SERVICE, METADATA})
    _not_found_in(found, "requests to the service", case)


@check("AGENT-07", whole_run=True)
def no_run_brings_other_tokens_to_the_service(survey: RunTotals) -> None:
    """In no run, with or without faults, is the ID token or refresh token sent to the service."""
    _clean(survey, OTHER_TOKENS, parts=(REQUESTS,), parties=(SERVICE, METADATA))


@check("AGENT-07", needs=["faults"], cases=tuple(FAILED_TOKEN_CALLS))
def tokens_keep_their_places_where_one_does_not_help(agents: Agents, case: str) -> None:
    """After a call with a token has failed, the agent sends the service no ID or refresh token."""
    _with_tokens(agents)
    install, runs = failed_token_runs(agents, case)
    known = install.world.secrets()
    calls = [each for run in runs for each in run.calls() if each.party in {SERVICE, METADATA}]
    _in_the_header_alone(calls, known["access_token"])
    others = {kind: known[kind] for kind in OTHER_TOKENS}
    found = [each for each in calls if printed(each.call.text().encode(errors="surrogatepass"), others)]
    _not_found_in(found, f"requests to the service where {case}", "ID token and no refresh token")
    require_all_in_time(install.runs)


@check("AGENT-14", cases=OF_THE_EXCHANGE)
def credential_goes_to_the_token_endpoint_alone(agents: Agents, case: str) -> None:
    """Code, verifier, secret and refresh token are sent to the token endpoint only."""
    found = _sent(agents, (case,), lambda each: each.call.endpoint is not Endpoint.TOKEN)
    _not_found_in(found, "requests to others than the token endpoint", case)


@check("AGENT-14")
def opened_address_holds_no_credential(agents: Agents) -> None:
    """The URL that the agent opens in the browser contains no credential that gets tokens.

    An ID token may be there as `id_token_hint` (OpenID Connect 3.1.2.1), because it gets no tokens. Any other
    opened page counts as well.
    """
    _with_tokens(agents)
    for run in agents.runs():
        asked = [(visit.url, run.request_of(visit)) for visit in run.visits]
        for url, exchange in (*asked, *((other, None) for other in run.others)):
            found = _found(agents, url, KEPT_FROM_BROWSERS)
            expect.that(
                not found,
                "an address that was opened in the browser",
                expected="no credential in it",
                got=", ".join(dict.fromkeys(each.said() for each in found)),
                exchange=exchange,
            )


@check("AGENT-12")
def normal_run_prints_no_token(agents: Agents) -> None:
    """The output and logs of a normal run contain no access token and no ID token.

    Only for access tokens does the specification limit the rule to plain text.
    """
    _unprinted(agents, TOKENS, parts=("output", "log"))
    if missing := agents.logs.missing():
        raise LeftOut(
            f"there is no log file {', '.join(missing)} that a run has written to and that can be read: see"
            " [logs] in the target file"
        )


@check("AGENT-12", needs=["faults"], cases=tuple(FAILED_TOKEN_CALLS))
def token_that_does_not_help_is_not_printed(agents: Agents, case: str) -> None:
    """After a call with a token has failed, the agent prints no token."""
    _with_tokens(agents)
    install, runs = failed_token_runs(agents, case)
    for run in runs:
        nothing_printed(run, {kind: install.world.secrets()[kind] for kind in TOKENS}, {})
    require_all_in_time(install.runs)


@check("AGENT-12", cases=_WRONG_CLAIMS)
def id_token_that_is_refused_is_not_printed(agents: Agents, case: Mapping[str, Any]) -> None:
    """An agent that refuses an ID token because of one claim prints no token, not even in its error."""
    _with_tokens(agents)
    install = agents.install()
    install.world.gateway_endpoints.id_token_claims = case
    run = require_ended(install.launch(f"a run whose ID token has another {next(iter(case))}"))
    known = {kind: install.world.secrets()[kind] for kind in TOKENS}
    if not any(known.values()):
        raise LeftOut("the agent got no token in this run")
    nothing_printed(run, known, {})


@check("AGENT-14")
def normal_run_prints_no_credential(agents: Agents) -> None:
    """The output of a normal run contains neither the client secret nor a refresh token.

    Whether a code or a verifier is printed is recorded.
    """
    _unprinted(agents, LASTING, parts=("output",))
    known = {kind: values for kind, values in agents.shared().world.secrets().items() if kind in PASSING}
    kinds = sorted({each.kind for each in printed_in([agents.normal().output()], known)})
    observe(printed=", ".join(kinds) or "neither code nor verifier")


@check("AGENT-12", whole_run=True)
def no_run_prints_a_token(survey: RunTotals) -> None:
    """The output and logs of all runs, with or without faults, contain no token."""
    _clean(survey, TOKENS, parts=("output", "log"))


@check("AGENT-14", whole_run=True)
def no_run_prints_a_credential(survey: RunTotals) -> None:
    """The output of all runs, with or without faults, contains no client secret and no refresh token."""
    _clean(survey, LASTING, parts=("output",))


@check("AGENT-14", whole_run=True)
def no_page_shows_a_credential(survey: RunTotals) -> None:
    """The callback's page, or its redirect, contains no credential that gets tokens.

    The code is known to the browser in any case: it came with the redirect.
    """
    _clean(survey, KEPT_FROM_BROWSERS, parts=(PAGES,))


@check("AGENT-18", whole_run=True)
def no_browser_is_shown_the_access_token(survey: RunTotals) -> None:
    """Neither a page of the callback nor the environment of the browser contains an access token."""
    _clean(survey, ("access_token",), parts=(PAGES, ENVIRONMENTS))


@check("AGENT-14", whole_run=True)
def no_opened_address_holds_a_credential(survey: RunTotals) -> None:
    """In no run does a URL that the agent opens contain a credential that gets tokens.

    Whether the browser inherits one in an environment variable is recorded.
    """
    inherited = {
        leak.kind
        for leak in survey.leaks
        if leak.part == ENVIRONMENTS and leak.kind in KEPT_FROM_BROWSERS and forbidden(leak.kind, leak.how)
    }
    observe(in_the_environment_of_the_browser=", ".join(sorted(inherited)) or "no credential")
    _clean(survey, KEPT_FROM_BROWSERS, parts=(ADDRESSES,))


@check("AGENT-14", whole_run=True)
def no_run_brings_a_credential_to_others(survey: RunTotals) -> None:
    """In no run is a credential that gets tokens in a request other than a token request."""
    _clean(survey, OF_THE_EXCHANGE, parts=(REQUESTS,))


def _in_the_header_alone(calls: Sequence[ReceivedRequest], tokens: Sequence[str]) -> None:
    canary_set = leaks.CanarySet(leaks.canary("access_token", token) for token in tokens)
    for each in calls:
        elsewhere = canary_set.search(f"{each.call.target}\n{each.call.body.decode('utf-8', 'replace')}")
        expect.that(
            not elsewhere,
            "address and body of a call to the service",
            expected="no access token in them",
            got="the access token",
            exchange=each.exchange(),
        )


def _is_bearer(each: ReceivedRequest, tokens: list[str]) -> bool:
    scheme, _, token = (each.call.header("authorization") or "").partition(" ")
    return scheme.lower() == "bearer" and token.strip() in tokens


def _with_tokens(agents: Agents) -> Run:
    """A normal run in which the agent got tokens: otherwise it cannot show where it sends them."""
    run = require_ended(agents.normal())
    got = agents.shared().world.gateway_endpoints.access_tokens
    require.that(bool(got), "the normal run", expected="tokens for the agent", got="none")
    return run


def _found(agents: Agents, text: str, kinds: tuple[str, ...]) -> list[Printed]:
    known = agents.shared().world.secrets()
    return printed(text.encode(errors="surrogatepass"), {kind: known.get(kind, ()) for kind in kinds})


def _sent(
    agents: Agents, kinds: tuple[str, ...], where: Callable[[ReceivedRequest], bool]
) -> list[ReceivedRequest]:
    """Requests of the first runs that contain one of these credentials."""
    _with_tokens(agents)
    calls = [each for run in agents.runs() for each in run.calls() if where(each)]
    return [each for each in calls if _found(agents, each.call.text(), kinds)]


def _not_found_in(found: list[ReceivedRequest], what: str, kind: str) -> None:
    expect.that(
        not found,
        what,
        expected=f"no {kind.replace('_', ' ')} in them",
        got=", ".join(dict.fromkeys(f"{each.party}: {each.call.endpoint.value}" for each in found)),
        exchange=found[0].exchange() if found else None,
    )


def _unprinted(agents: Agents, kinds: tuple[str, ...], *, parts: tuple[str, ...]) -> None:
    run = _with_tokens(agents)
    known = {kind: values for kind, values in agents.shared().world.secrets().items() if kind in kinds}
    nothing_printed(run, known, {"log": agents.logs.pieces()} if "log" in parts else {})


def _clean(
    survey: RunTotals, kinds: tuple[str, ...], *, parts: tuple[str, ...], parties: tuple[str, ...] = ()
) -> None:
    """Expects none of these kinds in these parts of any run; with `parties`, only requests to them count."""
    require.that(survey.redeemed > 0, "the runs", expected="a token for the agent", got="none")
    told = [
        leak
        for leak in survey.leaks
        if leak.kind in kinds and leak.part in parts and forbidden(leak.kind, leak.how)
        if not parties or leak.party in parties
    ]
    found = [f"{Printed(kind=leak.kind, how=leak.how).said()} in the {_place(leak)}" for leak in told]
    brought_up(told)
    expect.that(
        not found,
        f"{' and '.join(parts)} of {survey.answers} runs",
        expected=none_of(kinds),
        got=some(found),
    )
    for part in parts:
        unsearched = survey.known.get(UNSEARCHED.get(part, ""), 0)
        require.that(
            unsearched == 0,
            "what the agent prints",
            expected="no more than can be searched",
            got=f"more in {unsearched} runs",
        )


def _place(leak: Leak) -> str:
    to = f" to the {leak.party}" if leak.part == REQUESTS else ""
    return f"{leak.part}{to} of {leak.step}"
