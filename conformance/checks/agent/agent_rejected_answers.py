"""Answers with secrets that an agent may reject although they are successes: they are not printed."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.checks.agent._printed_secrets import TOKENS, nothing_printed
from gateproof.conformance.kit.agent.agent import Agents, Install, require_all_in_time, require_done
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, observe
from gateproof.fakes.gateway.script import Answer, Endpoint

# Registration answers with a secret that a strict client rejects: no client ID, another method than the
# registered one, a member of another type, or another status than 201.
_ODD_REGISTRATIONS: Mapping[str, Answer] = {
    "no client_id": Answer(members={"client_id": None}),
    "another authentication method": Answer(members={"token_endpoint_auth_method": "client_secret_basic"}),
    "an expiry in words": Answer(members={"client_secret_expires_at": "never"}),
    "the status 200": Answer(as_status=200),
}
# A token answer of the gateway has the status 200.
_OTHER_STATUS = Answer(as_status=201)


@check("AGENT-12")
def tokens_of_another_status_are_not_printed(agents: Agents) -> None:
    """An agent that rejects a token answer because its status is 201 prints no token of it."""
    require_done(agents.normal())
    _rejected_is_not_printed(agents, Endpoint.TOKEN, "the status 201", _OTHER_STATUS, TOKENS)


@check("AGENT-14", cases=tuple(_ODD_REGISTRATIONS))
def secret_of_a_rejected_registration_is_not_printed(agents: Agents, case: str) -> None:
    """An agent that rejects a registration answer prints no client secret of it, not even in its error."""
    require_done(agents.normal())
    answer = _ODD_REGISTRATIONS[case]
    _rejected_is_not_printed(agents, Endpoint.REGISTRATION, case, answer, ("client_secret",))


@check("AGENT-14")
def refresh_token_of_another_status_is_not_printed(agents: Agents) -> None:
    """An agent that rejects a token answer because its status is 201 prints no refresh token of it."""
    require_done(agents.normal())
    _rejected_is_not_printed(agents, Endpoint.TOKEN, "the status 201", _OTHER_STATUS, ("refresh_token",))


def _rejected_is_not_printed(
    agents: Agents, endpoint: Endpoint, has: str, answer: Answer, kinds: tuple[str, ...]
) -> None:
    """Expects none of these secrets in the output of a run that got them in an answer like this.

    What the agent does with the answer is its choice.
    """

    def play(install: Install) -> None:
        install.world.gateway_endpoints.script.always(endpoint, answer)
        install.launch(f"a run in which the {endpoint.value} answer has {has}")

    install = agents.scene(f"the {endpoint.value} answer has {has}", play)
    (run,) = install.runs
    require_all_in_time([run])
    known = {kind: install.world.secrets()[kind] for kind in kinds}
    if not any(known.values()):
        raise LeftOut("the agent got no secret in this run")
    observe(carried_out=run.done)
    nothing_printed(run, known, {})
