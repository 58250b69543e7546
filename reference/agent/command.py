"""The command line of the agent, which is configured by environment variables."""

from __future__ import annotations

import os
import ssl
import sys
from collections.abc import Sequence
from functools import partial

from gateproof.reference.agent.agent import Agent
from gateproof.reference.agent.policies import Policies
from gateproof.reference.agent.settings import read_settings
from gateproof.reference.agent.state import State
from gateproof.reference.agent.wire import Client, Failed

_WRONG_USAGE = 2


def main(argv: Sequence[str] | None = None, policies: Policies | None = None) -> int:
    """One run; the exit code is 0 for orders, 1 for a failed run, 2 for wrong usage."""
    if sys.argv[1:] if argv is None else argv:
        print("reference agent: takes no arguments, see docs/agent.md", file=sys.stderr)
        return _WRONG_USAGE
    policies = policies or Policies()
    return policies.around(partial(_run, policies))


def _run(policies: Policies) -> int:
    try:
        settings = read_settings(os.environ)
        trust = _trust(settings.ca_file)
        client = Client(trust, policies.patience, policies.may_ask, policies.followed, policies.trusted)
        say = partial(print, flush=True)
        orders = Agent(settings, State(settings.state_dir), client.ask, say, policies).run()
    except Failed as reason:
        print(f"reference agent: {reason}", file=sys.stderr)
        return policies.exit_code_of_failure
    print(policies.report(orders))
    return 0


def _trust(ca_file: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError):
        raise Failed("GATEPROOF_CA_FILE: expected a readable file of PEM certificates") from None
