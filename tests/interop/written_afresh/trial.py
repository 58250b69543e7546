"""Runs every rule, certifying, on the implementations here: `trial.py [NAME…] [--seeds 7 11 23]`.

They were written from the specification alone, on libraries that are in use. Each gets an environment of its own in its
folder, exactly as its lock says.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
NAMES = ("gateway_python", "gateway_node", "service_python", "agent_python")
LIMIT_S = 3600


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--seeds", nargs="+", type=int, default=[7])
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no implementation is called {', '.join(sorted(unknown))}")
    codes = [run(name, seed) for name in options.names or NAMES for seed in options.seeds if installed(name)]
    return max(codes, default=1)


def installed(name: str) -> bool:
    """Installs what the lock names, and makes the certificate of a gateway; says so where there is no Node."""
    folder = HERE / name
    if (folder / "package-lock.json").exists():
        if shutil.which("node") is None:
            print(f"{name}: left out, there is no Node")
            return False
        subprocess.run(["sh", str(ROOT / "requirements" / "npm.sh"), str(folder), str(folder)], check=True, timeout=LIMIT_S)
        subprocess.run(["sh", "make-dev-tls.sh"], cwd=folder, check=True, timeout=60)
        return True
    python = folder / ".venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / ".venv")], check=True, timeout=LIMIT_S)
        lock = str(folder / "requirements.txt")
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "-r", lock], check=True, timeout=LIMIT_S)
    if name == "gateway_python":
        subprocess.run([str(python), "-m", "gateway.certificates", "tls"], cwd=folder, check=True, timeout=60)
    return True


def run(name: str, seed: int) -> int:
    """The exit code of a certifying run."""
    target, out = HERE / name / "target.toml", HERE / name / "gateproof-report"
    command = [sys.executable, "-m", "gateproof", "run", "--target", str(target), "--certify", "--seed", str(seed)]
    code = subprocess.run([*command, "--out", str(out)], check=False, timeout=LIMIT_S).returncode
    print(f"{name}, seed {seed}: exit {code}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
