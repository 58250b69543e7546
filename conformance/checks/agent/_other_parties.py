"""Expectations about what other parties than the intended one receive: codes, verifiers, secrets, tokens."""

from __future__ import annotations

from collections.abc import Iterable

from gateproof.conformance.kit.agent.agent import READS_NO_METADATA_ELSEWHERE, Install, s256
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.output import printed
from gateproof.conformance.kit.agent.world import ATTACKER, PLAIN_HTTP, SERVICE, ReceivedRequest
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.wire.route import origin
from gateproof.fakes.gateway.agent_endpoints import AgentEndpoints, fields
from gateproof.fakes.gateway.script import Endpoint

_ELSEWHERE = "anything that is sent to another origin than the service's"


def no_code_was_sent(run: Run) -> None:
    """Expects no token request at the gateway of the other resource, whose metadata the agent has read."""
    if not run.calls(Endpoint.METADATA, party=ATTACKER):
        raise LeftOut(READS_NO_METADATA_ELSEWHERE)
    sent = run.calls(Endpoint.TOKEN, party=ATTACKER)
    expect.that(
        not sent,
        "requests to the token endpoint of a gateway that only metadata of another resource name",
        expected="none",
        got=str(len(sent)),
        exchange=sent[0].exchange() if sent else None,
    )


def no_credential_sent_to(desk: AgentEndpoints, run: Run, parties: Iterable[str], whose: str) -> None:
    """Expects that no secret of this gateway, and no verifier for its codes, was sent to these parties."""
    secrets = desk.secrets()
    codes = {code for visit in run.visits for code in visit.codes()} & set(desk.codes)
    challenges = {visit.value("code_challenge") for visit in run.visits if codes.intersection(visit.codes())}
    for each in (each for party in parties for each in run.calls(party=party)):
        found = [item.said() for item in printed(each.call.text().encode(), secrets)]
        if _proves(each, challenges):
            found.append("the code verifier")
        expect.that(
            not found,
            f"a request to {whose}",
            expected="nothing that another party issued, and no proof for it",
            got=", ".join(dict.fromkeys(found)),
            exchange=each.exchange(),
        )
    expect.that(True, "requests to other parties", expected="none with a credential", got="none")


def _proves(each: ReceivedRequest, challenges: set[str | None]) -> bool:
    verifier = fields(each.call).get("code_verifier", "")
    return bool(verifier) and s256(verifier) in challenges


def came_to_the_service(install: Install, run: Run) -> None:
    """Requires, as the positive twin, a call to the service with the access token."""
    tokens = install.world.gateway_endpoints.access_tokens
    calls = run.calls(Endpoint.OPERATION, party=SERVICE)
    require.that(
        any(token in each.call.text() for each in calls for token in tokens),
        run.what,
        expected="a call to the service with the access token",
        got="none",
    )


def token_goes_nowhere_else(install: Install, run: Run) -> None:
    """Expects no access token in requests to other origins, and in URLs that the browser opens."""
    for each in run.calls():
        if each.party == SERVICE:
            continue
        expect.that(
            not carries_a_token(install, each.call.text()),
            f"a request to {_said(each.party)}",
            expected="no gateway access token in it",
            got="the access token",
            exchange=each.exchange(),
        )
    opened = [(visit.url, run.request_of(visit)) for visit in run.visits]
    for url, exchange in (*opened, *((other, None) for other in run.others)):
        if origin(url) == origin(install.world.service.url):
            continue
        expect.that(
            not carries_a_token(install, url),
            "an address that was opened in the browser",
            expected="no gateway access token in it",
            got="the access token",
            exchange=exchange,
        )
    expect.that(True, _ELSEWHERE, expected="no gateway access token in it", got="none")


def carries_a_token(install: Install, text: str) -> bool:
    """True if the text contains a token of any gateway that the service named, in plain text or encoded."""
    tokens: Iterable[str] = [token for desk in install.world.named for token in desk.access_tokens]
    return bool(printed(text.encode(errors="surrogatepass"), {"access_token": list(tokens)}))


def _said(party: str) -> str:
    return f"the {party}" if party != PLAIN_HTTP else "an address in plain HTTP"
