"""The text of the browser command: a program that hands an address and its environment to the harness.

Agents in any language start it like a browser. The port and token of the harness are in a file, not in the
arguments, which other users of the machine could see. A proof starts it thousands of times: bash starts seven
times as fast as Python, so Python is used only where bash or /proc lacks something.
"""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

_IN_PYTHON = Path(__file__).with_name("browser_caller.py")
# The environment as the agent gave it; bash itself leaves out what is no variable.
_READ_ENVIRONMENT = "mapfile -d '' -t given < /proc/self/environ"
_CONNECT = 'exec 3<> "/dev/tcp/127.0.0.1/$port"'
# As in browser_caller.py, with which it shares the protocol. -p: bash reads no file that a variable names.
_IN_BASH = f"""#!{{bash}} -p
exec 2> /dev/null
trap 'exit 1' INT
LC_ALL=C
{_READ_ENVIRONMENT} || exit 1
read -r port token < {{place}}
{_CONNECT} || exit 1
printf '%s\\0' "$token" "$#" "${{{{#given[@]}}}}" "$@" "${{{{given[@]}}}}" >&3
read -r -n 1 -t {{patience_s}} code <&3
exit "${{{{code:-1}}}}"
"""
_PATIENCE_S = 60
_TRIED_S = 5.0


def program(place: Path) -> str:
    """The text of the command, for the harness whose port and token are in a file."""
    bash = _bash()
    if bash is not None:
        return _IN_BASH.format(bash=bash, place=shlex.quote(str(place)), patience_s=_PATIENCE_S)
    words = shlex.join([sys.executable, "-I", "-S", str(_IN_PYTHON), str(place)])
    return f'#!/bin/sh\nexec {words} "$@"\n'


@cache
def _bash() -> str | None:
    """The path of a bash that can do all that is needed; None if there is none, as on macOS."""
    found = shutil.which("bash")
    if found is None or not Path(found).is_absolute() or any(map(str.isspace, found)):
        return None
    with socket.create_server(("127.0.0.1", 0)) as harness:
        tried = f"port={harness.getsockname()[1]}; {_READ_ENVIRONMENT} && ((${{#given[@]}})) && {_CONNECT}"
        try:
            done = subprocess.run(
                [found, "-p", "-c", tried],
                env={"A": "1"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TRIED_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
    return found if done.returncode == 0 else None
