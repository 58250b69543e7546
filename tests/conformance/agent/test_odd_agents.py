"""Agents that do nothing pass nothing, and agents that will not stop are stopped."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from waiting import alive, eventually
from warm import WARM

from gateproof.conformance.kit.agent import cooldown, visits
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.conformance.targets import launch
from gateproof.conformance.targets.file import load
from gateproof.conformance.targets.model import Target
from gateproof.reports.verdicts import RunResult

pytestmark = pytest.mark.attack

# Each is a whole agent, in Python.
NOTHING = {
    "ends at once": "",
    "says that all is well": "print('read 2 orders')",
    "crashes": "raise SystemExit('no such thing')",
    "is killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "hangs": "import time; time.sleep(600)",
    "hangs and listens to nobody": (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    ),
    "opens the service's front page": (
        "import os, subprocess; subprocess.run([os.environ['BROWSER'], os.environ['GATEPROOF_SERVICE_URL']])"
    ),
    "floods its output": ("import sys; [sys.stdout.buffer.write(b'x' * 1_000_000) for _ in range(100)]"),
    "writes binary": "import os, sys; sys.stdout.buffer.write(os.urandom(300_000))",
}
DAEMON = """
import os, sys, time
for _ in range(3):
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            open(sys.argv[1] + f"/{os.getpid()}", "w").close()
            time.sleep(600)
        os._exit(0)
while sum(name.isdecimal() for name in os.listdir(sys.argv[1])) < 3:
    time.sleep(0.01)
"""

# Its callback is open, and nobody answers there until the browser has returned.
ONE_THREAD = """
import subprocess, sys
from gateproof.reference.agent import callback
from gateproof.reference.agent.command import main
from gateproof.reference.agent.policies import Policies

serve, late = callback.Callback._serve, callback.Callback.next
def answering(self, *arguments):
    serve(self, self._server)
    return late(self, *arguments)
callback.Callback._serve, callback.Callback.next = lambda self, server: None, answering
def waited_for(command, url, say):
    subprocess.run([command, url])
    return lambda: True
sys.exit(main([], Policies(open_browser=waited_for)))
"""

# A service that fails is asked again in a while, and no run is that long.
WAITS_FOR_BETTER_DAYS = """
import sys, time
from gateproof.reference.agent.command import main
from gateproof.reference.agent.policies import Policies

def again(asked, answer):
    if answer.status < 500:
        return None
    time.sleep(600)
    return asked
sys.exit(main([], Policies(followed=again)))
"""

# The address is in a buffer until the run is over, unless somebody sees to it that nothing is buffered.
PRINTS_AND_WAITS = """
import sys
from gateproof.reference.agent.command import main
from gateproof.reference.agent.policies import Policies

def printed(command, url, say):
    print("open", url)
    return lambda: False
sys.exit(main([], Policies(open_browser=printed, user_patience_s=8)))
"""


# After trouble it wants to be left alone for a while.
STANDS_BACK = """
import os, sys, time
from pathlib import Path
from gateproof.reference.agent.command import main
from gateproof.reference.agent.policies import Policies

def around(run):
    not_before = Path(os.environ["GATEPROOF_STATE_DIR"]) / "not-before"
    if not_before.exists() and time.time() < float(not_before.read_text()):
        print("try again in a while")
        return 1
    code = run()
    if code:
        not_before.write_text(str(time.time() + 4))
    return code
sys.exit(main([], Policies(around=around)))
"""

# What it got stands somewhere in more than is searched closely, and not as it is.
FLOODS_AND_ENCODES = """
import base64, sys
from gateproof.reference.agent.command import main
from gateproof.reference.agent.policies import Policies

def told(step, facts):
    if step == "exchange":
        print("nothing to be seen here\\n" * 100_000)
        print(base64.b64encode(facts["tokens"].get("refresh_token", "").encode()).decode())
sys.exit(main([], Policies(told=told)))
"""


def target(folder: Path, program: str, *arguments: str, timeout_s: float = 1.5) -> Target:
    python = WARM if "gateproof" in program else (sys.executable,)
    command = json.dumps([*python, "-c", program, *arguments])
    file = folder / "agent.toml"
    file.write_text(
        f'[target]\nrole = "agent"\nname = "odd"\n[launch]\ncommand = {command}\ntimeout_s = {timeout_s}\n'
    )
    return load(file)


def judged(asked: Target, folder: Path, *only: str) -> RunResult:
    selected = rules.select(rules.load().for_role("agent"), only)
    options = RunOptions(role="agent", seed=5, only=only)
    return carry_out(asked, selected, options, lambda _: None, folder / "report")


@pytest.mark.parametrize("name", list(NOTHING))
def test_nothing_passes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_GRACE_S", 0.5)
    limit_s = 1.5 if name.startswith("hangs") else 30
    # What a flood costs is the same for every rule.
    only = ("AGENT-01", "AGENT-03", "AGENT-12") if name.startswith("floods") else ()
    result = judged(target(tmp_path, NOTHING[name], timeout_s=limit_s), tmp_path, *only)

    verdicts = {rule.id: rule.verdict.value for rule in result.rules}
    assert set(verdicts.values()) <= {"failed", "not-testable"}, verdicts
    # A run that was stopped at its time limit proves nothing, not even that the agent is wrong.
    assert verdicts["AGENT-01"] == ("not-testable" if name.startswith("hangs") else "failed")
    assert (tmp_path / "report" / "evidence.jsonl").is_file()


def test_nothing_is_left_running(tmp_path: Path) -> None:
    judged(target(tmp_path, DAEMON, str(tmp_path), timeout_s=30), tmp_path, "AGENT-01")

    started = [int(path.name) for path in tmp_path.iterdir() if path.name.isdecimal()]
    assert len(started) == 3
    assert eventually(lambda: not any(map(alive, started)))


def test_agent_that_waits_for_its_browser_before_it_answers_gets_through(tmp_path: Path) -> None:
    result = judged(target(tmp_path, ONE_THREAD, timeout_s=30), tmp_path, "AGENT-01", "AGENT-06")

    assert {rule.verdict.value for rule in result.rules} == {"passed"}


def test_address_that_is_printed_and_not_flushed_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    monkeypatch.setattr(visits, "_AGENT_OPENS_WITHIN_S", 0.3)
    result = judged(target(tmp_path, PRINTS_AND_WAITS, timeout_s=30), tmp_path, "AGENT-03")

    assert {rule.verdict.value for rule in result.rules} == {"passed"}


def test_failure_that_is_waited_out_leaves_a_case_out_and_not_the_rule(tmp_path: Path) -> None:
    result = judged(target(tmp_path, WAITS_FOR_BETTER_DAYS, timeout_s=15), tmp_path, "AGENT-12")

    (rule,) = result.rules
    assert rule.verdict.value == "passed", rule.reason
    left = {
        check.id.rpartition("[")[2].rstrip("]") for check in rule.checks if check.verdict.value != "passed"
    }
    assert left == {"the service fails at a token"}


@pytest.mark.parametrize(("waits_s", "verdict"), [(5.0, "passed"), (0.0, "failed")])
def test_agent_that_stands_back_is_waited_for(
    waits_s: float, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cooldown, "BREAKER_S", waits_s)
    result = judged(target(tmp_path, STANDS_BACK, timeout_s=30), tmp_path, "AGENT-08")

    assert [rule.verdict.value for rule in result.rules] == [verdict]


def test_credential_is_found_behind_many_words(tmp_path: Path) -> None:
    result = judged(target(tmp_path, FLOODS_AND_ENCODES, timeout_s=30), tmp_path, "AGENT-14")

    (rule,) = result.rules
    assert rule.verdict.value == "failed"
    seen = {check.id for check in rule.checks if "refresh token, base64" in check.message}
    assert seen == {
        "AGENT-14/normal_run_prints_no_credential",
        "AGENT-14/no_run_prints_a_credential",
        "AGENT-14/refresh_token_of_another_status_is_not_printed",
    }


def test_program_that_is_not_there_has_no_verdict(tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    file.write_text('[target]\nrole = "agent"\nname = "odd"\n[launch]\ncommand = ["no-such-agent"]\n')

    result = judged(load(file), tmp_path, "AGENT-01")

    assert result.verdict.value == "no-verdict"
    assert "no program no-such-agent" in result.reason
