"""`gateproof serve`: starts the reference world, for exploring and for experiments."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

NO_VERDICT = 3


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "serve",
        help="start the reference world and print its addresses",
        description="Starts the reference gateway with Console, merchant, service and playground. "
        "Ctrl-C stops them.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    from gateproof.conformance.run.drive.session import temporary_run_folder  # noqa: PLC0415
    from gateproof.conformance.run.drive.signals import terminated_as_interrupted  # noqa: PLC0415
    from gateproof.conformance.run.prepare.gateway import CannotRun  # noqa: PLC0415 - these load HTTP and cryptography
    from gateproof.conformance.run.reference_world import start_world, wait  # noqa: PLC0415

    try:
        with terminated_as_interrupted(), temporary_run_folder() as (folder, stack):
            world = start_world(folder, stack)
            if arguments.json:
                print(json.dumps(world.facts, indent=2), flush=True)
            else:
                _print(world.facts)
            wait(world)
    except CannotRun as reason:
        print(f"gateproof: {reason}", file=sys.stderr)
        return NO_VERDICT
    except KeyboardInterrupt:
        pass
    return 0


def _print(facts: dict[str, Any]) -> None:
    """Prints the addresses, then the Projects, Proxy clients and users."""
    for name, value in facts.items():
        if name.endswith(("_url", "_file")):
            print(f"{name:<18}{value}")
    print(
        f"\noperator of the Console\n  {facts['operator']['name']}  password {facts['operator']['password']}"
    )
    for project in facts["projects"]:
        print(f"\nProject {project['id']} ({project['agent_policy']})")
        for resource in project["resources"]:
            print(f"  Resource {resource['id']}  indicator {resource['indicator']}")
        for client in project["proxy_clients"]:
            print(f"  Proxy client {client['id']}  secret {client['secret']}  {client['state']}")
    print("\nusers")
    for user in facts["users"]:
        print(f"  {user['login']}  password {user['password']}")
    print("\nCtrl-C stops it.", flush=True)
