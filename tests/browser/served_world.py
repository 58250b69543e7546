"""Serves the reference world, with a gateway that writes down what no browser may receive.

The browser's environment has a browser and not the project, so this runs in the project's own. It prints the
facts of the world as one line of JSON, and stops when its stdin ends.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from conformance.run.session import workplace
from conformance.run.showcase import start_world
from conformance.run.stopping import terminated_as_interrupted

GATEWAY = Path(__file__).parent / "telling_gateway.py"


def main() -> int:
    with terminated_as_interrupted(), workplace() as (folder, stack):
        told = folder / "told.jsonl"
        told.touch()
        os.environ["TOLD_FILE"] = str(told)
        world = start_world(folder, stack, (sys.executable, str(GATEWAY)))
        print(json.dumps(world.facts | {"told_file": str(told)}), flush=True)
        sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
