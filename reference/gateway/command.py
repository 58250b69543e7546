"""The command line of the reference gateway."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from gateproof.reference.gateway.apps import Apps, control_app, create_apps, same_origin
from gateproof.reference.gateway.key_costs import with_costly_keys
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.gateway.state_file import StateFile, saving
from gateproof.reference.serving import NotServed, Origin, loopback_url, run, server_tls

TOKEN_VARIABLE = "GATEPROOF_CONTROL_TOKEN"  # noqa: S105 - the name of a variable, not what is in it
PASSWORD_VARIABLE = "GATEPROOF_OPERATOR_PASSWORD"  # noqa: S105 - the same
# There is no rate limit for sign-ins, so the password has to be long.
SHORTEST_PASSWORD = 16


def main(argv: Sequence[str] | None = None, policies: Policies | None = None) -> int:
    """Serves a gateway; the exit code is 0 after a stop, 2 for wrong usage, 98 for a taken port."""
    given = _parser().parse_args(argv)
    try:
        apps, origins = _apps(given, policies)
        chosen = apps.gateway.policies
        files = (given.tls_cert, given.tls_key)
        tls = server_tls(*files, oldest=chosen.oldest_tls) if given.tls_cert and given.tls_key else None
        run(
            origins,
            tls=tls,
            exit_with_stdin=given.exit_with_stdin,
            on_exit=apps.gateway.merchants.aclose,
            listening=chosen.listen,
        )
    except NotServed as error:
        print(f"reference gateway: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _apps(given: argparse.Namespace, policies: Policies | None) -> tuple[Apps, list[Origin]]:
    base_url, core_url = loopback_url(given.base_url), loopback_url(given.core_url)
    control_url = loopback_url(given.control_url) if given.control_url else None
    if control_url and any(same_origin(control_url, url) for url in (base_url, core_url)):
        raise NotServed("the control needs its own origin")
    state = StateFile(given.state_file) if given.state_file else None
    if given.resource_cost_s:
        policies = with_costly_keys(policies or Policies(), given.resource_cost_s)
    apps = create_apps(
        base_url=base_url,
        core_url=core_url,
        policies=policies,
        echo_log=True,
        state=state,
    )
    origins = [Origin(app=apps.base, url=base_url)]
    if not same_origin(base_url, core_url):
        origins.append(Origin(app=apps.core, url=core_url))
    if control_url:
        token = os.environ.get(TOKEN_VARIABLE) or None
        control = control_app(apps.gateway, path=urlsplit(control_url).path, token=token)
        origins.append(Origin(app=control, url=control_url))
    if given.console_url:
        origins.append(_console(apps, loopback_url(given.console_url), [origin.url for origin in origins]))
    if state is not None:
        save = partial(state.save, apps.gateway.store, apps.gateway.clock)
        origins = [replace(origin, app=saving(origin.app, save)) for origin in origins]
    return apps, origins


def _console(apps: Apps, url: str, taken: Sequence[str]) -> Origin:
    # Imported only if needed, to start faster.
    from gateproof.reference.gateway.console.app import console_app  # noqa: PLC0415
    from gateproof.reference.gateway.console.signing_in import operator_with  # noqa: PLC0415

    password = os.environ.get(PASSWORD_VARIABLE, "")
    parts = urlsplit(url)
    if parts.scheme != "https" or parts.path or any(same_origin(url, each) for each in taken):
        raise NotServed("the Console needs its own https origin, because of its cookie")
    if len(password) < SHORTEST_PASSWORD:
        raise NotServed(
            f"the Console needs a password of {SHORTEST_PASSWORD} characters or more: set {PASSWORD_VARIABLE}"
        )
    app = console_app(apps.gateway, console_url=url, operator=operator_with(password))
    return Origin(app=app, url=url)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gateproof.reference.gateway", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--base-url", required=True, help="gateway API host, with a port, on loopback")
    parser.add_argument("--core-url", required=True, help="core host; may be the same as --base-url")
    parser.add_argument("--control-url", help=f"control endpoint; its token comes from ${TOKEN_VARIABLE}")
    parser.add_argument(
        "--console-url", help=f"Console; its operator's password comes from ${PASSWORD_VARIABLE}"
    )
    parser.add_argument("--tls-cert", type=Path, help="certificate chain for https addresses")
    parser.add_argument("--tls-key", type=Path, help="its private key")
    parser.add_argument(
        "--state-file",
        type=Path,
        help="keep all data there, so that the gateway may be killed and started again",
    )
    parser.add_argument(
        "--resource-cost-s",
        type=float,
        default=0.0,
        help="processor time that each new Resource costs, to try a run against a gateway with slow keys",
    )
    parser.add_argument("--exit-with-stdin", action="store_true", help="stop when stdin ends")
    return parser
