"""Prepares a run against a gateway: certificates, the fake merchant, the target, its control."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.context.embedded import PORT_TAKEN, Embedded, embedded_gateway
from gateproof.conformance.run.context.gateway import GatewayContext
from gateproof.conformance.run.context.merchant_access import MerchantAccess
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.prepare.capabilities import Offer, capabilities
from gateproof.conformance.run.prepare.merchant import MerchantFailed, start_merchant
from gateproof.conformance.suite.parties import User
from gateproof.conformance.targets import actions, model
from gateproof.conformance.targets.connect import connect_control
from gateproof.conformance.targets.control import ControlFailed, Described
from gateproof.conformance.targets.doubts import unreachable
from gateproof.conformance.targets.errors import TargetError
from gateproof.conformance.targets.file import own_copy
from gateproof.conformance.targets.launch import LaunchFailed, Running, launch
from gateproof.conformance.targets.model import AgentTarget, GatewayTarget, Launch, ServiceTarget
from gateproof.conformance.targets.no_proxy import party_hosts, without_proxy
from gateproof.conformance.targets.party_names import hosts_below
from gateproof.conformance.targets.processes import exit_text
from gateproof.conformance.targets.readiness import (
    accepts_connections,
    any_answers,
    is_behind_a_proxy_that_waits,
)
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire.client import RateLimited, Wire
from gateproof.conformance.wire.connections import DISTRUSTED
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.route import Place, hosts_of, origin
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.merchant import users as merchant_users

_LAUNCH_TRIES = 3
_POLL_S = 0.02
# Names of environment variables with secrets, which a launched target may print.
_SECRET_NAME = re.compile(r"PASS(WORD|WD|PHRASE)|SECRET|TOKEN|CREDENTIAL|_KEY$|_PW$", re.IGNORECASE)
# A value that is printed with a name such as DB_PASSWORD; bounded, so that the search stays linear.
_NAMED = re.compile(
    r"(?:passw|pwd|secret|token|credential|api_?key)[\w.-]{0,40}[\"']?\s{0,8}[=:]\s{0,8}[\"']?([^\s\"',;&]+)",
    re.IGNORECASE,
)
_IN_AN_ADDRESS = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
# How much output of a target that did not start is shown: lines and characters.
_LINES_SHOWN, _MOST_SHOWN = 20, 8 * 1024


class CannotRun(Exception):
    """The run has no usable target; the text says why, and contains no secrets."""


class Distrusted(CannotRun):
    """The target's certificate is refused; only the rules about that can be tested."""

    def __init__(self, why: str, prepared: Prepared[GatewayContext] | Prepared[ServiceContext]) -> None:
        super().__init__(why)
        self.prepared = prepared


ContextT_co = TypeVar("ContextT_co", bound=Context, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Prepared(Generic[ContextT_co]):
    """A target that answers, with the fake parties around it; `running` if it was launched."""

    context: ContextT_co
    name: str
    version: str
    date: str
    discovery_digest: str
    running: Running | None = None


@dataclass(frozen=True, kw_only=True)
class Started:
    """A running target, its merchant, and the users with an account there."""

    target: GatewayTarget
    merchant: MerchantAccess | None
    running: Running | None
    users: tuple[User, ...]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A certificate authority and a merchant that several embedded targets use one after the other."""

    authority: Authority
    merchant: MerchantAccess


def set_stage(folder: Path, seed: int, stack: ExitStack) -> Stage:
    """Creates a stage that is closed with the stack."""
    authority = Authority(folder)
    target = embedded_gateway(Embedded(), authority, folder, stack)
    users = tuple(resolved(user) for user in target.users)
    merchant = start_merchant(target, users, authority, seed, stack)
    if merchant is None:
        raise CannotRun("the embedded reference has no merchant")
    return Stage(authority=authority, merchant=merchant)


def prepare(
    target: GatewayTarget | Embedded, folder: Path, seed: int, stack: ExitStack, stage: Stage | None = None
) -> Prepared[GatewayContext]:
    """Starts what has to be started; the stack stops it.

    Raises Distrusted, with what the rules about TLS need, if the target's certificate is refused.
    """
    names = hosts_below(target.own_parties.names)
    authority = stage.authority if stage is not None else Authority(folder, names=names)
    world = started(target, authority, folder, seed, stack, stage.merchant if stage is not None else None)
    described = _describe(world.target)
    first, distrust = _reach(world.target)
    offered, missing = capabilities(Offer(target=world.target, described=described))
    offset = described.clock_offset_s if described is not None else 0.0
    minted_before = 0
    if world.merchant is not None:
        with closing(world.merchant.admin()) as admin:
            admin.set_clock_offset(offset)
            minted_before = admin.last_minted()
    service = authority.issue("service")
    context = GatewayContext(
        target=world.target,
        users=world.users,
        merchant=world.merchant,
        capabilities=offered,
        missing=missing,
        seed=seed,
        run_id=secrets.token_hex(4),
        clock_offset_s=offset,
        ca_file=str(authority.ca_file),
        service_certificate=(str(service.cert_file), str(service.key_file)),
        minted_before=minted_before,
    )
    name = world.target.name or (described.name if described is not None else "")
    version = world.target.version or (described.version if described is not None else "")
    static = bool(world.target.projects) and first.status == 200 and first.answer is not None
    prepared = Prepared(
        context=context,
        name=name,
        version=version,
        date=first.header("Date") or "",
        discovery_digest=hashlib.sha256(first.answer.body).hexdigest() if static and first.answer else "",
        running=world.running,
    )
    if distrust:
        raise Distrusted(distrust, prepared)
    return prepared


def started(
    given: GatewayTarget | Embedded,
    authority: Authority,
    folder: Path,
    seed: int,
    stack: ExitStack,
    merchant: MerchantAccess | None = None,
) -> Started:
    """Starts the merchant, then the target, which may call the merchant at its start."""
    target = _own(given, authority, folder, stack)
    users = tuple(resolved(user) for user in target.users)
    try:
        merchant = merchant or start_merchant(target, users, authority, seed, stack)
    except MerchantFailed as failure:
        raise CannotRun(str(failure)) from failure
    running = None
    for attempt in range(_LAUNCH_TRIES):
        try:
            if target.launch is not None:
                running = launch_gateway(target, folder / "target.log", authority.ca_file, stack)
            break
        except LaunchFailed as failure:
            # Another program took a port after it was found to be free: try other ports.
            last = failure.exit_code != PORT_TAKEN or attempt + 1 == _LAUNCH_TRIES
            if last or not isinstance(given, Embedded):
                raise CannotRun(_launch_error(failure, target, users)) from failure
            target = _own(given, authority, folder, stack)
    return Started(target=target, merchant=merchant, running=running, users=users)


def launch_gateway(target: GatewayTarget, output_file: Path, ca_file: Path, stack: ExitStack) -> Running:
    """Starts a gateway and waits until its control or a discovery document answers; raises LaunchFailed.

    Its other addresses get some time as well: a gateway opens them one after the other. A proxy in front of
    it may answer earlier than the processes behind it.
    """
    if target.launch is None:
        raise CannotRun("the target file has no [launch]")
    files = target.merchant.files if target.merchant is not None else None
    control = target.control.url if target.control is not None else None
    place = target.merchant
    running = launched(
        target.launch,
        output_file,
        stack,
        ca_file=files.ca_file if files is not None else ca_file,
        urls=_urls(target),
        ready=any_answers([url for url in (control, some_discovery(target)) if url is not None]),
        hosts=party_hosts(target.own_parties.names, place.public_url if place is not None else None),
    )
    until = time.monotonic() + target.launch.timeout_s
    while time.monotonic() < until:
        open_ones = [each for each in addresses_of(target) if accepts_connections(*each)]
        if len(open_ones) == len(addresses_of(target)):
            break
        code = running.exit_code()
        # A launcher may end with 0 and leave the target to others.
        if code and not open_ones:
            what = f"the target ended soon after its start: {exit_text(code)}"
            raise LaunchFailed(what, exit_code=code, last_lines=running.last_lines())
        time.sleep(_POLL_S)
    asked = [some_discovery(target), agent_wire.token_endpoint(target.core_url)]
    while time.monotonic() < until and any(map(is_behind_a_proxy_that_waits, asked)):
        time.sleep(_POLL_S)
    return running


def addresses_of(target: GatewayTarget) -> list[tuple[str, int]]:
    """The hosts and ports on which a launched gateway listens."""
    return sorted({_address(url) for url in _urls(target)})


def _urls(target: GatewayTarget) -> list[str]:
    control = target.control.url if target.control is not None else None
    return [url for url in (target.base_url, target.core_url, control) if url is not None]


def _own(
    given: GatewayTarget | Embedded, authority: Authority, folder: Path, stack: ExitStack
) -> GatewayTarget:
    """The target, with free ports where its file leaves them open."""
    if isinstance(given, Embedded):
        return embedded_gateway(given, authority, folder, stack)
    return with_free_ports(given, stack)


OneTarget = TypeVar("OneTarget", GatewayTarget, ServiceTarget, AgentTarget)


def with_free_ports(target: OneTarget, stack: ExitStack) -> OneTarget:
    """A copy of the target with free ports where its file leaves them open."""
    try:
        own = own_copy(target, stack)
    except TargetError as wrong:
        raise CannotRun(str(wrong)) from wrong
    if not isinstance(own, type(target)):
        raise CannotRun(f"{target.file} has another role by now")
    return own


def launched(
    spec: Launch,
    output_file: Path,
    stack: ExitStack,
    *,
    ca_file: Path,
    urls: Sequence[str],
    ready: Callable[[], bool],
    hosts: Iterable[str] = (),
    told: Mapping[str, str] | None = None,
) -> Running:
    """Starts a program, with the CA file and `told` in its environment, and waits until it answers.

    It reaches `hosts`, those of the harness's parties, without a proxy.
    It gets a folder of its own for temporary files, beside its output.
    """
    temporary = temporary_folder(output_file)
    temporary.mkdir(exist_ok=True)
    variables = ("GATEPROOF_CA_FILE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
    answering = [*urls, *([spec.ready_url] if spec.ready_url else [])]
    running = launch(
        spec,
        output_file=output_file,
        ready=ready,
        addresses=sorted({_address(url) for url in answering}),
        env_extra={
            **dict.fromkeys(variables, str(ca_file)),
            **without_proxy(hosts),
            "TMPDIR": str(temporary),
            **(told or {}),
        },
    )
    return stack.enter_context(running)


def temporary_folder(output_file: Path) -> Path:
    """Where a launched target writes its temporary files."""
    return output_file.with_suffix(".tmp").resolve()


def resolved(user: model.User) -> User:
    """The user with a password: from the target file, the fake merchant's default, or a new one."""
    known = {person.login: person.password for person in merchant_users.DEFAULT_USERS}
    password = user.password or Secret("password", known.get(user.login) or secrets.token_urlsafe(12))
    return User(name=user.name, login=user.login, password=password)


def target_place(target: GatewayTarget) -> Place:
    """The gateway's origins, and how the target file says to reach them."""
    static = [resource.jwks_uri for project in target.projects for resource in project.resources]
    urls = [target.base_url, target.core_url]
    cert = target.reach.client_cert
    return Place(
        origins=frozenset(map(origin, urls)),
        hosts=hosts_of([*urls, *static]),
        ca_file=str(target.reach.ca_file) if target.reach.ca_file else None,
        client_cert=(str(cert[0]), str(cert[1])) if cert else None,
        headers=dict(target.reach.headers),
    )


def _describe(target: GatewayTarget) -> Described | None:
    if target.control is None:
        return None
    control = connect_control(target.control)
    try:
        return actions.describe(control)
    except ControlFailed as failure:
        where = f"; is [control] right in {target.file.name}, and running?" if target.file else ""
        raise CannotRun(f"{failure}{where}") from failure
    finally:
        control.close()


def _reach(target: GatewayTarget) -> tuple[Exchange, str]:
    """Sends a first request to both hosts; raises CannotRun if one cannot be reached.

    Returns the answer of the first host, and why a certificate was refused, if it was.
    """
    wire = Wire((target_place(target),), timeout_s=target.limits.request_timeout_s, record=lambda _: None)
    try:
        urls = {
            "base_url": some_discovery(target),
            "core_url": agent_wire.token_endpoint(target.core_url),
        }
        exchanges = {key: wire.send("first contact", agent_wire.get(url)) for key, url in urls.items()}
        distrust = ""
        for key, exchange in exchanges.items():
            if exchange.answer is None:
                why = exchange.failure or "no answer"
                said = (
                    f"the target cannot be reached at {origin(urls[key])}: {why}; "
                    f"{unreachable(target, key, why)}"
                )
                if not why.startswith(DISTRUSTED):
                    raise CannotRun(said)
                distrust = distrust or said
        return exchanges["base_url"], distrust
    except RateLimited as limited:
        raise CannotRun(f"the target cannot be reached: {limited}") from limited
    finally:
        wire.close()


def some_discovery(target: GatewayTarget) -> str:
    """A URL to which any gateway has an answer."""
    known = next((resource.id for project in target.projects for resource in project.resources), "gateproof")
    return agent_wire.discovery_url(target.base_url, known)


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _launch_error(failure: LaunchFailed, target: GatewayTarget, users: Sequence[User]) -> str:
    """The error of the launch, and the last lines of the target's output, redacted."""
    secrets = [user.password for user in users]
    secrets += [client.secret for project in target.projects for client in project.proxy_clients]
    secrets += [target.control.token] if target.control is not None and target.control.token else []
    inherited = {name: value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    given = {**inherited, **target.reach.headers, **(target.launch.env if target.launch is not None else {})}
    secrets += [Secret("setting", value) for value in given.values()]
    for pattern in (_IN_AN_ADDRESS, _NAMED):
        secrets += [Secret("password", value) for value in pattern.findall(failure.last_lines)]
    printed = Keyring(secrets=secrets).redactor().text(failure.last_lines).strip()
    lines = "\n".join(printed.splitlines()[-_LINES_SHOWN:])[-_MOST_SHOWN:]
    return f"{failure}; it printed:\n{lines}" if lines else str(failure)
