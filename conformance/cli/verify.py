"""`gateproof verify`: whether a report folder is unchanged, and meets the reader's expectations."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gateproof.conformance.cli.report import WRONG_USAGE, say, say_wrong

if TYPE_CHECKING:
    from gateproof.reports.expectations import Expectation
    from gateproof.reports.policy import Policy
    from gateproof.reports.verdicts import RunResult
    from gateproof.reports.verify import Verified


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("verify", help="check a run's signature, digests and outputs")
    parser.add_argument("folder", type=Path, metavar="BUNDLE", help="the folder of a run")
    parser.add_argument("--key", type=Path, metavar="FILE", help="the signer's public key (PEM)")
    parser.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="what the run has to be (repeatable): verdict, role, target, version, certify, strict, faults, "
        "requirements, or max-age such as 30d",
    )
    parser.add_argument(
        "--policy", type=Path, metavar="FILE", help="what is accepted, in TOML; see docs/evidence.md"
    )
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Exit code 0 if everything is verified; else 1, and the first finding is printed."""
    from gateproof.reports import expectations  # noqa: PLC0415 - these load cryptography
    from gateproof.reports.expectations import WrongExpectation  # noqa: PLC0415
    from gateproof.reports.policy import PolicyError  # noqa: PLC0415
    from gateproof.reports.signing import KeyProblem  # noqa: PLC0415
    from gateproof.reports.verify import verify  # noqa: PLC0415

    try:
        expected = [expectations.parse(text) for text in arguments.expect]
        policy = _policy(arguments.policy)
        verified = verify(arguments.folder, arguments.key.read_bytes() if arguments.key is not None else None)
    except (KeyProblem, WrongExpectation, PolicyError, OSError) as problem:
        say_wrong(problem)
        return WRONG_USAGE
    if verified.first is not None:
        return _refused(verified.first.sentence, len(verified.findings) - 1)
    if verified.result is None:
        say(f"verified: {verified.signer}")
        return 0
    return _print_verified(arguments.folder, verified, verified.result, expected, policy)


def _policy(file: Path | None) -> Policy | None:
    from gateproof.reports import policy  # noqa: PLC0415

    return (
        None if file is None else policy.parse(file.read_text(encoding="utf-8", errors="replace"), str(file))
    )


def _print_verified(
    folder: Path,
    verified: Verified,
    result: RunResult,
    expected: list[Expectation],
    policy: Policy | None,
) -> int:
    """Says what was verified, unless the record claims other rules than the catalogue has."""
    from gateproof.conformance.run.drive.claimed_rules import claims_of  # noqa: PLC0415 - loads the checks
    from gateproof.reports.escaping import one_line  # noqa: PLC0415
    from gateproof.reports.record import FILE, read  # noqa: PLC0415
    from gateproof.reports.terminal import partial  # noqa: PLC0415

    claims = claims_of(read(folder / FILE).header)
    if claims.wrong:
        return _refused(claims.wrong[0], len(claims.wrong) - 1)
    named = " ".join(str(result.target[key]) for key in ("name", "version") if result.target.get(key))
    wrong = list(_not_as_wanted(verified, result, expected, policy))
    for sentence in (
        f"verified: {verified.signer}",
        claims.unknown,
        claims.share,
        f"{named}, run at {result.run['started']}",
        f"{result.verdict.value}: {result.reason}{partial(result)}",
        *wrong,
    ):
        if sentence:
            say(one_line(sentence))
    return 1 if wrong else 0


def _not_as_wanted(
    verified: Verified, result: RunResult, expected: list[Expectation], policy: Policy | None
) -> Iterator[str]:
    from gateproof.reports import expectations  # noqa: PLC0415
    from gateproof.reports.policy import violations  # noqa: PLC0415

    now = datetime.now(UTC)
    yield from (f"not as expected: {each}" for each in expectations.unmet(result, expected, now))
    if policy is not None:
        yield from (f"not accepted: {each}" for each in violations(policy, result, verified.key_id, now))


def _refused(sentence: str, more: int) -> int:
    from gateproof.reports.escaping import one_line  # noqa: PLC0415

    say(one_line(f"not verified: {sentence}"))
    if more:
        print(f"and {more} more")
    return 1
