"""A machine that has nothing left for another connection: that says nothing about the target."""

from __future__ import annotations

import errno

_NOTHING_LEFT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})


class Exhausted(Exception):
    """This process could not open a connection for want of file descriptors or memory."""


def raise_if_exhausted(error: BaseException) -> None:
    """Raises Exhausted if that is the reason, or the reason of the reason."""
    reason: BaseException | None = error
    while reason is not None:
        if isinstance(reason, OSError) and reason.errno in _NOTHING_LEFT:
            raise Exhausted(
                f"this machine has nothing left for another connection ({reason.strerror}): raise the limit, "
                "for example with ulimit -n 4096, or use fewer --workers"
            ) from None
        reason = reason.__cause__ or reason.__context__
