"""Reads a target file into a value; errors are one clear line."""

from __future__ import annotations

import os
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateproof.conformance.targets import kinds, schema
from gateproof.conformance.targets.errors import TargetError
from gateproof.conformance.targets.model import (
    AgentTarget,
    Control,
    GatewayTarget,
    Limits,
    Logs,
    Reach,
    ServiceTarget,
    Target,
    World,
)
from gateproof.conformance.targets.ports import has_port, may_run_twice, with_ports
from gateproof.conformance.targets.reading import At, read_table, toml_type
from gateproof.conformance.wire.ports import free_ports, kept_port
from gateproof.conformance.wire.route import origin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import ExitStack

_LARGEST = 1024 * 1024


def load(
    path: str | Path, env: Mapping[str, str] = os.environ, draw: Callable[[], int] = lambda: free_ports(1)[0]
) -> Target:
    """Reads a target file of any role; secrets come from the environment variables that it names.

    `draw` gives the ports that the file leaves open.
    """
    file = Path(path)
    document = _document(file)
    at = At(file=str(path), folder=file.absolute().parent, env=env)
    role = _role(document, at)
    open_ports = has_port(document)
    if open_ports and "launch" not in document:
        raise at.wrong("'{port}' without [launch]", "a port that is written out")
    found = read_table(with_ports(document, draw), at, schema.ROLES[role], _elsewhere(role))
    target = _MAKE[role](found, at)
    return replace(target, open_ports=open_ports, may_run_twice=open_ports and may_run_twice(document))


def run_table(path: str | Path) -> Mapping[str, Any]:
    """The options of a run in a target file, not parsed yet."""
    found = _document(Path(path)).get("run", {})
    at = At(file=str(path), folder=Path(path).absolute().parent, env={}, key="run")
    table: Mapping[str, Any] = kinds.TABLE.read(found, at)
    return table


def own_copy(target: Target, stack: ExitStack) -> Target:
    """The target with free ports where its file leaves some open; reserved until the stack closes."""
    if target.file is None or not target.open_ports:
        return target
    return replace(load(target.file, draw=lambda: kept_port(stack)), own_parties=target.own_parties)


def _document(file: Path) -> dict[str, Any]:
    expected = "a target file in TOML ('gateproof init' writes one)"
    try:
        if file.is_file() and file.stat().st_size > _LARGEST:
            raise TargetError(str(file), "", "a file of more than 1 MB", expected)
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise TargetError(str(file), "", "no such file", expected) from None
    except IsADirectoryError:
        raise TargetError(str(file), "", "a folder", expected) from None
    except UnicodeDecodeError as error:
        raise TargetError(str(file), "", f"byte {error.start} that is not UTF-8", expected) from None
    except (OSError, ValueError) as error:
        if isinstance(error, TargetError):
            raise
        reason = error.strerror if isinstance(error, OSError) else "an invalid path"
        raise TargetError(str(file), "", f"a file that cannot be read ({reason})", expected) from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TargetError(str(file), "", f"a mistake in the TOML: {_one_line(error)}", "valid TOML") from None
    except RecursionError:
        raise TargetError(str(file), "", "tables nested without end", "valid TOML") from None


def _one_line(error: tomllib.TOMLDecodeError) -> str:
    return " ".join(str(error).split())


def _role(document: dict[str, Any], at: At) -> str:
    target = document.get("target")
    inside = at.into("[target]")
    if not isinstance(target, dict):
        raise inside.wrong("nothing" if target is None else toml_type(target), "a table with a role in it")
    if "role" not in target:
        raise inside.on("role").wrong("nothing", schema.ROLE.expects)
    role: str = schema.ROLE.read(target["role"], inside.on("role"))
    return role


def _elsewhere(role: str) -> dict[str, str]:
    """Hints for tables that belong to other roles."""
    return {
        key: f"[{key}] belongs to a target file of role {other}"
        for other, keys in schema.ROLES.items()
        for key in keys
        if other != role
    }


def _reached(control: Control, target: Mapping[str, Any], reach: Reach) -> Control:
    """Headers and client certificate go to a control on the target's own origins, and to no other."""
    own = {origin(target[name]) for name in ("base_url", "core_url")}
    is_own = control.url is not None and origin(control.url) in own
    return replace(control, reach=reach if is_own else Reach(ca_file=reach.ca_file))


def _gateway(found: dict[str, Any], at: At) -> GatewayTarget:
    target: dict[str, Any] = found["target"]
    reach = schema.reach(target, at.into("[target]"))
    sign_in = found.get("sign_in") or schema.default_sign_in(at)
    if sign_in.kind == "control" and "control" not in found:
        raise at.into("[sign_in]").on("kind").wrong("'control'", "a [control] table beside it")
    control = found.get("control")
    merchant = found.get("merchant")
    if merchant is not None:
        schema.same_scheme(merchant.public_url, target["base_url"], at.into("[merchant]"))
    projects = found.get("projects", ())
    for resource in (resource for project in projects for resource in project.resources):
        if merchant is not None and resource.merchant_client_id is None:
            where = at.into("[[projects.resources]]").on("merchant_client_id")
            raise where.wrong("nothing", "the client ID of the gateway at the fake merchant of [merchant]")
    return GatewayTarget(
        file=Path(at.file),
        name=target["name"],
        version=target.get("version", ""),
        base_url=target["base_url"],
        core_url=target["core_url"],
        reach=reach,
        launch=found.get("launch"),
        control=None if control is None else _reached(control, target, reach),
        sign_in=sign_in,
        users=schema.users(found.get("users"), at),
        names_users="users" in found,
        merchant=merchant,
        limits=found.get("limits", Limits()),
        projects=projects,
    )


def _service(found: dict[str, Any], at: At) -> ServiceTarget:
    target: dict[str, Any] = found["target"]
    reach = schema.reach(target, at.into("[target]"))
    world = found.get("world", World())
    schema.same_scheme(world.public_url, target["service_url"], at.into("[world]"))
    return ServiceTarget(
        file=Path(at.file),
        name=target["name"],
        version=target.get("version", ""),
        service_url=target["service_url"],
        metadata_url=target.get("metadata_url"),
        reach=reach,
        launch=found.get("launch"),
        operation=found["operation"],
        world=world,
        limits=found.get("limits", Limits()),
        logs=found.get("logs", Logs()),
    )


def _agent(found: dict[str, Any], at: At) -> AgentTarget:
    target: dict[str, Any] = found["target"]
    return AgentTarget(
        file=Path(at.file),
        name=target["name"],
        version=target.get("version", ""),
        launch=found["launch"],
        logs=found.get("logs", Logs()),
    )


_MAKE: Mapping[str, Callable[[dict[str, Any], At], Target]] = {
    "gateway": _gateway,
    "service": _service,
    "agent": _agent,
}
