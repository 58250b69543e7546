"""`gateproof report`, `diff` and `merge`: commands for finished runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from gateproof.reports.record import Record
    from gateproof.reports.verdicts import RunResult

WRONG_USAGE = 2


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    report = commands.add_parser(
        "report", help="generate outputs from a run's record again", formatter_class=NamesFormats
    )
    report.add_argument("folder", type=Path, metavar="DIR", help="the folder of a run")
    add_format(report)
    add_sign_key(report)
    add_signer(report)
    report.add_argument(
        "--out", type=Path, metavar="DIR", help="another folder, to which the record is copied"
    )
    report.set_defaults(handler=draw_again)

    differ = commands.add_parser("diff", help="compare two runs")
    differ.add_argument("before", type=Path, metavar="A", help="the folder of the earlier run")
    differ.add_argument("after", type=Path, metavar="B", help="the folder of the later run")
    differ.add_argument("--json", action="store_true", help="one JSON object instead of text")
    differ.add_argument("--anyway", action="store_true", help="also if specifications or roles differ")
    differ.set_defaults(handler=compare)

    joiner = commands.add_parser(
        "merge", help="join the shards of one run or proof", formatter_class=NamesFormats
    )
    joiner.add_argument("folders", type=Path, nargs="+", metavar="DIR", help="the folders of all shards")
    joiner.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="the folder to write (default: gateproof-report, or gateproof-proof)",
    )
    add_format(joiner)
    add_sign_key(joiner)
    add_signer(joiner)
    joiner.set_defaults(handler=join)


class NamesFormats(argparse.HelpFormatter):
    """Adds the names of the formats to the help text; their table is imported only for that."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.dest != "format":
            return action.help
        from gateproof.reports.formats import DEFAULT, FORMATS  # noqa: PLC0415

        return f"{action.help}: {', '.join(FORMATS)}, all or none; default: {' '.join(DEFAULT)}"


def add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", action="append", metavar="F", help="an output format (repeatable)")


def add_sign_key(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sign-key", type=Path, metavar="FILE", help="Ed25519 private key (PEM) for the seal"
    )


def add_signer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--key",
        type=Path,
        metavar="SIGNER",
        help="public key (PEM) of the signer before; --sign-key signs only what verifies with it",
    )


def formats_of(asked: list[str] | None) -> tuple[str, ...]:
    """The selected formats, or the default ones; raises ValueError for an unknown name."""
    from difflib import get_close_matches  # noqa: PLC0415 - needed by a mistake only

    from gateproof.reports.formats import DEFAULT, FORMATS  # noqa: PLC0415

    if not asked:
        return DEFAULT
    if asked == ["none"]:
        return ()
    chosen: list[str] = []
    for name in asked:
        if name != "all" and name not in FORMATS:
            near = get_close_matches(name, FORMATS, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(f"--format {name}: expected all, none or one of {', '.join(FORMATS)}{hint}")
        chosen += FORMATS if name == "all" else [name]
    return tuple(dict.fromkeys(chosen))


def draw_again(arguments: argparse.Namespace) -> int:
    """Generates the outputs from the record; refuses an invalid one, because a new seal would hide that."""
    from gateproof.conformance.cli.outputs import Leak, forget, refuse_foreign, write_all  # noqa: PLC0415
    from gateproof.conformance.cli.resealing import (  # noqa: PLC0415
        asks_to_sign,
        key_for,
        refuse_altered,
        seals_before,
    )
    from gateproof.reports import seal  # noqa: PLC0415
    from gateproof.reports.files import write_file  # noqa: PLC0415
    from gateproof.reports.plain_files import read_plain  # noqa: PLC0415
    from gateproof.reports.record import FILE, Unreadable  # noqa: PLC0415
    from gateproof.reports.signing import KeyProblem  # noqa: PLC0415

    try:
        record, result = _read(arguments.folder)
        _refuse_broken(record)
        formats = formats_of(arguments.format)
        folder = arguments.out or arguments.folder
        elsewhere = folder.resolve() != arguments.folder.resolve()
        # An existing seal is kept: it covers the record, and the new outputs follow from the record.
        resealed = elsewhere or asks_to_sign(arguments) or not (folder / seal.VERDICTS).exists()
        key, before = None, tuple[str, ...]()
        if resealed:
            refuse_altered(arguments.folder, unsealed=arguments.sign_key is None)
            key = key_for([arguments.folder], arguments.sign_key, arguments.key)
            before = seals_before([arguments.folder])
        if elsewhere:
            refuse_foreign(folder)
            forget(folder)
            write_file(folder / FILE, read_plain(arguments.folder / FILE))
        for path in write_all(result, folder, formats, key, before):
            say(str(path))
    except (Unreadable, KeyProblem, ValueError, OSError, Leak) as problem:
        say_wrong(problem)
        return WRONG_USAGE
    if record.footer is None:
        say(f"gateproof: {result.reason}", file=sys.stderr)
    return 0


def compare(arguments: argparse.Namespace) -> int:
    """Prints the differences of two runs; returns 1 if something got worse, else 0."""
    from gateproof.reports.diff import Incomparable, diff, to_json, to_text  # noqa: PLC0415
    from gateproof.reports.record import Unreadable  # noqa: PLC0415

    try:
        runs = [_read(folder)[1] for folder in (arguments.before, arguments.after)]
        found = diff(runs[0], runs[1], anyway=arguments.anyway)
    except (Unreadable, Incomparable, OSError) as problem:
        say_wrong(problem)
        return WRONG_USAGE
    if arguments.json:
        print(to_json(found), end="")
    else:
        say(to_text(found).rstrip("\n"))
    return 1 if found.worse else 0


def join(arguments: argparse.Namespace) -> int:
    """Merges shards; returns the exit code of the merged run or proof."""
    from gateproof.conformance.cli.merge_proofs import are_proofs, join_proofs  # noqa: PLC0415
    from gateproof.conformance.cli.outputs import Leak, refuse_foreign, write_all  # noqa: PLC0415
    from gateproof.conformance.cli.resealing import key_for, refuse_altered, seals_before  # noqa: PLC0415
    from gateproof.reports import leaks  # noqa: PLC0415
    from gateproof.reports.merge import merge  # noqa: PLC0415
    from gateproof.reports.record import FILE, Unreadable  # noqa: PLC0415
    from gateproof.reports.signing import KeyProblem  # noqa: PLC0415
    from gateproof.reports.terminal import partial  # noqa: PLC0415

    if are_proofs(arguments.folders):
        return join_proofs(arguments)
    out = arguments.out or Path("gateproof-report")
    try:
        for folder in arguments.folders:
            refuse_altered(folder)
        key = key_for(arguments.folders, arguments.sign_key, arguments.key)
        before = seals_before(arguments.folders)
        parts = [(str(folder), _read(folder)[0]) for folder in arguments.folders]
        formats = formats_of(arguments.format)
        refuse_foreign(out)
        out.mkdir(parents=True, exist_ok=True)
        merge(parts, out / FILE, scan=leaks.credential_kind)
        result = _read(out)[1]
        write_all(result, out, formats, key, before)
    except (Unreadable, KeyProblem, ValueError, OSError, Leak) as problem:
        say_wrong(problem)
        return WRONG_USAGE
    say(f"{result.verdict.value}: {result.reason}{partial(result)}")
    return result.verdict.exit_code


def _read(folder: Path) -> tuple[Record, RunResult]:
    from gateproof.reports.record import FILE, read, result_of  # noqa: PLC0415

    record = read(folder / FILE)
    return record, result_of(record)


def _refuse_broken(record: Record) -> None:
    """Refuses a record with problems, except that it may end early, even within a line."""
    from gateproof.reports.findings import Concern  # noqa: PLC0415
    from gateproof.reports.record_consistency import audit  # noqa: PLC0415

    harmless = {Concern.INCOMPLETE, *([Concern.RECORD] if all(fault.torn for fault in record.faults) else [])}
    broken = next((found for found in audit(record) if found.concern not in harmless), None)
    if broken is not None:
        raise ValueError(f"no outputs are generated from a broken record: {broken.sentence}")


def say(text: str, file: TextIO | None = None) -> None:
    """Prints text that may come from a folder that another person made (untrusted)."""
    from gateproof.reports.escaping import harmless  # noqa: PLC0415

    print(harmless(text), file=file)


def say_wrong(problem: Exception) -> None:
    """Prints why a command could not be carried out."""
    said = f"{problem.filename}: {problem.strerror}" if isinstance(problem, OSError) else str(problem)
    say(f"gateproof: {said}", file=sys.stderr)
