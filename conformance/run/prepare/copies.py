"""Further instances of a gateway, each with its own merchant, that are started side by side."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path

from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.context.gateway import GatewayContext
from gateproof.conformance.run.prepare.gateway import CannotRun, Prepared, prepare
from gateproof.conformance.targets.launch import stop_all
from gateproof.conformance.targets.model import GatewayTarget

# So many start at the same time: more would only wait for a processor, and a start has a time limit.
_AT_ONCE = 4
_POLL_S = 0.05


def prepare_copies(
    target: GatewayTarget | Embedded, number: int, folder: Path, seed: int, stack: ExitStack
) -> list[Prepared[GatewayContext]]:
    """Starts so many instances, each with a folder below this one; the stack stops them.

    One that does not start beside others is started once more, alone: it may be slow, or lock a file. If this
    process is interrupted meanwhile, launched targets are stopped.
    """
    if not number:
        return []
    starters = ThreadPoolExecutor(min(number, _AT_ONCE))
    # Not before the targets have ended: some ask the kernel to end with the thread that started them.
    stack.callback(starters.shutdown)
    found = [
        starters.submit(_one, target, folder / f"instance-{position + 2}", seed, stack)
        for position in range(number)
    ]
    try:
        wait(found)
    except BaseException:
        _give_up(found)
        raise
    return [
        _one(target, folder / f"instance-{position + 2}-again", seed, stack)
        if isinstance(each.exception(), CannotRun)
        else each.result()
        for position, each in enumerate(found)
    ]


def _one(
    target: GatewayTarget | Embedded, folder: Path, seed: int, stack: ExitStack
) -> Prepared[GatewayContext]:
    folder.mkdir()
    # Of its own: two threads must not enter contexts of one stack in turn.
    own = ExitStack()
    stack.push(own)
    return prepare(target, folder, seed, own)


def _give_up(starting: Sequence[Future[Prepared[GatewayContext]]]) -> None:
    """Lets the starts fail: a target that does not get ready would be waited for."""
    for each in starting:
        each.cancel()
    while not all(each.done() for each in starting):
        stop_all()
        wait(starting, timeout=_POLL_S)
