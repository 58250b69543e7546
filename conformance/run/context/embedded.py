"""The embedded reference, as a target like any other: an address, a launch command and a control."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from gateproof import __version__
from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.targets.model import (
    DEFAULT_USERS,
    AgentTarget,
    Control,
    GatewayTarget,
    Launch,
    Limits,
    Logs,
    Operation,
    OwnParties,
    Reach,
    ServiceTarget,
    SignIn,
    World,
)
from gateproof.conformance.wire.ports import kept_port
from gateproof.conformance.wire.secret import Secret
from gateproof.forks.here import forked
from gateproof.package import PYTHON_MODULE

_OPERATIONS = {
    "http": Operation(kind="http", path="/orders", json={"limit": 20}),
    "mcp": Operation(kind="mcp", path="/mcp", tool="list_orders"),
}
# The exit code of the reference if another program has taken one of its ports.
PORT_TAKEN = 98


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenConsole:
    """The URL of the Console's pages, and the operator's password, for a person who opens them."""

    url: str
    password: Secret


@dataclass(frozen=True, kw_only=True, slots=True)
class Embedded:
    """The reference in a role, or a program that takes the same arguments."""

    name: str = "embedded reference gateway"
    version: str = __version__
    program: tuple[str, ...] = (*PYTHON_MODULE, "gateproof.reference.gateway")
    # The transport by which the service's operation is called.
    operation: Literal["http", "mcp"] = "http"
    own_parties: OwnParties = field(default_factory=OwnParties)
    # Without a token for the control, for a user who starts the gateway by hand. A run requires a token.
    open_control: bool = False
    # A run uses only the control, so it starts the gateway without the Console's pages.
    console: OpenConsole | None = None


def embedded_reference(role: str, operation: Literal["http", "mcp"] = "http") -> Embedded:
    """The reference without defects or variants."""
    program = (*PYTHON_MODULE, f"gateproof.reference.{role}")
    return Embedded(name=f"embedded reference {role}", program=program, operation=operation)


def embedded_gateway(
    embedded: Embedded, authority: Authority, folder: Path, stack: ExitStack
) -> GatewayTarget:
    """The program on loopback ports over https, with a certificate of this run.

    The ports stay reserved until the stack closes, so that no other run's gateway listens there.
    """
    base, core, control = (kept_port(stack) for _ in range(3))
    base_url, core_url = f"https://127.0.0.1:{base}", f"https://127.0.0.1:{core}"
    control_url = f"http://127.0.0.1:{control}/control"
    certificate = authority.issue("gateway")
    token = None if embedded.open_control else Secret("control_token", secrets.token_urlsafe(24))
    command = (
        *(*forked(embedded.program), "--exit-with-stdin"),
        *("--base-url", base_url, "--core-url", core_url, "--control-url", control_url),
        *("--tls-cert", str(certificate.cert_file), "--tls-key", str(certificate.key_file)),
        *(("--console-url", embedded.console.url) if embedded.console is not None else ()),
    )
    told = {"GATEPROOF_CONTROL_TOKEN": token.reveal() if token is not None else ""}
    if embedded.console is not None:
        told["GATEPROOF_OPERATOR_PASSWORD"] = embedded.console.password.reveal()
    return GatewayTarget(
        file=None,
        name=embedded.name,
        version=embedded.version,
        base_url=base_url,
        core_url=core_url,
        reach=Reach(ca_file=authority.ca_file),
        launch=Launch(
            command=command,
            cwd=folder,
            ready_url=control_url,
            timeout_s=30.0,
            env=told,
        ),
        control=Control(cwd=folder, url=control_url, token=token),
        sign_in=SignIn(cwd=folder),
        users=DEFAULT_USERS,
        merchant=None,
        limits=Limits(),
        projects=(),
        own_parties=embedded.own_parties,
    )


def with_a_state_file(target: GatewayTarget, state_file: Path, stack: ExitStack) -> GatewayTarget:
    """The embedded gateway on other ports, with its data in a file, so that a kill does not lose it."""
    assert target.launch is not None  # noqa: S101 - the embedded gateway is always launched
    assert target.control is not None  # noqa: S101 - and has a control
    before = (target.base_url, target.core_url, target.control.url or "")
    now = {url: _on_another_port(url, stack) for url in before}
    command = (*(now.get(part, part) for part in target.launch.command), "--state-file", str(state_file))
    base_url, core_url, control_url = now.values()
    return replace(
        target,
        base_url=base_url,
        core_url=core_url,
        launch=replace(target.launch, command=command, ready_url=control_url),
        control=replace(target.control, url=control_url),
    )


def _on_another_port(url: str, stack: ExitStack) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{parts.hostname}:{kept_port(stack)}").geturl()


def embedded_service(
    embedded: Embedded, authority: Authority, folder: Path, stack: ExitStack
) -> ServiceTarget:
    """The program on a loopback port over https; the port is reserved until the stack closes.

    It gets its address from its environment, and runs in its own folder.
    """
    own = folder / "service"
    own.mkdir(exist_ok=True)
    url = f"https://127.0.0.1:{kept_port(stack)}"
    return ServiceTarget(
        file=None,
        name=embedded.name,
        version=embedded.version,
        service_url=url,
        metadata_url=None,
        reach=Reach(ca_file=authority.ca_file),
        launch=Launch(command=(*forked(embedded.program), "--exit-with-stdin"), cwd=own, timeout_s=30.0),
        operation=_OPERATIONS[embedded.operation],
        # RSA keys take longer to generate, and a proof needs thousands.
        world=World(algorithm="ES256"),
        limits=Limits(),
        logs=Logs(),
        own_parties=embedded.own_parties,
    )


def embedded_agent(embedded: Embedded, folder: Path) -> AgentTarget:
    """The program that is launched for every check; it gets its settings from its environment."""
    return AgentTarget(
        file=None,
        name=embedded.name,
        version=embedded.version,
        launch=Launch(command=forked(embedded.program), cwd=folder, timeout_s=30.0),
        logs=Logs(),
        own_parties=embedded.own_parties,
    )
