"""The configuration of one fake merchant: one JSON object, parsed strictly."""

from __future__ import annotations

import difflib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from gateproof.fakes.merchant.users import DEFAULT_USERS, User
from gateproof.fakes.serving import is_loopback


class ConfigError(ValueError):
    """The configuration is wrong; the text is one line and contains no secret."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TlsFiles:
    """A certificate for the merchant's listeners."""

    cert_file: Path
    key_file: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetAccess:
    """How the merchant reaches the per-Resource JWKS at the gateway.

    Headers and the client certificate are for `origins` only, if some are given.
    """

    ca_file: Path | None = None
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    client_cert_file: Path | None = None
    client_key_file: Path | None = None
    origins: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantConfig:
    """Everything that can be configured."""

    admin_token: str = field(repr=False)
    listen: str = "127.0.0.1:0"
    public_url: str | None = None
    # The host in its URLs, in place of the address at which it listens.
    name: str | None = None
    tls: TlsFiles | None = None
    paths: Literal["seeded", "usual"] = "seeded"
    seed: int = 7
    users: tuple[User, ...] = DEFAULT_USERS
    target: TargetAccess = TargetAccess()
    clock_offset_s: float = 0
    # Wrong certificates that an extra listener can use in place of the merchant's own, by name.
    certificates: dict[str, TlsFiles] = field(default_factory=dict)

    @property
    def address(self) -> tuple[str, int]:
        return _address(self.listen)

    def named(self, netloc: str) -> str:
        """A host and port of this merchant as they are in its URLs."""
        return netloc if self.name is None else f"{self.name}:{netloc.rpartition(':')[2]}"

    def to_json(self) -> str:
        return json.dumps(asdict(self), default=str)


def parse_config(text: str) -> MerchantConfig:
    """Reads the JSON object."""
    try:
        raw = json.loads(text)
    except ValueError:
        raise ConfigError("the configuration is not JSON; expected one object on one line") from None
    raw = _table("the configuration", raw, MerchantConfig.__dataclass_fields__)
    admin_token = raw.get("admin_token")
    if not isinstance(admin_token, str) or len(admin_token) < 16:
        raise ConfigError("admin_token: expected a string of at least 16 characters")
    listen = _text("listen", raw.get("listen", "127.0.0.1:0"))
    _address(listen)
    return MerchantConfig(
        admin_token=admin_token,
        listen=listen,
        public_url=_public_url(raw.get("public_url")),
        name=None if raw.get("name") is None else _text("name", raw["name"]),
        tls=_tls(raw.get("tls")),
        paths=_paths(raw.get("paths", "seeded")),
        seed=_whole("seed", raw.get("seed", 7)),
        users=_users(raw.get("users")),
        target=_target(raw.get("target") or {}),
        clock_offset_s=parse_seconds("clock_offset_s", raw.get("clock_offset_s", 0)),
        certificates=_certificates(raw.get("certificates") or {}),
    )


def parse_user(key: str, raw: object) -> User:
    fields = _table(key, raw, User.__dataclass_fields__)
    missing = [name for name in User.__dataclass_fields__ if not isinstance(fields.get(name), str)]
    if missing:
        raise ConfigError(
            f"{key}: expected the strings name, login and password; wrong: {', '.join(missing)}"
        )
    return User(**fields)


def parse_seconds(key: str, raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, (int, float)):
        raise ConfigError(f"{key}: expected a number of seconds, found {type(raw).__name__}")
    return raw


def known_keys(where: str, raw: dict[str, Any], known: Any) -> None:
    """Refuses the first unknown key, and suggests the nearest known one."""
    for key in raw:
        if key not in known:
            near = difflib.get_close_matches(key, list(known), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ConfigError(f"{where}: unknown key {key!r}{hint}")


def _table(where: str, raw: object, known: Any) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise ConfigError(f"{where}: expected an object, found {type(raw).__name__}")
    known_keys(where, raw, known)
    return cast(dict[str, Any], raw)


def _text(key: str, raw: object) -> str:
    if not isinstance(raw, str) or not raw:
        raise ConfigError(f"{key}: expected a string, found {type(raw).__name__}")
    return raw


def _whole(key: str, raw: object) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise ConfigError(f"{key}: expected a whole number, found {type(raw).__name__}")
    return raw


def _file(key: str, raw: object) -> Path:
    path = Path(_text(key, raw))
    if not path.is_file():
        raise ConfigError(f"{key}: no such file: {path}")
    return path


def _address(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not port.isdecimal() or int(port) > 65535:
        raise ConfigError(f"listen: expected HOST:PORT, found {listen!r}")
    if not is_loopback(host):
        raise ConfigError(f"listen: a test double listens on loopback only, found {host!r}")
    return host, int(port)


def _public_url(raw: object) -> str | None:
    if raw is None:
        return None
    url = _text("public_url", raw).rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError(f"public_url: expected an http or https URL without query, found {url!r}")
    return url


def _tls(raw: object, key: str = "tls") -> TlsFiles | None:
    if raw is None:
        return None
    fields = _table(key, raw, TlsFiles.__dataclass_fields__)
    return TlsFiles(
        cert_file=_file(f"{key}.cert_file", fields.get("cert_file")),
        key_file=_file(f"{key}.key_file", fields.get("key_file")),
    )


def _certificates(raw: object) -> dict[str, TlsFiles]:
    if not isinstance(raw, dict):
        raise ConfigError(f"certificates: expected an object, found {type(raw).__name__}")
    found = {name: _tls(files, f"certificates.{name}") for name, files in raw.items()}
    return {name: files for name, files in found.items() if files is not None}


def _paths(raw: object) -> Literal["seeded", "usual"]:
    if raw not in ("seeded", "usual"):
        raise ConfigError(f"paths: expected 'seeded' or 'usual', found {raw!r}")
    return "usual" if raw == "usual" else "seeded"


def _users(raw: object) -> tuple[User, ...]:
    if raw is None:
        return DEFAULT_USERS
    if not isinstance(raw, list):
        raise ConfigError(f"users: expected a list, found {type(raw).__name__}")
    users = tuple(parse_user(f"users[{place}]", item) for place, item in enumerate(raw))
    if len({user.login for user in users}) != len(users):
        raise ConfigError("users: two users have the same login")
    return users


def _target(raw: object) -> TargetAccess:
    fields = _table("target", raw, TargetAccess.__dataclass_fields__)
    headers = fields.get("headers") or {}
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise ConfigError("target.headers: expected an object of strings")
    files = {
        key: _file(f"target.{key}", fields[key])
        for key in ("ca_file", "client_cert_file", "client_key_file")
        if fields.get(key) is not None
    }
    origins = fields.get("origins") or []
    if not isinstance(origins, list) or not all(isinstance(value, str) for value in origins):
        raise ConfigError("target.origins: expected an array of strings")
    return TargetAccess(headers=headers, origins=tuple(origins), **files)
