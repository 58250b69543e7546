"""The tables and keys of a target file, by role."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gateproof.conformance.targets import kinds
from gateproof.conformance.targets.model import (
    DEFAULT_USERS,
    Address,
    Control,
    Launch,
    Limits,
    Logs,
    MerchantPlace,
    Operation,
    Project,
    ProxyClientRef,
    Reach,
    Resource,
    ServerFiles,
    SignIn,
    Step,
    User,
    World,
)
from gateproof.conformance.targets.reading import At, Key, Keys, may, must, quoted, table, tables
from gateproof.conformance.wire.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LOCAL_URL = kinds.url()
_SECONDS = may(kinds.SECONDS)


def _launch(found: dict[str, Any], at: At) -> Launch:
    return Launch(**{"cwd": at.folder, **found})


def _control(found: dict[str, Any], at: At) -> Control:
    if ("url" in found) == ("command" in found):
        which = "both url and command" if found else "neither url nor command"
        raise at.wrong(which, "either url or command")
    token = found.pop("token_env", None)
    return Control(cwd=at.folder, token=token, **found)


def _step(found: dict[str, Any], at: At) -> Step:
    if "fill" not in found and "press" not in found:
        raise at.wrong("neither fill nor press", "at least one of them")
    for text in found.get("fill", {}).values():
        for name in re.findall(r"\{([^{}]*)\}", text):
            if name not in {"login", "password", "name"}:
                raise at.on("fill").wrong(f"the placeholder {quoted(name)}", "{login}, {password} or {name}")
    return Step(**found)


def _sign_in(found: dict[str, Any], at: At) -> SignIn:
    if found.get("kind") == "command" and "command" not in found:
        raise at.on("command").wrong("nothing", kinds.COMMAND.expects, "kind = 'command' needs it")
    return SignIn(cwd=at.folder, steps=found.pop("step", ()), **found)


def default_sign_in(at: At) -> SignIn:
    return SignIn(cwd=at.folder)


def _user(found: dict[str, Any], _at: At) -> User:
    return User(name=found["name"], login=found["login"], password=found.get("password_env"))


def users(found: Iterable[User] | None, at: At) -> tuple[User, ...]:
    """The users of the file, or alice and bob; names and logins must be unique."""
    named = tuple(found) if found is not None else DEFAULT_USERS
    at = at.into("[[users]]")
    if not named:
        raise at.wrong("an empty array", "at least one user, or no users key")
    for key in ("name", "login"):
        _all_different([getattr(user, key) for user in named], at.on(key))
    return named


def _server_files(found: dict[str, Any], at: At) -> ServerFiles | None:
    names = ("ca_file", "tls_cert_file", "tls_key_file")
    given = {name: found.pop(name) for name in names if name in found}
    if given and len(given) < len(names):
        missing = next(name for name in names if name not in given)
        raise at.on(missing).wrong("nothing", kinds.PEM.expects, f"it goes with {' and '.join(given)}")
    return ServerFiles(**given) if given else None


def _merchant(found: dict[str, Any], at: At) -> MerchantPlace:
    files = _server_files(found, at)
    return MerchantPlace(**{"listen": Address(host="127.0.0.1", port=0), **found, "files": files})


def _world(found: dict[str, Any], at: At) -> World:
    together = ("proxy_client_id", "proxy_client_secret_env")
    if (together[0] in found) != (together[1] in found):
        missing = next(name for name in together if name not in found)
        raise at.on(missing).wrong("nothing", "an ID and a secret together, or neither")
    files = _server_files(found, at)
    return World(proxy_client_secret=found.pop(together[1], None), files=files, **found)


def _operation(found: dict[str, Any], at: At) -> Operation:
    foreign = ("tool", "arguments") if found["kind"] == "http" else ("method", "json")
    for name in foreign:
        if name in found:
            raise at.on(name).wrong("a key of the other kind", f"no such key where kind is '{found['kind']}'")
    if found["kind"] == "mcp" and "tool" not in found:
        raise at.on("tool").wrong("nothing", kinds.STRING.expects)
    return Operation(**found)


def _proxy_client(found: dict[str, Any], _at: At) -> ProxyClientRef:
    given: Secret = found.pop("secret_env")
    secret = Secret("proxy_client_secret", given.reveal(), variable=given.variable)
    return ProxyClientRef(secret=secret, **found)


def _project(found: dict[str, Any], at: At) -> Project:
    if not found["resources"]:
        raise at.on("resources").wrong("an empty array", "at least one [[projects.resources]]")
    for name in ("resources", "proxy_clients"):
        _all_different([item.id for item in found.get(name, ())], at.into(f"[[projects.{name}]]").on("id"))
    _all_different(
        [item.indicator for item in found["resources"]], at.into("[[projects.resources]]").on("indicator")
    )
    return Project(**found)


def _all_different(values: list[str], at: At) -> None:
    for number, value in enumerate(values):
        if value in values[:number]:
            raise at.wrong(f"{quoted(value)} twice", "a different one each time")


def reach(found: dict[str, Any], at: At) -> Reach:
    """Removes the connection settings from [target] and returns them."""
    cert, key = (found.pop(name, None) for name in ("client_cert_file", "client_key_file"))
    if (cert is None) != (key is None):
        missing = "client_cert_file" if cert is None else "client_key_file"
        raise at.on(missing).wrong(
            "nothing", kinds.PEM.expects, "a client certificate and its key go together"
        )
    return Reach(
        ca_file=found.pop("ca_file", None),
        client_cert=None if cert is None or key is None else (cert, key),
        headers=found.pop("headers", {}),
        origins=found.pop("origins", ()),
    )


def same_scheme(public_url: str | None, base_url: str, at: At) -> None:
    """The fake merchant uses https if the target does, and otherwise plain http."""
    scheme = base_url.partition(":")[0]
    if public_url is not None and public_url.partition(":")[0] != scheme:
        raise at.on("public_url").wrong(quoted(public_url), f"{scheme}, like the target's own address")


LAUNCH = table(
    "launch",
    {
        "command": must(kinds.COMMAND),
        "cwd": may(kinds.PATH),
        "ready_url": may(_LOCAL_URL),
        "timeout_s": _SECONDS,
        "env": may(kinds.ENVIRONMENT),
        "restart": may(kinds.SWITCH),
    },
    _launch,
)
CONTROL = table(
    "control",
    {
        "url": may(_LOCAL_URL),
        "command": may(kinds.COMMAND),
        "token_env": may(kinds.VARIABLE),
    },
    _control,
)
STEP: Keys = {"url_contains": may(kinds.STRING), "fill": may(kinds.STRING_TABLE), "press": may(kinds.STRING)}
SIGN_IN = table(
    "sign_in",
    {
        "kind": may(kinds.choice("forms", "chromium", "control", "command", "manual")),
        "extra_scopes": may(kinds.SCOPES),
        "command": may(kinds.COMMAND),
        "step": may(tables("sign_in.step", STEP, _step)),
    },
    _sign_in,
)
USERS = tables(
    "users",
    {"name": must(kinds.STRING), "login": must(kinds.STRING), "password_env": may(kinds.VARIABLE)},
    _user,
)
_SERVER_FILES: Keys = {name: may(kinds.PEM) for name in ("ca_file", "tls_cert_file", "tls_key_file")}
_PLACE: Keys = {
    "listen": may(kinds.ADDRESS),
    "public_url": may(kinds.url(base=True, http_anywhere=True)),
    **_SERVER_FILES,
}
MERCHANT = table("merchant", _PLACE, _merchant)
LIMITS = table(
    "limits",
    {"code_lifetime_s": _SECONDS, "request_timeout_s": _SECONDS},
    lambda found, _at: Limits(**found),
)
SERVICE_LIMITS = table(
    "limits",
    {
        "request_timeout_s": _SECONDS,
        "worker_processes": may(kinds.PROCESSES),
        "longest_call_s": _SECONDS,
        "proxy_token_cache_s": _SECONDS,
    },
    lambda found, _at: Limits(**found),
)
RESOURCES = tables(
    "projects.resources",
    {
        "id": must(kinds.STRING),
        "indicator": must(kinds.STRING),
        "scopes": must(kinds.SCOPES),
        "jwks_uri": must(_LOCAL_URL),
        "merchant_client_id": may(kinds.STRING),
    },
    lambda found, _at: Resource(**found),
)
PROXY_CLIENTS = tables(
    "projects.proxy_clients",
    {
        "id": must(kinds.STRING),
        "secret_env": must(kinds.VARIABLE),
        "state": may(kinds.choice("active", "revoked")),
    },
    _proxy_client,
)
PROJECTS = tables(
    "projects",
    {
        "id": must(kinds.STRING),
        "agent_policy": must(kinds.choice("approve", "hold")),
        "resources": must(RESOURCES),
        "proxy_clients": may(PROXY_CLIENTS),
    },
    _project,
)
OPERATION = table(
    "operation",
    {
        "kind": must(kinds.choice("http", "mcp")),
        "path": must(kinds.URL_PATH),
        "method": may(kinds.choice("GET", "POST", "PUT", "PATCH", "DELETE")),
        "json": may(kinds.JSON),
        "tool": may(kinds.STRING),
        "arguments": may(kinds.JSON_TABLE),
    },
    _operation,
)
WORLD = table(
    "world",
    {
        **_PLACE,
        "algorithm": may(kinds.choice("RS256", "ES256", "PS256", "EdDSA")),
        "proxy_client_id": may(kinds.STRING),
        "proxy_client_secret_env": may(kinds.VARIABLE),
        "resource_id": may(kinds.STRING),
        "indicator": may(kinds.STRING),
        "scopes": may(kinds.SCOPES),
    },
    _world,
)
LOGS = table("logs", {"files": must(kinds.PATHS)}, lambda found, _at: Logs(**found))

ROLE = kinds.choice("gateway", "service", "agent")
_NAMED: Keys = {"role": must(ROLE), "name": must(kinds.STRING), "version": may(kinds.TEXT)}
_REACHED: Keys = {
    "ca_file": may(kinds.PEM),
    "headers": may(kinds.HEADERS),
    "client_cert_file": may(kinds.PEM),
    "client_key_file": may(kinds.PEM),
    "origins": may(kinds.ORIGINS),
}


def _whole(target: Keys, others: Mapping[str, Key]) -> Keys:
    """All tables of a role; the options in [run] are read by the command."""
    named = must(table("target", {**_NAMED, **target}, lambda found, _at: found))
    return {"target": named, "run": may(kinds.TABLE), **others}


GATEWAY = _whole(
    {"base_url": must(kinds.url(base=True)), "core_url": must(kinds.url(base=True)), **_REACHED},
    {
        "launch": may(LAUNCH),
        "control": may(CONTROL),
        "sign_in": may(SIGN_IN),
        "users": may(USERS),
        "merchant": may(MERCHANT),
        "limits": may(LIMITS),
        "projects": may(PROJECTS),
    },
)
SERVICE = _whole(
    {"service_url": must(kinds.url(base=True)), "metadata_url": may(_LOCAL_URL), **_REACHED},
    {
        "launch": may(LAUNCH),
        "operation": must(OPERATION),
        "world": may(WORLD),
        "limits": may(SERVICE_LIMITS),
        "logs": may(LOGS),
    },
)
AGENT = _whole({}, {"launch": must(LAUNCH), "logs": may(LOGS)})
ROLES: Mapping[str, Keys] = {"gateway": GATEWAY, "service": SERVICE, "agent": AGENT}
