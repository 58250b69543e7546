"""The output on the terminal, during a run and after it."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import TextIO

from gateproof.reports.escaping import visible, without_commands
from gateproof.reports.exchanges import Shown, answer_text, curl, outcome, request_text
from gateproof.reports.fault_matrix import faults_in_a_line
from gateproof.reports.replay_files import is_of_a_run, selection, story
from gateproof.reports.summary_texts import decides, has_own_ca, is_partial
from gateproof.reports.symbols import SIGNS
from gateproof.reports.verdicts import (
    CheckResult,
    Reason,
    RuleResult,
    RunResult,
    RunVerdict,
    Verdict,
    deciding_levels,
    many,
)

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "bold": "1", "faint": "2"}
_TONES = {
    Verdict.FAILED: "red",
    Verdict.ERROR: "yellow",
    Verdict.NOT_TESTABLE: "yellow",
}
# The path of a Resource's authorization endpoint.
_AUTHORIZATION = "/oauth2/auth"
# A random marker for the start of our own colour codes, which a target cannot know.
_OURS = f"\0{secrets.token_hex(6)}"
_COLOUR = re.compile(f"({_OURS}\\[[0-9;]*m)")
_MOST_LINES = 24
_MOST_STEPS = 10
_LONGEST_LINE = 600


@dataclass(frozen=True, kw_only=True)
class Screen:
    """An output stream, its width, and whether it supports colour (`colour`) and overwriting (`live`)."""

    out: TextIO
    colour: bool
    live: bool
    width: int

    def paint(self, text: str, *colours: str) -> str:
        if not self.colour:
            return text
        return f"{_OURS}[{';'.join(_COLOURS[name] for name in colours)}m{text}{_OURS}[0m"

    def say(self, text: str = "") -> None:
        print(_shown(text), file=self.out, flush=True)

    def fill(self, text: str, first: str, then: str) -> None:
        """Prints wrapped text."""
        self.say(
            textwrap.fill(
                text, self.width, initial_indent=first, subsequent_indent=then, break_on_hyphens=False
            )
        )


def _shown(text: str) -> str:
    """The text without control characters and CI commands, except our own colour codes."""
    pieces = (piece if _COLOUR.fullmatch(piece) else visible(piece) for piece in _COLOUR.split(text))
    lines = "".join(pieces).split("\n")
    return "\n".join(without_commands(line) for line in lines).replace(_OURS, "\033")


def screen(given: TextIO | None = None, *, no_color: bool = False) -> Screen:
    """The screen for an output stream (standard output by default): a terminal, a CI log or a file."""
    out = given if given is not None else sys.stdout
    terminal = out.isatty() and os.environ.get("TERM") != "dumb"
    encoding = (getattr(out, "encoding", None) or "ascii").lower().replace("-", "")
    if not encoding.startswith("utf"):
        reconfigure: Callable[..., None] | None = getattr(out, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    coloured = terminal or bool(os.environ.get("FORCE_COLOR"))
    return Screen(
        out=out,
        colour=coloured and not no_color and not os.environ.get("NO_COLOR"),
        live=terminal,
        width=min(shutil.get_terminal_size((100, 24)).columns, 110),
    )


class Counting:
    """Progress of long work: one line that is overwritten on a terminal, a line now and then elsewhere."""

    def __init__(self, screen: Screen, total: int, noun: str, *, silent: bool = False) -> None:
        self._screen = screen
        self._total = total
        self._noun = noun
        self._silent = silent
        self._every_s = 0.1 if screen.live else 5.0
        self._done = 0
        self._failed = 0
        self._said = time.monotonic()

    def add(self, name: str, *, failed: bool) -> None:
        """Counts one more finished item."""
        self._done += 1
        self._failed += failed
        now = time.monotonic()
        if not self._silent and now - self._said >= self._every_s:
            self._said = now
            self._show(f"  {self._done}/{self._total} {self._noun}, {self._failed} failed, at {name}")

    def end(self) -> None:
        """Removes the progress line."""
        if self._screen.live and not self._silent:
            self._screen.out.write("\r\033[K")
            self._screen.out.flush()

    def _show(self, line: str) -> None:
        if self._screen.live:
            self._screen.out.write(f"\r\033[K{line[: self._screen.width - 1]}")
            self._screen.out.flush()
        else:
            self._screen.say(line)


def failures(
    screen: Screen,
    result: RunResult,
    *,
    again: str,
    repeats: Mapping[str, str] = MappingProxyType({}),
    steps: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Every failed or broken check, the worst first; for each rule the first in full, the others in short.

    `repeats` has the replay command by check ID; `steps` has the next step for the operator by rule ID.
    """
    for verdict in (Verdict.FAILED, Verdict.ERROR):
        for rule in result.rules:
            findings = _findings(rule, verdict)
            for check, *same in findings[:1]:
                _claim(screen, check, same)
                _field(screen, "rule", f"{rule.title} [{rule.level}]")
                _field(screen, "spec", rule.section)
                _course(screen, check, own_ca=has_own_ca(result))
                _field(screen, "next", steps.get(rule.id, ""))
                once_more = f"{again}{selection(rule)}"
                _by_launching(screen, check, repeats.get(check.id) or once_more)
                _field(screen, "again", once_more)
                _field(screen, "replay", "" if check.scenario else repeats.get(check.id, ""))
                each = "; report.html and junit.xml have the exchanges of each failed check"
                several = sum(map(len, findings)) > 1
                _field(screen, "more", f"gateproof explain {rule.id}{each if several else ''}")
                screen.say()
            for check, *same in findings[1:]:
                _claim(screen, check, same)
                screen.say()


def _findings(rule: RuleResult, verdict: Verdict) -> list[list[CheckResult]]:
    """The checks with this verdict, grouped by equal findings."""
    # Checks that can be repeated by themselves come first.
    broken = sorted((check for check in rule.checks if check.verdict is verdict), key=is_of_a_run)
    found: dict[tuple[str, str, str], list[CheckResult]] = {}
    for check in broken:
        found.setdefault((check.what, check.expected, check.got), []).append(check)
    return list(found.values())


def _claim(screen: Screen, check: CheckResult, same: Sequence[CheckResult]) -> None:
    """What was expected and what was found, and the other checks that found the same."""
    sign, colour = SIGNS[check.verdict], _TONES[check.verdict]
    screen.say(screen.paint(f"{sign} {check.verdict.upper()}  {check.id}", colour, "bold"))
    if check.expected:
        _field(screen, "expected", f"{check.what}: {check.expected}")
        _field(screen, "got", check.got)
        _field(screen, "perhaps", check.question)
    else:
        _field(screen, "what", check.what)
    if same:
        names = Counter(each.id.partition("/")[2].partition("[")[0] for each in same)
        listed = ", ".join(name if count == 1 else f"{name} ({count} cases)" for name, count in names.items())
        _field(screen, "same in", f"{many(len(same), 'more check')}: {listed}")


def _course(screen: Screen, check: CheckResult, *, own_ca: bool) -> None:
    """How the failure happened: observations, steps, and the decisive exchange in full."""
    for number, sentence in enumerate(story(check), start=1):
        screen.fill(sentence, f"    {number:>3}. ", " " * 9)
    for name, fact in check.observations.items():
        for place, line in enumerate(_members(str(fact))):
            _field(screen, name if place == 0 else "", line)
    meant = check.decisive
    if meant is None:
        _field(screen, "steps", _steps(check.exchanges))
        return
    _exchange(screen, check.exchanges, meant)
    if check.scenario:
        return
    last = check.exchanges[meant]
    asked = [shown for shown in check.exchanges if shown.url.partition("?")[0].endswith(_AUTHORIZATION)]
    if last.step == "browser" and asked:
        _field(screen, "by hand", "open in a browser, with your own values in place of what is hidden")
        screen.say(f"      {asked[-1].url}")
    else:
        screen.say(screen.paint("    by hand", "faint"))
        screen.say(textwrap.indent(curl(last, own_ca=own_ca), "      "))


def _by_launching(screen: Screen, check: CheckResult, command: str) -> None:
    """How to repeat the failure of a target that sends the requests itself."""
    if check.scenario:
        _field(screen, "by hand", f"launch it again: {check.scenario}")
        screen.say(f"      {command}")


def _exchange(screen: Screen, exchanges: Sequence[Shown], place: int) -> None:
    """One exchange in full, and the names of the steps before and after it."""
    meant = exchanges[place]
    _field(screen, "before", _steps(exchanges[:place]))
    _field(screen, "then", f"{meant.step}: {outcome(meant)}")
    screen.say(_quoted(request_text(meant), "      > "))
    screen.say(_quoted(answer_text(meant), "      < "))
    _field(screen, "after", _steps(exchanges[place + 1 :]))


def _members(fact: str) -> list[str]:
    """A JSON object member by member; any other text unchanged."""
    try:
        document = json.loads(fact)
    except ValueError:
        return [fact]
    if not isinstance(document, dict):
        return [fact]
    return [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in document.items()]


def _steps(exchanges: Sequence[Shown]) -> str:
    """The steps with their outcomes; repeated steps are grouped, and only the last ones are shown."""
    told = [
        f"{step} {' '.join(_times(list(same)))}" for step, same in groupby(exchanges, lambda each: each.step)
    ]
    left_out = [f"{many(len(told) - _MOST_STEPS, 'step')} left out"] if len(told) > _MOST_STEPS else []
    return ", ".join([*left_out, *told[-_MOST_STEPS:]])


def _times(exchanges: Sequence[Shown]) -> list[str]:
    counted = [(answer, len(list(same))) for answer, same in groupby(map(outcome, exchanges))]
    return [answer if times == 1 else f"{answer} ({times} times)" for answer, times in counted]


def _quoted(text: str, mark: str) -> str:
    """The text, shortened for a terminal; the report has all of it."""
    lines = text.splitlines()
    shown = [
        line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in lines[:_MOST_LINES]
    ]
    if len(lines) > _MOST_LINES:
        shown.append(f"… {many(len(lines) - _MOST_LINES, 'more line')}")
    return textwrap.indent("\n".join(shown), mark, lambda _: True)


def summary(screen: Screen, result: RunResult) -> None:
    """What was not tested, what failed, the counts, and the verdict."""
    for verdict in (Verdict.NOT_TESTABLE, Verdict.ERROR, Verdict.FAILED):
        rules = [rule for rule in result.rules if rule.verdict is verdict]
        if not rules:
            continue
        sign, colour = SIGNS[verdict], _TONES[verdict]
        screen.say(screen.paint(f"{sign} {verdict.value} ({len(rules)})", colour, "bold"))
        for reason, ids in _by_reason(rules, verdict).items():
            text = f"{', '.join(ranges(ids))}: {reason}"
            screen.fill(text, "    ", "      ")
    for why, lacking in parts_left_out(result).items():
        named = ", ".join(f"{name} ({many(number, 'case')})" for name, number in lacking.items())
        screen.fill(f"left out of rules that were tested: {why}: {named}", "", "  ")
    counts = ", ".join(f"{count} {name}" for name, count in result.counts.items() if count)
    screen.say(f"{many(len(result.rules), 'rule')}: {counts}")
    if faults := faults_in_a_line(result):
        screen.say(faults)
    screen.say(_verdict(screen, result))
    if said := undecided(result):
        screen.say(said)


def parts_left_out(result: RunResult) -> dict[str, dict[str, int]]:
    """For each missing need, the checks that did not run for it, of rules that were tested."""
    found: dict[str, Counter[str]] = {}
    for rule in result.rules:
        if rule.verdict is Verdict.NOT_TESTABLE:
            continue
        for check in rule.checks:
            if check.verdict is Verdict.NOT_TESTABLE and check.reason is Reason.NEED_MISSING:
                found.setdefault(check.message, Counter())[check.id.partition("[")[0]] += 1
    return {why: dict(checks) for why, checks in found.items()}


def undecided(result: RunResult) -> str:
    """The failed rules that decide only with --strict; empty if there are none."""
    found = [
        rule.id
        for rule in result.rules
        if rule.verdict is Verdict.FAILED
        and not rule.baselined
        and not decides(result, rule)
        and rule.level in deciding_levels(strict=True)
    ]
    if not found:
        return ""
    return f"{many(len(found), 'rfc rule')} failed: {', '.join(ranges(found))}; this decides with --strict"


def _verdict(screen: Screen, result: RunResult) -> str:
    colour = {
        RunVerdict.CONFORMANT: "green",
        RunVerdict.NOT_CONFORMANT: "red",
    }.get(result.verdict, "yellow")
    name = f"{result.target.get('name', '')} {result.target.get('version', '')}".strip()
    return f"{screen.paint(result.verdict.value, colour, 'bold')}  {name}: {result.reason}{partial(result)}"


def partial(result: RunResult) -> str:
    """The addition to the verdict if only a part of the rules was selected."""
    if not is_partial(result):
        return ""
    selection = result.run["selection"]
    chosen = [name for name in ("only", "skip", "shard") if selection.get(name)]
    return f" (a part of the rules, by --{' and --'.join(chosen)})"


def ranges(ids: Sequence[str]) -> list[str]:
    """Rule IDs with consecutive numbers joined: KEYS-01, KEYS-02 and KEYS-03 are KEYS-01…03."""
    runs: list[list[str]] = []
    for rule_id in ids:
        family, _, number = rule_id.rpartition("-")
        if runs:
            before, _, last = runs[-1][-1].rpartition("-")
            if before == family and int(number) == int(last) + 1:
                runs[-1].append(rule_id)
                continue
        runs.append([rule_id])
    return [run[0] if len(run) == 1 else f"{run[0]}…{run[-1].rpartition('-')[2]}" for run in runs]


def _by_reason(rules: Sequence[RuleResult], verdict: Verdict) -> dict[str, list[str]]:
    """The rules grouped by reason, which is that of one check; further failed checks are counted."""
    reasons: dict[str, list[str]] = {}
    for rule in rules:
        others = sum(check.verdict is verdict for check in rule.checks) - 1
        counted = verdict in {Verdict.FAILED, Verdict.ERROR} and others > 0
        more = f"; and {many(others, 'more check')}" if counted else ""
        reasons.setdefault(f"{rule.reason}{more}", []).append(rule.id)
    return reasons


def _field(screen: Screen, name: str, text: str) -> None:
    if not text:
        return
    label = f"    {name:<8} "
    lines = textwrap.wrap(
        text, max(screen.width - len(label), 40), break_long_words=False, break_on_hyphens=False
    )
    for number, line in enumerate(lines):
        screen.say((screen.paint(label, "faint") if number == 0 else " " * len(label)) + line)
