"""What repeats each failed check: one small file a check, for `gateproof replay`."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, Verdict

SCHEMA: Final = "gateproof/replay/1"
FOLDER: Final = "replay"
# What is about all that a run received is repeated by a run with the rules that brought it up.
RUN: Final = "run"
# A check that kept nothing of its own is repeated by its name and the seed of its run.
_BY_NAME: Final[Mapping[str, str]] = {"kind": "check"}
# What says how much of the catalogue a run asks, for how long, and what decides.
_WITH_A_VALUE = {"--only", "--skip", "--shard", "--baseline", "--profile", "--minutes", "--database"}
_FLAGS = {"--certify", "--strict"}
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def render(result: RunResult) -> dict[str, bytes]:
    """A file for each failed check that can be repeated alone."""
    documents = dict(failures(result))
    return {
        path: (json.dumps(documents[check], indent=1) + "\n").encode("ascii")
        for check, path in paths(result).items()
    }


def failures(result: RunResult) -> Iterator[tuple[str, dict[str, Any]]]:
    """By the identifier of each failed check, what repeats it."""
    for check in _failed(result):
        yield (
            check.id,
            {
                "schema": SCHEMA,
                "role": result.role,
                "target": str(result.target.get("name") or ""),
                "check": check.id,
                "seed": result.run.get("seed"),
                "command": str(result.run.get("command") or ""),
                "repeat": dict(check.replay or _BY_NAME),
            },
        )


def paths(result: RunResult) -> dict[str, str]:
    """By the identifier of each failed check that can be repeated alone, its file below the report."""
    found: dict[str, str] = {}
    for check in _failed(result):
        if is_of_a_run(check):
            continue
        name = _NOT_IN_A_NAME.sub("-", check.id).strip("-.")
        path, number = f"{FOLDER}/{name}.json", 2
        while path in found.values():
            path, number = f"{FOLDER}/{name}-{number}.json", number + 1
        found[check.id] = path
    return found


def selection(rule: RuleResult) -> str:
    """What the command of the run has to select so that the rule fails again: that, and little else."""
    failed = [check for check in rule.checks if check.verdict is Verdict.FAILED]
    if failed and all(map(is_of_a_run, failed)):
        return selected(rule.id, (failed[0].replay or {}).get("rules"))
    return selected(rule.id, [rule.id])


def selected(rule: str, beside: object) -> str:
    """The same for a rule and those that brought its failure up; without any, it is all of the run."""
    if not isinstance(beside, list | tuple) or not beside:
        return ""
    return "".join(f" --only {shlex.quote(each)}" for each in dict.fromkeys([rule, *map(str, beside)]))


def without_selection(command: str) -> str:
    """The command of a run, for whoever selects anew."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    kept, rest = list[str](), iter(words)
    for word in rest:
        if word in _WITH_A_VALUE:
            next(rest, None)
        elif word not in _FLAGS:
            kept.append(word)
    return shlex.join(kept)


def story(check: CheckResult) -> list[str]:
    """The history that a failure is about, a sentence a step; nothing for any other failure."""
    replay = check.replay or {}
    told = replay.get("story") if replay.get("kind") == "history" else None
    return [str(sentence) for sentence in told] if isinstance(told, list | tuple) else []


def is_of_a_run(check: CheckResult) -> bool:
    """True where no request and no check by itself shows the failure again."""
    return (check.replay or {}).get("kind") == RUN


def _failed(result: RunResult) -> list[CheckResult]:
    return [check for rule in result.rules for check in rule.checks if check.verdict is Verdict.FAILED]
