"""`gateproof doctor`: which rules can be tested at a target, and what is needed for the others."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateproof.conformance.run.doctor.diagnosis import Diagnosis
    from gateproof.conformance.targets.model import OwnParties, Target

WRONG_USAGE = 2
NO_VERDICT = 3


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "doctor",
        help="connect to a target and say which rules will be testable",
        description="Connects to a target, signs one user in, and says what is missing. Runs no checks.",
    )
    parser.add_argument("--target", type=Path, required=True, metavar="FILE", help="the target file")
    parser.add_argument(
        "--names", metavar="SUFFIX", help="gateproof's own parties have host names below this one, as in run"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    from gateproof.conformance.run.prepare.gateway import CannotRun  # noqa: PLC0415 - these load HTTP and cryptography
    from gateproof.conformance.run.prepare.service import NotReached  # noqa: PLC0415
    from gateproof.conformance.signin.factory import check_usable  # noqa: PLC0415
    from gateproof.conformance.targets.errors import TargetError  # noqa: PLC0415
    from gateproof.conformance.targets.file import load  # noqa: PLC0415
    from gateproof.conformance.targets.model import GatewayTarget  # noqa: PLC0415
    from gateproof.reports.terminal import screen  # noqa: PLC0415

    try:
        target = load(arguments.target)
        if isinstance(target, GatewayTarget):
            check_usable(target)
        target = replace(target, own_parties=_own_parties(arguments, target))
    except (TargetError, ValueError) as wrong:
        print(f"gateproof: {wrong}", file=sys.stderr)
        return WRONG_USAGE
    try:
        found = replace(
            _diagnosis(target),
            unresolved=_unresolved(target),
            shared_by_workers=_is_shared_by_workers(target),
        )
    except CannotRun as reason:
        if not arguments.json:
            _print_unresolved(_unresolved(target))
        if isinstance(reason, NotReached) and not arguments.json:
            _print_settings(reason.settings)
        # The reason may contain output of the target.
        screen(sys.stderr, no_color=True).say(f"gateproof: {reason}")
        return NO_VERDICT
    if arguments.json:
        print(json.dumps(found.as_json(), indent=2))
    else:
        _print(found)
    return 0


def _own_parties(arguments: argparse.Namespace, target: Target) -> OwnParties:
    """What the options of a run say about the harness's own parties: those of the table [run] and --names."""
    from gateproof.conformance.cli.own_parties import own_parties  # noqa: PLC0415
    from gateproof.conformance.cli.run_options import completed, names  # noqa: PLC0415

    given = argparse.Namespace(target=arguments.target)
    if arguments.names is not None:
        try:
            given.names = names(arguments.names)
        except argparse.ArgumentTypeError as wrong:
            raise ValueError(f"--names: {wrong}") from None
    return own_parties(completed(given), target)


def _is_shared_by_workers(target: Target) -> bool:
    """True if gateproof launches the target, but only once, because its addresses are fixed."""
    return target.role != "agent" and target.launch is not None and not target.may_run_twice


def _unresolved(target: Target) -> tuple[str, ...]:
    from gateproof.conformance.targets.party_names import unresolved  # noqa: PLC0415

    return unresolved(target.role, target.own_parties.names) if target.own_parties.names else ()


def _diagnosis(target: Target) -> Diagnosis:
    """Starts the target if necessary, sends a few requests, and stops it; an agent is run once."""
    from gateproof.conformance.kit.service.world import settings  # noqa: PLC0415
    from gateproof.conformance.run.doctor.agent import diagnose_agent  # noqa: PLC0415
    from gateproof.conformance.run.doctor.diagnosis import diagnose, diagnose_service  # noqa: PLC0415
    from gateproof.conformance.run.doctor.key_probe import finds_new_keys_seldom  # noqa: PLC0415
    from gateproof.conformance.run.doctor.sign_in_probe import probe_sign_in  # noqa: PLC0415
    from gateproof.conformance.run.doctor.target_probe import probe_gateway, probe_service  # noqa: PLC0415
    from gateproof.conformance.run.drive.session import temporary_run_folder  # noqa: PLC0415
    from gateproof.conformance.run.prepare.agent import prepare_agent  # noqa: PLC0415
    from gateproof.conformance.run.prepare.gateway import prepare  # noqa: PLC0415
    from gateproof.conformance.run.prepare.service import prepare_service  # noqa: PLC0415
    from gateproof.conformance.targets.model import AgentTarget, ServiceTarget  # noqa: PLC0415

    with temporary_run_folder() as (folder, stack):
        if isinstance(target, AgentTarget):
            return diagnose_agent(prepare_agent(target, folder, 0, stack).context)
        if isinstance(target, ServiceTarget):
            context = prepare_service(target, folder, 0, stack).context
            told = settings(context.world, target) if target.launch is None else {}
            doubts = probe_service(context.target)
            seldom = None if doubts else finds_new_keys_seldom(context)
            return diagnose_service(context, told, doubts, seldom)
        prepared = prepare(target, folder, 0, stack)
        # No sign-in if something is wrong already: it would fail for that reason.
        doubts = probe_gateway(target) or probe_sign_in(prepared.context)
        return diagnose(prepared.name, prepared.context, doubts)


def _print_settings(settings: Mapping[str, str]) -> None:
    """Prints the settings for a service that is configured by hand; a launched service gets them."""
    if settings:
        print("while gateproof runs, the world around the service is")
    for name, value in settings.items():
        # Quoted for a shell, because scopes and paths can contain spaces.
        print(f"  {name}={shlex.quote(value)}")


def _print_unresolved(hosts: Sequence[str]) -> None:
    """Says which names of --names have no address here, and what helps."""
    from gateproof.reports.terminal import screen  # noqa: PLC0415

    if hosts:
        said = f"! this system does not resolve {', '.join(hosts)} to this machine: "
        helps = f"if the target does not either, add the line '127.0.0.1 {' '.join(hosts)}' to /etc/hosts"
        screen(no_color=True).fill(f"{said}{helps}", "  ", "    ")


def _headline(found: Diagnosis) -> str:
    if found.role == "agent":
        return f"{found.name} runs" + (", but does not get through:" if found.doubts else "")
    return f"{found.name} answers" + (", but not as its target file says:" if found.doubts else "")


def _print(found: Diagnosis) -> None:
    from gateproof.reports.terminal import ranges, screen  # noqa: PLC0415
    from gateproof.reports.verdicts import many  # noqa: PLC0415

    shown = screen(no_color=True)
    tested = [each.rule.id for each in found.prospects if each.testable]
    in_part = [each.rule.id for each in found.prospects if each.testable and each.parts]
    shown.say(_headline(found))
    for doubt in found.doubts:
        shown.fill(f"! {doubt}", "  ", "    ")
    _print_unresolved(found.unresolved)
    will = "could" if found.doubts else "will"
    shown.say(f"{len(tested)} of {many(len(found.prospects), 'rule')} {will} be tested")
    if found.expected:
        shown.fill(f"a run is {found.expected}", "", "  ")
    _print_settings(found.settings)
    if in_part:
        shown.fill(f"of them without some part: {', '.join(ranges(in_part))}", "  ", "    ")
    for advice in found.advice:
        shown.say()
        shown.fill(advice.text, "", "  ")
        for what, rules in (("tested then", advice.gain.rules), ("with more parts", advice.gain.completed)):
            if rules:
                shown.fill(f"{what} ({len(rules)}): {', '.join(ranges(rules))}", "  ", "    ")
    if found.shared_by_workers:
        shown.say()
        shown.fill(
            "a run would be faster with {port} in place of the fixed ports, in every address and in the "
            "command: each worker would start its own instance",
            "",
            "  ",
        )
    if found.unchecked:
        shown.say()
        shown.fill(
            f"no check exists yet ({len(found.unchecked)}): {', '.join(ranges(found.unchecked))}", "", "  "
        )
    shown.say()
    shown.fill(f"tested ({len(tested)}): {', '.join(ranges(tested)) or 'nothing'}", "", "  ")
