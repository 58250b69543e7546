"""Asking the command line for help loads none of the libraries that are slow to load."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    "allure_commons",
    "cryptography",
    "httpx",
    "hypothesis",
    "jwt",
    "pytest",
    "rich",
    "selectolax",
    "starlette",
    "trustme",
    "uvicorn",
}
ASK = """
import json, sys
code = None
try:
    {doing}
except SystemExit as end:
    code = end.code
print()
print(json.dumps([code, sorted({{name.partition(".")[0] for name in sys.modules}})]))
"""
CALL = "sys.argv[1:] = {arguments}; from gateproof.conformance.cli import main; code = main()"


def loaded_after(doing: str) -> set[str]:
    # -I keeps the folder that the tests were started in out of what can be imported.
    command = [sys.executable, "-I", "-c", ASK.format(doing=doing)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert answer.returncode == 0, answer.stderr
    code, names = json.loads(answer.stdout.splitlines()[-1])
    assert not code, answer.stderr
    return set(names)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["list"], ["explain", "REDEEM-05"]], ids=lambda each: each[0]
)
def test_the_command_line_starts_without_heavy_libraries(arguments: list[str]) -> None:
    assert loaded_after(CALL.format(arguments=arguments)) & HEAVY == set()


def test_a_heavy_library_would_be_noticed() -> None:
    assert loaded_after("import httpx") & HEAVY == {"httpx"}
