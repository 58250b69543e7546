"""Measures memory, open files and processes of a campaign while it runs.

Runs a campaign against the embedded reference in its own process, and measures its whole process tree every
two seconds. Memory counts as constant if the last third uses not much more than the second third. The first
third is the warm-up.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from processes import Look, look, tree

BOUND = 1.15
_EVERY_S = 2.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], metavar="GLOB")
    parser.add_argument("--check", action="store_true", help="exit 1 when memory or files grow")
    arguments = parser.parse_args()
    only = [word for glob in arguments.only or ["ROBUST-0[14]", "AUTHZ-06"] for word in ("--only", glob)]
    with tempfile.TemporaryDirectory(prefix="gateproof-campaign-") as folder:
        command = [sys.executable, "-m", "gateproof", "run", "--quiet", "--format", "none", *only]
        command += ["--profile", "campaign", "--minutes", str(arguments.minutes)]
        command += ["--workers", str(arguments.workers)]
        began, looks, seen = time.monotonic(), list[Look](), set[int]()
        root = Path(__file__).parent.parent
        with subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(root)}) as running:
            while running.poll() is None:
                looks.append(look(running.pid))
                seen.update(tree(running.pid))
                time.sleep(_EVERY_S)
    print(f"exit {running.returncode} after {time.monotonic() - began:.0f} s, {len(looks)} looks")
    third = max(1, len(looks) // 3)
    parts = looks[third : 2 * third], looks[2 * third :]
    grown = []
    for name in ("memory_mb", "files", "processes"):
        before, after = (statistics.median(getattr(each, name) for each in part) for part in parts)
        most = max(getattr(each, name) for each in looks)
        grown.append(after / before)
        print(f"{name:10} {before:7.0f} in the second third, {after:7.0f} in the last, {most:7.0f} at most")
    left = [pid for pid in seen if Path(f"/proc/{pid}").exists()]
    print(f"{len(left)} processes left of {len(seen)}")
    worse = max(grown[:2]) > BOUND or bool(left) or running.returncode != 0
    return 1 if arguments.check and worse else 0


if __name__ == "__main__":
    sys.exit(main())
