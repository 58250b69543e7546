"""Serves the reference world to a browser, and keeps what that receives and what it may not receive.

The browser's environment has a browser and not the project, so this runs in the project's own. It prints the
facts of the world as one line of JSON, and stops when its stdin ends.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.run.drive.session import temporary_run_folder
from gateproof.conformance.run.drive.signals import terminated_as_interrupted
from gateproof.conformance.run.reference_world import start_world

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from recording_proxy import recording  # noqa: E402 - it stands beside this file, in no package


def main() -> int:
    with terminated_as_interrupted(), temporary_run_folder() as (folder, stack):
        told, received, own = folder / "told.jsonl", folder / "received", folder / "proxy"
        told.touch()
        received.mkdir()
        own.mkdir()
        os.environ["TOLD_FILE"] = str(told)
        world = start_world(folder, stack, (sys.executable, str(HERE / "telling_gateway.py")))
        certificate = Authority(own).issue("proxy")
        files = (certificate.cert_file, certificate.key_file)
        proxy = stack.enter_context(recording(received, files, world.facts["ca_file"]))
        kept = {"told_file": str(told), "received_folder": str(received), "proxy_url": proxy}
        print(json.dumps(world.facts | kept), flush=True)
        sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
