"""Prepares a run against a service: the world around it, then the service itself."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.kit.service.files import ServiceFiles
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld, environment, kept_folder, set_up, settings
from gateproof.conformance.run.context.embedded import Embedded, embedded_service
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.prepare.gateway import (
    CannotRun,
    Distrusted,
    Prepared,
    launched,
    temporary_folder,
    with_free_ports,
)
from gateproof.conformance.run.prepare.service_metadata import FoundMetadata, find_metadata
from gateproof.conformance.suite.vocabulary import NEEDS
from gateproof.conformance.targets.doubts import unreachable
from gateproof.conformance.targets.launch import LaunchFailed, Running
from gateproof.conformance.targets.model import ServiceTarget, World
from gateproof.conformance.targets.no_proxy import party_hosts
from gateproof.conformance.targets.party_names import hosts_below
from gateproof.conformance.targets.readiness import any_answers
from gateproof.conformance.wire.client import RateLimited, Wire
from gateproof.conformance.wire.connections import DISTRUSTED
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.route import Place, hosts_of, origin

_OUTPUT = "target.log"
METADATA_PATH = "/.well-known/oauth-protected-resource"
# An operator's service has its own credentials, which are not known here and cannot be redacted.
_UNSHOWN = "its output may contain credentials and is not shown: let its command write it to a file"
# How a service can meet needs that it does not meet.
REMEDIES = {
    "https": "address the service by https",
    "https:world": "address the service by https: the world around it then uses https, too",
    "logs:output": "launch the service, or name its log files under [logs]",
}


class NotReached(CannotRun):
    """Nothing answers at the service's address; `settings` is what its operator has to configure."""

    def __init__(self, why: str, settings: Mapping[str, str]) -> None:
        super().__init__(why)
        self.settings = settings


def prepare_service(
    given: ServiceTarget | Embedded, folder: Path, seed: int, stack: ExitStack
) -> Prepared[ServiceContext]:
    """Starts the world, and the service if it has to be launched; the stack stops both.

    Raises Distrusted, with what the rules about TLS need, if the service's certificate is refused.
    """
    if isinstance(given, ServiceTarget) and given.launch is None and not _is_fixed(given.world):
        raise CannotRun(
            "a running service already has a Proxy client: set proxy_client_id and"
            " proxy_client_secret_env under [world], and listen to the address of the world"
        )
    kept = kept_folder(given) if isinstance(given, ServiceTarget) else None
    authority = Authority(folder, kept=kept, names=hosts_below(given.own_parties.names))
    target = (
        embedded_service(given, authority, folder, stack)
        if isinstance(given, Embedded)
        else with_free_ports(given, stack)
    )
    target = _trusting(target, authority, folder)
    try:
        world = set_up(target, authority, stack)
    except (OSError, ValueError) as problem:
        raise CannotRun(f"the world around the service cannot be opened: {problem}") from problem
    begun = time.time()
    running = _started(target, world, authority, folder, stack)
    introduction, distrust = _introduced(target, world)
    target = replace(target, metadata_url=introduction.metadata_url)
    offered, missing = _capabilities(target, world, running)
    context = ServiceContext(
        target=target,
        world=replace(
            world,
            log=_log(target, running),
            missing_logs=partial(_missing, target, running),
            files=_files(target, folder, begun),
        ),
        capabilities=offered,
        missing=missing,
        seed=seed,
        run_id=secrets.token_hex(4),
        first_metadata=introduction.first,
        copied_from=given if isinstance(given, Embedded) or given.may_run_twice else None,
        folder=folder,
    )
    date = introduction.met.header("Date") or ""
    name, version = target.name, target.version
    prepared = Prepared(
        context=context, name=name, version=version, date=date, discovery_digest="", running=running
    )
    if distrust:
        raise Distrusted(distrust, prepared)
    return prepared


def _is_fixed(world: World) -> bool:
    """True if a service can be configured for this world before the run."""
    return world.listen is not None and world.proxy_client_secret is not None


def _trusting(target: ServiceTarget, authority: Authority, folder: Path) -> ServiceTarget:
    """A launched service may use the certificate of the run, or its own."""
    if target.launch is None:
        return target
    own = target.reach.ca_file
    both = folder / "trusted.pem"
    both.write_bytes(b"\n".join(file.read_bytes() for file in (authority.ca_file, own) if file is not None))
    return replace(target, reach=replace(target.reach, ca_file=both))


def service_place(target: ServiceTarget) -> Place:
    """The service's origins, and how the target file says to reach them.

    The challenge may point to another port of the same host, which also belongs to the service.
    """
    cert, reach = target.reach.client_cert, target.reach
    urls = [target.service_url, *([target.metadata_url] if target.metadata_url else [])]
    return Place(
        origins=frozenset(map(origin, urls)),
        hosts=hosts_of(urls),
        ca_file=str(reach.ca_file) if reach.ca_file else None,
        client_cert=(str(cert[0]), str(cert[1])) if cert else None,
        headers=dict(reach.headers),
    )


def metadata_url(target: ServiceTarget) -> str:
    """The expected URL of the metadata document, unless the challenge has another one."""
    if target.metadata_url:
        return target.metadata_url
    parts = urlsplit(target.service_url)
    return f"{parts.scheme}://{parts.netloc}{METADATA_PATH}"


def _started(
    target: ServiceTarget, world: ServiceWorld, authority: Authority, folder: Path, stack: ExitStack
) -> Running | None:
    if target.launch is None:
        return None
    try:
        return launched(
            target.launch,
            folder / _OUTPUT,
            stack,
            ca_file=world.ca_file,
            urls=[target.service_url],
            ready=any_answers([metadata_url(target), target.service_url]),
            hosts=party_hosts(target.own_parties.names, target.world.public_url),
            told=environment(world, target, authority),
        )
    except LaunchFailed as failure:
        raise CannotRun(f"{failure}; {_UNSHOWN}" if failure.last_lines else str(failure)) from failure


def unrecorded(target: ServiceTarget) -> Service:
    """The service for requests before any check; the caller has to close its wire."""
    wire = Wire((service_place(target),), timeout_s=target.limits.request_timeout_s, record=lambda _: None)
    return Service(
        service_url=target.service_url,
        metadata_url=metadata_url(target),
        operation=target.operation,
        wire=wire,
        patient=wire,
        keyring=Keyring(),
    )


def _introduced(target: ServiceTarget, world: ServiceWorld) -> tuple[FoundMetadata, str]:
    """Finds the metadata, or raises NotReached; also returns why the certificate was refused, if it was."""
    service = unrecorded(target)
    try:
        launched_within_s = target.launch.timeout_s if target.launch is not None else 0.0
        found = find_metadata(
            service, guessed=target.metadata_url is None, launched_within_s=launched_within_s
        )
    except RateLimited as limited:
        raise CannotRun(f"the service cannot be reached: {limited}") from limited
    finally:
        service.wire.close()
    if found.met.answer is not None:
        return found, ""
    why = found.met.failure or "no answer"
    where = f"the service cannot be reached at {origin(target.service_url)}"
    text = f"{where}: {why}; {unreachable(target, 'service_url', why)}"
    if why.startswith(DISTRUSTED):
        given = "; a launched service is given one at GATEPROOF_TLS_CERT_FILE" if target.launch else ""
        return found, text + given
    raise NotReached(text, {} if target.launch is not None else settings(world, target))


def _files(target: ServiceTarget, folder: Path, since: float) -> ServiceFiles | None:
    """Where a launched service may write; log files, and what the run itself writes, are ignored."""
    if target.launch is None:
        return None
    temporary = temporary_folder(folder / _OUTPUT)
    logs = {file.resolve() for file in target.logs.files}
    return ServiceFiles(
        folders=(temporary, target.launch.cwd.resolve()),
        since=since,
        ignored=frozenset({folder.resolve(), *logs} - {target.launch.cwd.resolve()}),
    )


def _log(target: ServiceTarget, running: Running | None) -> Callable[[], str]:
    """A function that returns the service's output and log files so far."""
    files = target.logs.files

    def logged() -> str:
        texts = [file.read_text("utf-8", "replace") for file in files if _is_readable(file)]
        return "\n".join([*([running.output()] if running is not None else []), *texts])

    return logged


def _is_readable(file: Path) -> bool:
    """False for a missing file, and for one without permission."""
    with suppress(OSError):
        if file.is_file():
            file.open("rb").close()
            return True
    return False


def _missing(target: ServiceTarget, running: Running | None) -> list[str]:
    """Reasons why a part of the logs cannot be searched."""
    files = [file.name for file in target.logs.files if not _is_readable(file)]
    named = ", ".join(files)
    found = [f"cannot read the log file {named}: see [logs] in the target file"] if files else []
    if running is not None and running.dropped:
        found.append(f"the service printed {running.dropped} bytes more than are kept")
    return found


def _capabilities(
    target: ServiceTarget, world: ServiceWorld, running: Running | None
) -> tuple[frozenset[str], Mapping[str, str]]:
    met = {"examples", "faults", "merchant", "users:2"}
    if target.service_url.startswith("https:"):
        met.add("https")
    if world.secure:
        met.add("https:world")
    if running is not None or target.logs.files:
        met.add("logs:output")
    others = "a service does not have it"
    missing = {
        need: f"needs {NEEDS[need]}: {REMEDIES.get(need, others)}" for need in NEEDS if need not in met
    }
    if "logs:output" in missing:
        # A service has no control, so the reason names the other way to its logs.
        missing["control:logs"] = missing["logs:output"]
    return frozenset(met), missing
