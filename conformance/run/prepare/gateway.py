"""Bringing a run to its start: certificates, the fake merchant, the target, its control."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
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
from gateproof.conformance.targets.launch import LaunchFailed, Running, launch
from gateproof.conformance.targets.model import GatewayTarget, Launch
from gateproof.conformance.targets.readiness import any_answers
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire.client import RateLimited, Wire
from gateproof.conformance.wire.connections import DISTRUSTED
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.route import Place, origin
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.merchant import users as merchant_users

_LAUNCH_TRIES = 3
# What whoever runs gateproof has in the environment, and a target that was launched may print.
_SECRET_NAME = re.compile(r"PASS(WORD|WD|PHRASE)|SECRET|TOKEN|CREDENTIAL|_KEY$|_PW$", re.IGNORECASE)
_IN_AN_ADDRESS = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
# Of what a target printed that did not get ready: lines, and characters of them.
_LINES_SHOWN, _MOST_SHOWN = 20, 8 * 1024


class CannotRun(Exception):
    """The run has no target to ask: says why, in words that may be shown."""


class Distrusted(CannotRun):
    """The target shows a certificate that its clients refuse: nothing but that can be tested."""

    def __init__(self, why: str, prepared: Prepared[GatewayContext] | Prepared[ServiceContext]) -> None:
        super().__init__(why)
        self.prepared = prepared


ContextT_co = TypeVar("ContextT_co", bound=Context, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Prepared(Generic[ContextT_co]):
    """A target that answers, with the fakes around it."""

    context: ContextT_co
    name: str
    version: str
    date: str
    discovery_digest: str


@dataclass(frozen=True, kw_only=True)
class Started:
    """A target that runs, the merchant it was told of, and the people who have an account there."""

    target: GatewayTarget
    merchant: MerchantAccess | None
    running: Running | None
    users: tuple[User, ...]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """An authority and a merchant that serve several embedded targets, one after the other."""

    authority: Authority
    merchant: MerchantAccess


def set_stage(folder: Path, seed: int, stack: ExitStack) -> Stage:
    """Makes a stage that lasts as long as the stack."""
    authority = Authority(folder)
    target = embedded_gateway(Embedded(), authority, folder, stack)
    users = tuple(resolved(user) for user in target.users)
    merchant = start_merchant(target, users, authority, seed, stack)
    if merchant is None:
        raise CannotRun("the embedded reference has a control, so it has a merchant")
    return Stage(authority=authority, merchant=merchant)


def prepare(
    target: GatewayTarget | Embedded, folder: Path, seed: int, stack: ExitStack, stage: Stage | None = None
) -> Prepared[GatewayContext]:
    """Starts what has to be started; the stack stops it.

    A target with a certificate that is refused is `Distrusted`, with all that the rules of TLS need.
    """
    authority = stage.authority if stage is not None else Authority(folder)
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
    """Starts the merchant and then the target, which may look for its merchant as soon as it runs."""
    target = embedded_gateway(given, authority, folder, stack) if isinstance(given, Embedded) else given
    users = tuple(resolved(user) for user in target.users)
    try:
        merchant = merchant or start_merchant(target, users, authority, seed, stack)
    except MerchantFailed as failure:
        raise CannotRun(str(failure)) from failure
    running = None
    for attempt in range(_LAUNCH_TRIES):
        try:
            if target.launch is not None:
                urls = (target.base_url, target.core_url, target.control.url if target.control else None)
                running = launched(
                    target.launch,
                    folder / "target.log",
                    stack,
                    ca_file=_trusted_by_target(target, authority),
                    urls=[url for url in urls if url is not None],
                    ready=any_answers([url for url in (urls[2], some_discovery(target)) if url is not None]),
                )
            break
        except LaunchFailed as failure:
            # Another program took a port between our look and the reference's: the reference moves on.
            last = failure.exit_code != PORT_TAKEN or attempt + 1 == _LAUNCH_TRIES
            if last or not isinstance(given, Embedded):
                raise CannotRun(_said(failure, target, users)) from failure
            target = embedded_gateway(given, authority, folder, stack)
    return Started(target=target, merchant=merchant, running=running, users=users)


def launched(
    spec: Launch,
    output_file: Path,
    stack: ExitStack,
    *,
    ca_file: Path,
    urls: Sequence[str],
    ready: Callable[[], bool],
    told: Mapping[str, str] | None = None,
) -> Running:
    """A started program that answers, told which authority to trust, and what else it is `told`."""
    variables = ("GATEPROOF_CA_FILE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
    answering = [*urls, *([spec.ready_url] if spec.ready_url else [])]
    running = launch(
        spec,
        output_file=output_file,
        ready=ready,
        addresses=sorted({_address(url) for url in answering}),
        env_extra={**dict.fromkeys(variables, str(ca_file)), **(told or {})},
    )
    return stack.enter_context(running)


def resolved(user: model.User) -> User:
    """The user with a password: the target file's, the fake merchant's own for its users, or a new one."""
    known = {person.login: person.password for person in merchant_users.DEFAULT_USERS}
    password = user.password or Secret("password", known.get(user.login) or secrets.token_urlsafe(12))
    return User(name=user.name, login=user.login, password=password)


def target_place(target: GatewayTarget) -> Place:
    """The gateway's own origins, with what the target file says about reaching them."""
    static = [resource.jwks_uri for project in target.projects for resource in project.resources]
    urls = [target.base_url, target.core_url]
    cert = target.reach.client_cert
    return Place(
        origins=frozenset(map(origin, urls)),
        hosts=frozenset(urlsplit(url).hostname or "" for url in [*urls, *static]),
        ca_file=str(target.reach.ca_file) if target.reach.ca_file else None,
        client_cert=(str(cert[0]), str(cert[1])) if cert else None,
        headers=dict(target.reach.headers),
    )


def _trusted_by_target(target: GatewayTarget, authority: Authority) -> Path:
    files = target.merchant.files if target.merchant is not None else None
    return files.ca_file if files is not None else authority.ca_file


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
    """Asks both hosts for anything at all: a target that cannot be reached is no target that fails.

    Gives the answer of the first, and why the certificate of either was refused.
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
    """An address that any gateway has an answer for."""
    known = next((resource.id for project in target.projects for resource in project.resources), "gateproof")
    return agent_wire.discovery_url(target.base_url, known)


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _said(failure: LaunchFailed, target: GatewayTarget, users: Sequence[User]) -> str:
    """What the launch says, and the target's last lines with all masked that looks like a secret."""
    secrets = [user.password for user in users]
    secrets += [client.secret for project in target.projects for client in project.proxy_clients]
    secrets += [target.control.token] if target.control is not None and target.control.token else []
    inherited = {name: value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    given = {**inherited, **target.reach.headers, **(target.launch.env if target.launch is not None else {})}
    secrets += [Secret("setting", value) for value in given.values()]
    secrets += [Secret("password", value) for value in _IN_AN_ADDRESS.findall(failure.last_lines)]
    printed = Keyring(secrets=secrets).redactor().text(failure.last_lines).strip()
    lines = "\n".join(printed.splitlines()[-_LINES_SHOWN:])[-_MOST_SHOWN:]
    return f"{failure}; it printed:\n{lines}" if lines else str(failure)
