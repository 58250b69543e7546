"""Runs that several rules are about: each is played once, and looked at by every check that wants to know."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.agent import Agents, Install
from conformance.run.agent_world import AgentWorld
from fakes.gateway.script import Answer, Endpoint, Script

TOKEN_ENDPOINT_FAILS = "the token endpoint fails"  # noqa: S105 - a name
SERVICE_FAILS_LATE, SERVICE_FORBIDS = "the service fails at a token", "the service forbids it"
# What stands in calls that come with a token, and in no others.
_AUTHORIZED = "\nauthorization: "
# What fails throughout the first run of an install.
FAULTS: Mapping[str, tuple[Endpoint, Answer]] = {
    TOKEN_ENDPOINT_FAILS: (Endpoint.TOKEN, Answer(status=500)),
    "the token answer is no JSON": (Endpoint.TOKEN, Answer(body=b"<html>")),
    "the token endpoint hangs up": (Endpoint.TOKEN, Answer(reset=True)),
    "the token answer drips": (Endpoint.TOKEN, Answer(drips_s=3.0)),
    "the token answer breaks off": (Endpoint.TOKEN, Answer(breaks_off=True)),
    "the token answer brings no token": (Endpoint.TOKEN, Answer(members={"access_token": None})),
    "the registration is refused": (Endpoint.REGISTRATION, Answer(status=400)),
    "the registration brings no client": (
        Endpoint.REGISTRATION,
        Answer(members={"client_id": None, "client_secret": None}),
    ),
    "discovery fails": (Endpoint.DISCOVERY, Answer(status=503)),
    "discovery names no token endpoint": (Endpoint.DISCOVERY, Answer(members={"token_endpoint": None})),
    "the metadata are no JSON": (Endpoint.METADATA, Answer(body=b"<html>")),
    "the service fails": (Endpoint.OPERATION, Answer(status=500)),
    SERVICE_FAILS_LATE: (Endpoint.OPERATION, Answer(status=500, whose=_AUTHORIZED)),
    SERVICE_FORBIDS: (Endpoint.OPERATION, Answer(status=403, whose=_AUTHORIZED)),
}
_OF_THE_SERVICE = {Endpoint.METADATA, Endpoint.OPERATION}


def held(agents: Agents) -> Install:
    """A run that is held as Pending, and one after an operator has approved the agent that registered."""

    def play(install: Install) -> None:
        install.world.desk.holds = True
        install.launch("a run that is held as Pending")
        install.world.desk.approve_all()
        install.launch("a run after the approval")

    return agents.scene("held as Pending", play)


def refused(agents: Agents) -> Install:
    """A run whose first code is refused, and any other is not."""

    def play(install: Install) -> None:
        install.world.desk.refusals = 1
        install.launch("a run whose first code is refused")

    return agents.scene("a code refused", play)


def unloved(agents: Agents) -> Install:
    """A run in which the service refuses every token, however fresh."""

    def play(install: Install) -> None:
        install.world.service.refuses_all = True
        install.launch("a run whose tokens are all refused")

    return agents.scene("fresh tokens refused", play)


def renewed(agents: Agents) -> Install:
    """A run that gets a token, and one in which that has expired; a refresh token still is good.

    The service answers with the challenge, as it does where there is no token, and says no more.
    """

    def play(install: Install) -> None:
        install.launch("a run that gets a token")
        install.world.desk.end_access_tokens()
        install.world.service.says_why = False
        install.launch("a run in which the access token alone has expired")

    return agents.scene("the access token expired", play)


def recovered(agents: Agents, case: str) -> Install:
    """A run throughout which something fails, and one in which nothing does any more."""
    endpoint, answer = FAULTS[case]

    def play(install: Install) -> None:
        script = _script(install.world, endpoint)
        script.always(endpoint, answer)
        install.launch(f"a run in which {case}")
        script.clear()
        install.launch(f"the run after one in which {case}")

    return agents.scene(case, play)


def _script(world: AgentWorld, endpoint: Endpoint) -> Script:
    return world.service.script if endpoint in _OF_THE_SERVICE else world.desk.script
