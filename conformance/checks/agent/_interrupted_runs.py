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
# Only calls with a token contain this text.
AUTHORIZED = "\nauthorization: "
# How long the user would stay at the sign-in; the signal ends it earlier.
_SIGNS_IN_S = 30.0


def interrupted(agents: Agents) -> Install:
    """A run that is asked to end while it waits for the orders with a token, and the next run.

    The install has registered in an earlier run, so its client was stored before the signal.
    """

    def play(install: Install) -> None:
        script, journal = install.world.service.script, install.world.service.journal
        install.launch("a run that gets a token")
        mark = journal.mark()
        script.always(Endpoint.OPERATION, Answer(hangs=True, whose=AUTHORIZED))
        install.launch(
            "a run that is asked to end while it waits for the orders",
            until=lambda: any(AUTHORIZED in call.text() for call in journal.since(mark)),
        )
        script.clear()
        install.launch_after_trouble("the run after one that was asked to end")

    return agents.scene(ASKED_TO_END, play)


def interrupted_at_sign_in(agents: Agents) -> Install:
    """A run that is interrupted as by Ctrl-C while its user signs in, and the next run.

    The install has registered and used tokens in an earlier run, so the signal cannot come before the client
    was stored.
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
    """SIGINT; SIGTERM if the harness ignores SIGINT, as in background shell jobs: its agents inherit that."""
    return signal.SIGTERM if signal.getsignal(signal.SIGINT) is signal.SIG_IGN else signal.SIGINT


def not_killed(run: Run) -> None:
    """Raises LeftOut if the agent had to be killed: as after a power failure, its state may be incomplete."""
    if run.killed:
        raise LeftOut("the agent does not end when it is asked to, and had to be killed")


def not_cut_off(run: Run) -> None:
    """Raises LeftOut for an agent that a signal ended: it may save its client only at its normal end."""
    if run.cut_off:
        raise LeftOut("the agent was ended by a signal, and may not have kept its client by then")
