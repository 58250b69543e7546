"""Runs that a signal ends, and the next run of the same install."""

from __future__ import annotations

import signal
import threading

from gateproof.conformance.kit.agent.agent import Agents, Install, end_tokens
from gateproof.conformance.kit.agent.browser import Courier
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.visits import Visit
from gateproof.conformance.suite.claims import LeftOut
from gateproof.fakes.gateway.script import Answer, Endpoint

ASKED_TO_END, INTERRUPTED = "it is asked to end", "it is interrupted while its user signs in"
# What is in calls with a token, and in no others.
AUTHORIZED = "\nauthorization: "
# For so long the user stays at the sign-in; the signal ends that.
_SIGNS_IN_S = 30.0


def interrupted(agents: Agents) -> Install:
    """A run that is asked to end while it waits for the orders with a token, and the next run."""

    def play(install: Install) -> None:
        script, journal = install.world.service.script, install.world.service.journal
        script.always(Endpoint.OPERATION, Answer(hangs=True, whose=AUTHORIZED))
        install.launch(
            "a run that is asked to end while it waits for the orders",
            until=lambda: any(AUTHORIZED in call.text() for call in journal.since()),
        )
        script.clear()
        install.launch_after_trouble("the run after one that was asked to end")

    return agents.scene(ASKED_TO_END, play)


def interrupted_at_sign_in(agents: Agents) -> Install:
    """A run that is interrupted as by Ctrl-C while its user signs in, and the next run.

    The install has its client and used its tokens before, so that no signal can come before it was stored.
    """

    def play(install: Install) -> None:
        install.launch("a run that gets a token")
        end_tokens(install.world)
        asked = threading.Event()

        def never_back(_visit: Visit, _redirect: str, courier: Courier) -> None:
            asked.set()
            courier.wait(_SIGNS_IN_S)

        install.launch(
            "a run that is interrupted while its user signs in",
            deliver=never_back,
            until=asked.is_set,
            ends_by=_interrupt(),
        )
        install.launch_after_trouble("the run after one that was interrupted while its user signed in")

    return agents.scene(INTERRUPTED, play)


def _interrupt() -> int:
    """SIGINT; where the harness ignores it, as in the background of a shell, its agents do as well."""
    return signal.SIGTERM if signal.getsignal(signal.SIGINT) is signal.SIG_IGN else signal.SIGINT


def not_killed(run: Run) -> None:
    """Leaves out agents that had to be killed: as after a power failure, anything may be left."""
    if run.killed:
        raise LeftOut("the agent does not end when it is asked to, and had to be killed")


def not_cut_off(run: Run) -> None:
    """Leaves out agents that were ended by a signal: they may save their client only at the end."""
    if run.cut_off:
        raise LeftOut("the agent was ended by a signal, and may not have kept its client by then")
