"""Detects that this machine has no resources for another connection: no fault of the target."""

from __future__ import annotations

import errno

_NOTHING_LEFT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})


class Exhausted(Exception):
    """This process could not open a connection because it lacks file descriptors or memory."""


def raise_if_exhausted(error: BaseException) -> None:
    """Raises Exhausted if the exception, or one that caused it, says so."""
    reason: BaseException | None = error
    while reason is not None:
        if isinstance(reason, OSError) and reason.errno in _NOTHING_LEFT:
            raise Exhausted(
                f"this machine has no resources for another connection ({reason.strerror}): raise the limit, "
                "for example with ulimit -n 4096, or use fewer --workers"
            ) from None
        reason = reason.__cause__ or reason.__context__
