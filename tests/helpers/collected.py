"""`python collected.py ARGUMENT…` loads the tests that pytest finds with these arguments; forks its workers.

Each worker of xdist would import every test by itself, and in a new checkout also compile it.
"""

from __future__ import annotations

import contextlib
import gc
import io
import sys

import pytest


def serve() -> None:
    # pytest has to load what they import first, because it rewrites some of that.
    import warm  # noqa: PLC0415
    import warm_server  # noqa: PLC0415

    from gateproof.forks.server import ForkServer, listening_in  # noqa: PLC0415

    gc.freeze()
    with listening_in(warm.OF_TESTS) as listening:
        print("listening", flush=True)
        ForkServer(listening, sys.stdin.fileno(), warm_server.program).serve()


def main() -> None:
    # What cannot be loaded is reported by the workers, which try again.
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        pytest.main([*sys.argv[1:], "--collect-only", "--quiet", "--capture=no", "--numprocesses=0"])
    serve()


if __name__ == "__main__":
    main()
