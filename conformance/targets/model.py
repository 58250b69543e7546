"""The contents of a target file as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gateproof.conformance.wire.secret import Secret

AgentPolicy = Literal["approve", "hold"]
SignInKind = Literal["forms", "chromium", "control", "command", "manual"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """How the harness starts the target; `env` may contain credentials and is not shown.

    `restart` says that the target may be killed and started again, and keeps what it acknowledged.
    """

    command: tuple[str, ...]
    cwd: Path
    ready_url: str | None = None
    timeout_s: float = 30.0
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    restart: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """Connection settings for a target: trusted CA, client certificate, additional headers.

    `origins` are further ones that a run may talk to. They get no headers and no client certificate.
    """

    ca_file: Path | None = None
    client_cert: tuple[Path, Path] | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    origins: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Control:
    """The control API: a URL or a command, never both."""

    cwd: Path
    url: str | None = None
    command: tuple[str, ...] | None = None
    token: Secret | None = None
    reach: Reach = field(default_factory=Reach)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A hint for one page of a sign-in."""

    url_contains: str | None = None
    fill: Mapping[str, str] = field(default_factory=dict)
    press: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SignIn:
    """How a user signs in at this target."""

    kind: SignInKind = "forms"
    extra_scopes: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None
    cwd: Path
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """A user in the target file; without a password, the run generates one for the fake merchant."""

    name: str
    login: str
    password: Secret | None = None


DEFAULT_USERS = (
    User(name="alice", login="alice@merchant.example"),
    User(name="bob", login="bob@merchant.example"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A host and a port to listen on; with port 0 the system chooses."""

    host: str
    port: int

    @property
    def netloc(self) -> str:
        """The form of a URL, in which an IPv6 address has brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerFiles:
    """A certificate with its key, and the CA that the target trusts for it."""

    ca_file: Path
    tls_cert_file: Path
    tls_key_file: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantPlace:
    """The fake merchant's listen address, and the URL under which the target reaches it."""

    listen: Address
    public_url: str | None = None
    files: ServerFiles | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Facts about the target that replace a capability.

    Of a service: how many processes hold a Proxy token each, the longest time of a call during a failure, and
    the fixed time after which it replaces its Proxy token, if it replaces no refused one.
    """

    code_lifetime_s: float | None = None
    request_timeout_s: float = 30.0
    worker_processes: int | None = None
    longest_call_s: float | None = None
    proxy_token_cache_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """A Resource that was set up by hand."""

    id: str
    indicator: str
    scopes: tuple[str, ...]
    jwks_uri: str
    merchant_client_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProxyClientRef:
    """A Proxy client that was set up by hand."""

    id: str
    secret: Secret
    state: Literal["active", "revoked"] = "active"


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """A Project that was set up by hand."""

    id: str
    agent_policy: AgentPolicy
    resources: tuple[Resource, ...]
    proxy_clients: tuple[ProxyClientRef, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """The operation of a service that reads the user's orders."""

    kind: Literal["http", "mcp"]
    path: str
    method: str = "POST"
    json: Any = None
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """Fixed addresses and credentials of the fakes around a service that is configured by hand.

    `algorithm` is that of the gateway's keys; by default, the one that the service accepts. `scopes` are
    those of the Resource. Both also apply if the other settings are missing.
    """

    listen: Address | None = None
    public_url: str | None = None
    algorithm: str | None = None
    proxy_client_id: str | None = None
    proxy_client_secret: Secret | None = None
    resource_id: str | None = None
    indicator: str | None = None
    scopes: tuple[str, ...] | None = None
    files: ServerFiles | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Logs:
    """Log files of a target; they need not exist before it runs."""

    files: tuple[Path, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnParties:
    """How the options of a run change the harness's own parties around a target.

    With `one_origin`, API and core of the gateway around a service or agent share an origin. With `names`,
    the parties have host names below it in place of addresses. `deviations` are ways in which the gateway
    around an agent leaves the specification.
    """

    one_origin: bool = False
    names: str = ""
    deviations: tuple[str, ...] = ()

    def as_options(self) -> list[str]:
        """The same as command-line arguments."""
        said = ["--one-origin"] if self.one_origin else []
        said += ["--names", self.names] if self.names else []
        return said + [word for name in self.deviations for word in ("--deviate", name)]


@dataclass(frozen=True, kw_only=True, slots=True)
class GatewayTarget:
    """A gateway under test; `file` is None for the embedded one."""

    role: Literal["gateway"] = "gateway"
    file: Path | None
    name: str
    version: str
    base_url: str
    core_url: str
    reach: Reach
    launch: Launch | None
    control: Control | None
    sign_in: SignIn
    users: tuple[User, ...]
    merchant: MerchantPlace | None
    limits: Limits
    projects: tuple[Project, ...]
    # Whether the file leaves ports open, and whether the target can be launched more than once.
    open_ports: bool = False
    may_run_twice: bool = False
    # Whether the file itself names the users: a gateway may know no others.
    names_users: bool = False
    own_parties: OwnParties = OwnParties()


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceTarget:
    """An operator's service under test; `file` is None for the embedded one."""

    role: Literal["service"] = "service"
    file: Path | None
    name: str
    version: str
    service_url: str
    metadata_url: str | None
    reach: Reach
    launch: Launch | None
    operation: Operation
    world: World
    limits: Limits
    logs: Logs
    open_ports: bool = False
    may_run_twice: bool = False
    own_parties: OwnParties = OwnParties()


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentTarget:
    """An agent under test; `file` is None for the embedded one."""

    role: Literal["agent"] = "agent"
    file: Path | None
    name: str
    version: str
    launch: Launch
    logs: Logs
    open_ports: bool = False
    may_run_twice: bool = False
    own_parties: OwnParties = OwnParties()


Target = GatewayTarget | ServiceTarget | AgentTarget
