"""The options of `gateproof run`: their parser, their defaults, and the table [run] of a target file."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from gateproof.conformance.cli.report import add_format, add_sign_key
from gateproof.conformance.cli.shards import shard

if TYPE_CHECKING:
    from gateproof.conformance.targets.errors import TargetError

ROLES = ("gateway", "service", "agent")
EXAMPLES = 20
MAX_MINUTES = 240
# Defaults of a campaign.
MINUTES, DATABASE = 10, "gateproof-campaign"
DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "target": None,
        "only": [],
        "skip": [],
        "workers": None,
        "seed": None,
        "shuffle": False,
        "out": Path("gateproof-report"),
        "format": [],
        "sign_key": None,
        "shard": None,
        "baseline": None,
        "faults": True,
        "intercept": True,
        "examples": EXAMPLES,
        "profile": "ci",
        "minutes": None,
        "max_minutes": None,
        "database": None,
        "operation": None,
        "one_origin": False,
        "names": "",
        "deviate": [],
        "trace": False,
        "events": None,
        "rate": None,
        "strict": False,
        "certify": False,
        "fail_fast": False,
        "durations": 0,
        "quiet": False,
        "no_color": False,
    }
)
# Options with a path. In a target file it is relative to the file's folder.
_PATHS = ("out", "sign-key", "baseline", "database", "events")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of a run; with `argument_default=SUPPRESS`, options that are not given are omitted."""
    parser.add_argument("--target", type=Path, metavar="FILE", help="the target file; see gateproof init")
    parser.add_argument("--only", action="append", metavar="GLOB", help="only these rules (repeatable)")
    parser.add_argument("--skip", action="append", metavar="GLOB", help="not these rules (repeatable)")
    parser.add_argument(
        "--workers",
        type=_workers,
        metavar="N|auto",
        help="parallel processes (default: auto, which depends on the machine)",
    )
    parser.add_argument(
        "--seed",
        type=_seed,
        metavar="N",
        help="seed for random choices (default: 7; in a campaign: a new one)",
    )
    parser.add_argument(
        "--shuffle",
        action=argparse.BooleanOptionalAction,
        help="run the checks in a random order (by the seed)",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the report")
    add_format(parser)
    add_sign_key(parser)
    parser.add_argument(
        "--shard",
        type=shard,
        metavar="K/N|auto",
        help="the K-th of N parts, see gateproof merge; auto: as the CI system numbers its parallel jobs",
    )
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="known failures that do not decide")
    parser.add_argument(
        "--faults",
        action=argparse.BooleanOptionalAction,
        help="inject faults of merchants, networks and clients (default: yes)",
    )
    parser.add_argument(
        "--intercept",
        action=argparse.BooleanOptionalAction,
        help="use the intercepting proxy if it is installed (default: yes)",
    )
    parser.add_argument(
        "--examples",
        type=_examples,
        metavar="N",
        help=f"generated examples for each rule that uses them (default: {EXAMPLES}; 0: none)",
    )
    parser.add_argument(
        "--profile",
        choices=("ci", "campaign"),
        help="campaign: generate input until --minutes are over (default: ci)",
    )
    parser.add_argument(
        "--minutes",
        type=_minutes,
        metavar="N",
        help=f"approximate duration of a campaign (default: {MINUTES})",
    )
    parser.add_argument(
        "--max-minutes",
        type=_minutes,
        metavar="N",
        help=f"end the run after this time; what was not asked is not testable (default: {MAX_MINUTES})",
    )
    parser.add_argument(
        "--database",
        type=Path,
        metavar="DIR",
        help=f"folder for the failures of campaigns; can be shared (default: {DATABASE})",
    )
    parser.add_argument(
        "--operation",
        choices=("http", "mcp"),
        help="how the embedded service is called (default: http); not with --target",
    )
    parser.add_argument(
        "--one-origin",
        action=argparse.BooleanOptionalAction,
        help="API and core of the gateway around a service or agent share an origin",
    )
    parser.add_argument(
        "--names",
        type=names,
        metavar="SUFFIX",
        help="gateproof's own parties are gateway.SUFFIX, merchant.SUFFIX and service.SUFFIX, not addresses",
    )
    parser.add_argument(
        "--deviate",
        action="append",
        type=_deviation,
        metavar="NAME",
        help="a diagnosis, which decides nothing: the gateway around an agent leaves the specification in "
        "this way; issuer-address, loopback-redirect, public-client or rfc8414-metadata (repeatable)",
    )
    parser.add_argument(
        "--trace",
        action=argparse.BooleanOptionalAction,
        help="send traceparent and X-Gateproof-Check with every request to the target",
    )
    parser.add_argument(
        "--events",
        type=Path,
        metavar="FILE",
        help="write each result to this file at once, as a line of JSON",
    )
    parser.add_argument(
        "--rate", type=_rate, metavar="N", help="maximum requests per second of all workers together"
    )
    parser.add_argument("--strict", action=argparse.BooleanOptionalAction, help="rfc rules decide too")
    parser.add_argument(
        "--certify", action=argparse.BooleanOptionalAction, help="every deciding rule has to be tested"
    )
    parser.add_argument(
        "--fail-fast", action=argparse.BooleanOptionalAction, help="stop at the first deciding failure"
    )
    parser.add_argument(
        "--durations",
        type=_durations,
        metavar="N",
        help="print the N slowest checks and control actions, and what was waited for (default: 0)",
    )
    parser.add_argument("--quiet", action=argparse.BooleanOptionalAction, help="print the verdict only")
    parser.add_argument("--no-color", action="store_true", help="no colours")


def completed(given: argparse.Namespace) -> argparse.Namespace:
    """All options: those of the command line, then those of the target file's table [run], then the defaults.

    Raises TargetError for a wrong table.
    """
    of_file: Mapping[str, Any] = {}
    if (target := getattr(given, "target", None)) is not None:
        from gateproof.conformance.targets.file import run_table  # noqa: PLC0415 - of use with a target only

        of_file = {} if not (table := run_table(target)) else _read(table, target)
    found = argparse.Namespace(**{**DEFAULTS, **of_file, **vars(given)})
    # An empty text on the command line overrides a list of the file: --skip ''.
    for name in ("only", "skip", "format", "deviate"):
        setattr(found, name, [each for each in getattr(found, name) if each])
    return found


def max_minutes(arguments: argparse.Namespace) -> int:
    """When the run ends at the latest; a campaign gets more time than it generates input for."""
    if arguments.max_minutes is not None:
        return int(arguments.max_minutes)
    return max(MAX_MINUTES, 2 * (arguments.minutes or 0))


def words(arguments: argparse.Namespace, seed: int, *, whole: bool) -> list[str]:
    """The command that repeats this run; without `whole`, the same without its selection."""
    said = ["gateproof", "run", *([arguments.role] if arguments.role else [])]
    if arguments.target is not None:
        said += ["--target", str(arguments.target)]
    said += ["--operation", arguments.operation] if arguments.operation else []
    said += ["--one-origin"] if arguments.one_origin else []
    said += ["--names", arguments.names] if arguments.names else []
    said += [word for name in arguments.deviate for word in ("--deviate", name)]
    said += ["--trace"] if arguments.trace else []
    said += ["--seed", str(seed)]
    said += [] if arguments.faults else ["--no-faults"]
    said += [] if arguments.intercept else ["--no-intercept"]
    said += [] if arguments.examples == EXAMPLES else ["--examples", str(arguments.examples)]
    said += [] if arguments.rate is None else ["--rate", f"{arguments.rate:g}"]
    if whole:
        said += [] if arguments.profile == "ci" else ["--profile", arguments.profile]
        for name in ("minutes", "database"):
            given = getattr(arguments, name)
            said += [] if given is None else [f"--{name}", str(given)]
        if arguments.max_minutes is not None:
            said += ["--max-minutes", str(arguments.max_minutes)]
        said += [
            word
            for name in ("only", "skip")
            for glob in getattr(arguments, name)
            for word in (f"--{name}", glob)
        ]
        said += ["--shard", str(arguments.shard)] if arguments.shard else []
        said += ["--baseline", str(arguments.baseline)] if arguments.baseline else []
        said += [f"--{name}" for name in ("strict", "certify") if getattr(arguments, name)]
    return said


class _Parser(argparse.ArgumentParser):
    """Raises ValueError instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def _read(table: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """The options of a table [run], by their names in a namespace."""
    parser = _Parser(argument_default=argparse.SUPPRESS, add_help=False, allow_abbrev=False)
    add_options(parser)
    known = sorted(name.replace("_", "-") for name in DEFAULTS if name != "target")
    found: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            raise _unknown(file, key, known)
        tokens = _tokens(key, value, file, negatable=f"--no-{key}" in parser.format_usage())
        try:
            found |= vars(parser.parse_args(tokens))
        except ValueError as wrong:
            raise _wrong(file, key, str(wrong)) from None
    return found


def _tokens(key: str, value: Any, file: Path, *, negatable: bool) -> list[str]:
    """The command-line arguments for this key of the table."""
    from gateproof.conformance.targets.errors import TargetError  # noqa: PLC0415

    is_switch = isinstance(DEFAULTS[key.replace("-", "_")], bool)
    if is_switch != isinstance(value, bool) or isinstance(value, dict):
        expected = "true or false" if is_switch else "the value of the option"
        raise TargetError(str(file), f"[run] {key}", _kind(value), expected)
    if is_switch:
        return [f"--{key}"] if value else [f"--no-{key}"] if negatable else []
    several = isinstance(DEFAULTS[key.replace("-", "_")], list)
    if isinstance(value, list) != several or not all(
        isinstance(item, str) for item in (value if several else [])
    ):
        expected = "an array of strings" if several else "one value"
        raise TargetError(str(file), f"[run] {key}", _kind(value), expected)
    values = [str(item) for item in value] if several else [str(value)]
    if key in _PATHS:
        values = [str(file.absolute().parent / item) for item in values]
    return [f"--{key}={item}" for item in values]


def _kind(value: Any) -> str:
    from gateproof.conformance.targets.reading import toml_type  # noqa: PLC0415

    return toml_type(value)


def _unknown(file: Path, key: str, known: list[str]) -> TargetError:
    from difflib import get_close_matches  # noqa: PLC0415

    from gateproof.conformance.targets.errors import UnknownKeyError  # noqa: PLC0415

    near = get_close_matches(key, known, n=1, cutoff=0.0)
    return UnknownKeyError(str(file), "[run]", key, tuple(known), hint=f"did you mean '{near[0]}'?")


def _wrong(file: Path, key: str, said: str) -> TargetError:
    """The parser's error about a value, as an error in the target file."""
    from gateproof.conformance.targets.errors import TargetError  # noqa: PLC0415

    said = said.partition(": ")[2] or said
    ours = re.fullmatch(r"found (.*?), expected (.*)", said)
    if ours is None:
        ours = re.fullmatch(r"invalid choice: (.*) \(choose from (.*)\)", said)
    found, expected = (ours[1], ours[2]) if ours else (said, f"what --{shlex.quote(key)} takes")
    return TargetError(str(file), f"[run] {key}", found, expected)


def _workers(text: str) -> int | None:
    if text == "auto":
        return None
    return _number(text, "a number of processes or auto", 1, 64)


def _examples(text: str) -> int:
    return _number(text, "a number from 0 to 100000", 0, 100_000)


def _durations(text: str) -> int:
    return _number(text, "a number from 0 to 10000", 0, 10_000)


def _minutes(text: str) -> int:
    return _number(text, "a number of minutes from 1 to 10000", 1, 10_000)


def _rate(text: str) -> float:
    return float(_number(text, "a number of requests from 1 to 100000", 1, 100_000))


def _seed(text: str) -> int:
    return _number(text, "a number from 0 to 4294967295", 0, 2**32 - 1)


def _number(text: str, expected: str, least: int, most: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected {expected}")
    return int(text)


def names(text: str) -> str:
    """The host name below which the harness's own parties are."""
    from gateproof.conformance.targets.party_names import is_suffix  # noqa: PLC0415 - for this option only

    name = text.lower().removeprefix(".")
    if name and not is_suffix(name):
        raise argparse.ArgumentTypeError(
            f"found {text!r}, expected a host name such as localhost or agents.test"
        )
    return name


def _deviation(text: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - needed by a mistake only

    from gateproof.fakes.gateway.deviations import DEVIATIONS  # noqa: PLC0415 - loads HTTP, for this option only

    if text and text not in DEVIATIONS:
        near = get_close_matches(text, DEVIATIONS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise argparse.ArgumentTypeError(f"found {text!r}, expected one of {', '.join(DEVIATIONS)}{hint}")
    return text
