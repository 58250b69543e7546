"""Which credential goes where: to the service, to others, into addresses, and into what the agent prints."""

from __future__ import annotations

from collections.abc import Callable

from conformance.agent import Agents, ended
from conformance.check import check
from conformance.claims import expect, require
from conformance.run.agent_launch import Run
from conformance.run.agent_output import UNSEARCHED, Printed, printed
from conformance.run.agent_world import METADATA, SERVICE, Heard
from conformance.run.received import Survey
from conformance.wire import leaks
from fakes.gateway.script import Endpoint

TOKENS = ("access_token", "id_token")
OF_THE_EXCHANGE = ("client_secret", "refresh_token", "code", "code_verifier")


@check("AGENT-07")
def access_token_goes_as_bearer(agents: Agents) -> None:
    """The token is in the Authorization header, and neither in an address nor in a body."""
    run, world = _with_tokens(agents), agents.shared().world
    tokens = list(world.desk.access_tokens)
    calls = run.calls(Endpoint.OPERATION)
    bearer = [each for each in calls if _is_bearer(each, tokens)]
    expect.that(
        bool(bearer),
        "calls to the service",
        expected="one with the access token in the Authorization header",
        got=f"{len(calls)} without",
        exchange=calls[-1].exchange() if calls else None,
    )
    hoard = leaks.Hoard(leaks.canary("access_token", token) for token in tokens)
    for each in calls:
        elsewhere = hoard.search(f"{each.call.target}\n{each.call.body.decode('utf-8', 'replace')}")
        expect.that(
            not elsewhere,
            "address and body of a call to the service",
            expected="no access token in them",
            got="the access token",
            exchange=each.exchange(),
        )


@check("AGENT-07", cases=("id_token", "refresh_token"))
def other_tokens_do_not_go_to_the_service(agents: Agents, case: str) -> None:
    """The ID token and the refresh token are in no request to the service, in whatever place and form."""
    found = _sent(agents, (case,), lambda each: each.party in {SERVICE, METADATA})
    _nowhere(found, "requests to the service", case)


@check("AGENT-14", cases=OF_THE_EXCHANGE)
def credential_goes_to_the_token_endpoint_alone(agents: Agents, case: str) -> None:
    """What an exchange is made of is in no other request, neither to the service nor to the gateway."""
    found = _sent(agents, (case,), lambda each: each.call.endpoint is not Endpoint.TOKEN)
    _nowhere(found, "requests to others than the token endpoint", case)


@check("AGENT-14")
def opened_address_holds_no_credential(agents: Agents) -> None:
    """The address that the browser opens is in histories and logs: it holds nothing that gets tokens."""
    run = _with_tokens(agents)
    text = "\n".join(visit.url for visit in run.visits)
    found = _found(agents, text, ("client_secret", "refresh_token", "code_verifier", *TOKENS))
    expect.that(
        not found,
        "addresses that were opened in the browser",
        expected="no credential in them",
        got=", ".join(dict.fromkeys(each.said() for each in found)),
    )


@check("AGENT-12")
def normal_run_prints_no_token(agents: Agents) -> None:
    """What the agent prints when nothing goes wrong, and its logs, hold neither token in plain text."""
    _unprinted(agents, TOKENS, logs_too=True)


@check("AGENT-14")
def normal_run_prints_no_credential(agents: Agents) -> None:
    """What the agent prints when nothing goes wrong holds nothing that gets tokens."""
    _unprinted(agents, OF_THE_EXCHANGE, logs_too=False)


@check("AGENT-12", whole_run=True)
def no_run_prints_a_token(survey: Survey) -> None:
    """Whatever goes wrong in it, no run of the agent prints or logs a token in plain text."""
    _clean(survey, TOKENS, plain_only=True, parts=("output", "log"))


@check("AGENT-14", whole_run=True)
def no_run_prints_a_credential(survey: Survey) -> None:
    """Whatever goes wrong in it, no run of the agent prints what gets tokens."""
    _clean(survey, OF_THE_EXCHANGE, plain_only=False, parts=("output",))


def _is_bearer(each: Heard, tokens: list[str]) -> bool:
    scheme, _, token = (each.call.header("authorization") or "").partition(" ")
    return scheme.lower() == "bearer" and token.strip() in tokens


def _with_tokens(agents: Agents) -> Run:
    """A normal run in which the agent got hold of tokens: without any it cannot show where it puts them."""
    run = ended(agents.normal(), "the normal run")
    got = agents.shared().world.desk.access_tokens
    require.that(bool(got), "the normal run", expected="tokens for the agent", got="none")
    return run


def _found(agents: Agents, text: str, kinds: tuple[str, ...]) -> list[Printed]:
    known = agents.shared().world.secrets()
    return printed(text.encode(), {kind: known.get(kind, ()) for kind in kinds})


def _sent(agents: Agents, kinds: tuple[str, ...], where: Callable[[Heard], bool]) -> list[Heard]:
    """Requests of the first runs in which one of these stands."""
    _with_tokens(agents)
    runs = [agents.story(1), agents.story(2)]
    calls = [each for run in runs for each in run.calls() if where(each)]
    return [each for each in calls if _found(agents, each.call.text(), kinds)]


def _nowhere(found: list[Heard], what: str, kind: str) -> None:
    expect.that(
        not found,
        what,
        expected=f"no {kind.replace('_', ' ')} in them",
        got=", ".join(dict.fromkeys(f"{each.party}: {each.call.endpoint.value}" for each in found)),
        exchange=found[0].exchange() if found else None,
    )


def _unprinted(agents: Agents, kinds: tuple[str, ...], *, logs_too: bool) -> None:
    run = _with_tokens(agents)
    require.that(
        run.dropped == 0,
        "what the agent prints",
        expected="so much that it can be searched",
        got=f"{run.dropped} octets more than are kept",
    )
    known = {kind: values for kind, values in agents.shared().world.secrets().items() if kind in kinds}
    found = [
        (where, each)
        for where, text in (("output", run.output()), ("log", agents.log() if logs_too else b""))
        for each in printed(text, known)
        # What is a token's rule speaks of plain text; what gets tokens is to be in no form there.
        if each.plain or not logs_too
    ]
    expect.that(
        not found,
        "output and logs of a normal run" if logs_too else "output of a normal run",
        expected=f"neither {' nor '.join(kind.replace('_', ' ') for kind in kinds)}",
        got=", ".join(dict.fromkeys(f"{each.said()} in the {where}" for where, each in found)),
    )


def _clean(survey: Survey, kinds: tuple[str, ...], *, plain_only: bool, parts: tuple[str, ...]) -> None:
    require.that(survey.redeemed > 0, "the runs", expected="a token for the agent", got="none")
    unsearched = survey.known.get(UNSEARCHED, 0)
    found = [
        leak
        for leak in survey.leaks
        if leak.kind in kinds and leak.part in parts and (not plain_only or leak.how in leaks.PLAIN)
    ]
    places = dict.fromkeys(
        f"{leak.check}: {leak.kind.replace('_', ' ')} in the {leak.part}" for leak in found
    )
    expect.that(
        not found,
        f"{' and '.join(parts)} of {survey.answers} runs",
        expected=f"neither {' nor '.join(kind.replace('_', ' ') for kind in kinds)}",
        got="; ".join(list(places)[:4]),
    )
    require.that(
        unsearched == 0,
        "what the agent prints",
        expected="so much that it can be searched",
        got=f"more than is kept in {unsearched} runs",
    )
