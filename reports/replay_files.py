"""The replay files: one small file for each failed check, for `gateproof replay`."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, Verdict

SCHEMA: Final = "gateproof/replay/1"
FOLDER: Final = "replay"
# A failure of an end-of-run check is repeated by a run with the rules that caused it.
RUN: Final = "run"
# A check without replay data is repeated by its name and the seed of its run.
_BY_NAME: Final[Mapping[str, str]] = {"kind": "check"}
# Options that select rules, limit the time, or change what decides.
_WITH_A_VALUE = {"--only", "--skip", "--shard", "--baseline", "--profile", "--minutes", "--database"}
_FLAGS = {"--certify", "--strict"}
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def render(result: RunResult) -> dict[str, bytes]:
    """A file for each failed check that can be repeated by itself."""
    documents = dict(failures(result))
    return {
        path: (json.dumps(documents[check], indent=1) + "\n").encode("ascii")
        for check, path in paths(result).items()
    }


def failures(result: RunResult) -> Iterator[tuple[str, dict[str, Any]]]:
    """For each failed check its ID and its replay document."""
    for check in _failed(result):
        yield (
            check.id,
            {
                "schema": SCHEMA,
                "role": result.role,
                "target": str(result.target.get("name") or ""),
                # A failed step is repeated by the check in which it failed.
                "check": (check.replay or {}).get("check", check.id),
                "seed": result.run.get("seed"),
                "command": str(result.run.get("command") or ""),
                "repeat": dict(check.replay or _BY_NAME),
            },
        )


def paths(result: RunResult) -> dict[str, str]:
    """The path of the replay file by check ID, for each failed check that can be repeated by itself."""
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
    """The options with which the run's command selects what is needed for this failure."""
    failed = [check for check in rule.checks if check.verdict is Verdict.FAILED]
    if failed and all(map(is_of_a_run, failed)):
        return selected(rule.id, (failed[0].replay or {}).get("rules"))
    # A failed step is repeated by the rules of the checks in which it failed.
    repeating = [str((check.replay or {}).get("check", check.id)).partition("/")[0] for check in failed]
    return selected(repeating[0] if repeating else rule.id, repeating or [rule.id])


def selected(rule: str, beside: object) -> str:
    """The same for a rule and the rules that caused its failure; empty (the whole run) without such rules."""
    if not isinstance(beside, list | tuple) or not beside:
        return ""
    return "".join(f" --only {shlex.quote(each)}" for each in dict.fromkeys([rule, *map(str, beside)]))


def without_selection(command: str) -> str:
    """The command of a run without its selection."""
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
    """The steps of a failed history, one sentence each; empty for any other failure."""
    replay = check.replay or {}
    told = replay.get("story") if replay.get("kind") == "history" else None
    return [str(sentence) for sentence in told] if isinstance(told, list | tuple) else []


def is_of_a_run(check: CheckResult) -> bool:
    """True if only a whole run can repeat the failure."""
    return (check.replay or {}).get("kind") == RUN


def _failed(result: RunResult) -> list[CheckResult]:
    return [check for rule in result.rules for check in rule.checks if check.verdict is Verdict.FAILED]
