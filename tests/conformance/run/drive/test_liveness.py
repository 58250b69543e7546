"""A target that has fallen silent by the end of a run is told from one that answers, whatever it answers."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gateproof.conformance.run.drive import liveness
from gateproof.conformance.targets.file import load

sys.path.insert(0, str(Path(__file__).parents[1]))
from dead_answers import DEAD, always, serving

TARGET = """
[target]
role = "{role}"
name = "late"
version = "0"
{addresses}
[limits]
request_timeout_s = 0.3
"""
GATEWAY = 'base_url = "{url}"\ncore_url = "{url}"'
SERVICE = 'service_url = "{url}"\n[operation]\nkind = "http"\npath = "/orders"'


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "PAUSES_S", (0.0, 0.0))


def silence(folder: Path, role: str, url: str) -> str:
    file = folder / "target.toml"
    addresses = (GATEWAY if role == "gateway" else SERVICE).format(url=url)
    file.write_text(TARGET.format(role=role, addresses=addresses))
    return liveness.silence(SimpleNamespace(target=load(file)))  # type: ignore[arg-type]


@pytest.mark.parametrize("role", ["gateway", "service"])
@pytest.mark.parametrize("answer", ["404", "500"])
def test_any_answer_is_one(tmp_path: Path, role: str, answer: str) -> None:
    with serving(DEAD[answer]) as url:
        assert silence(tmp_path, role, url) == ""


def test_being_asked_to_wait_is_an_answer(tmp_path: Path) -> None:
    with serving(always(429)) as url:
        assert silence(tmp_path, "gateway", url) == ""


@pytest.mark.parametrize("role", ["gateway", "service"])
def test_silence_is_told(tmp_path: Path, role: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        said = silence(tmp_path, role, f"http://127.0.0.1:{deaf.getsockname()[1]}")

    assert said.startswith("the target had stopped answering by the end of the run: no answer within")
