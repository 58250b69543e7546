"""The kinds of values in a target file, each with a description of what it expects."""

from __future__ import annotations

import difflib
import ipaddress
import math
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from gateproof.conformance.targets.model import Address
from gateproof.conformance.targets.reading import At, Kind, quoted, toml_type
from gateproof.conformance.wire.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_LONGEST_S = 24 * 3600
_MOST_PROCESSES = 256
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _string(value: Any, at: At) -> str:
    if not isinstance(value, str) or not value.strip():
        raise at.wrong(toml_type(value), STRING.expects)
    return value


def _text(value: Any, at: At) -> str:
    if not isinstance(value, str):
        raise at.wrong(toml_type(value), TEXT.expects)
    return value


def _strings(value: Any, at: At) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise at.wrong(toml_type(value), STRINGS.expects)
    for item in value:
        if not isinstance(item, str) or not item:
            raise at.wrong(f"{toml_type(item)} in the array", STRINGS.expects)
    return tuple(value)


def _some_strings(value: Any, at: At) -> tuple[str, ...]:
    if value == []:
        raise at.wrong(toml_type(value), SOME_STRINGS.expects)
    return _strings(value, at)


def _scopes(value: Any, at: At) -> tuple[str, ...]:
    scopes = _strings(value, at)
    for scope in scopes:
        if re.fullmatch(r"[\x21\x23-\x5b\x5d-\x7e]+", scope) is None:
            raise at.wrong(quoted(scope), "one scope a string, without spaces")
    return scopes


def _command(value: Any, at: At) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        hint = "one string for the program and one for each argument" if isinstance(value, str) else ""
        raise at.wrong(toml_type(value), COMMAND.expects, hint)
    for item in value:
        if not isinstance(item, str) or "\0" in item:
            raise at.wrong(f"{toml_type(item)} in the array", COMMAND.expects)
    if not value[0].strip():
        raise at.wrong("an empty program name", COMMAND.expects)
    return tuple(value)


def _seconds(value: Any, at: At) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise at.wrong(toml_type(value), SECONDS.expects)
    if not math.isfinite(value) or not 0 < value <= _LONGEST_S:
        raise at.wrong(f"{value}", SECONDS.expects)
    return float(value)


def _switch(value: Any, at: At) -> bool:
    if not isinstance(value, bool):
        raise at.wrong(toml_type(value), SWITCH.expects)
    return value


def _processes(value: Any, at: At) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise at.wrong(toml_type(value), PROCESSES.expects)
    if not 1 <= value <= _MOST_PROCESSES:
        raise at.wrong(f"{value}", PROCESSES.expects)
    return value


def _string_table(value: Any, at: At) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise at.wrong(toml_type(value), STRING_TABLE.expects)
    for key, item in value.items():
        if not isinstance(item, str):
            raise at.wrong(f"{toml_type(item)} under '{key}'", STRING_TABLE.expects)
    return dict(value)


def _environment(value: Any, at: At) -> Mapping[str, str]:
    table = _string_table(value, at)
    for name, item in table.items():
        if not name or "=" in name or "\0" in name + item:
            raise at.wrong(f"the name {quoted(name)}", "names and values that are allowed in an environment")
    return table


def _headers(value: Any, at: At) -> Mapping[str, str]:
    table = _string_table(value, at)
    for name, item in table.items():
        if _HEADER_NAME.fullmatch(name) is None:
            raise at.wrong(f"the header name {quoted(name)}", "names of HTTP headers")
        if re.fullmatch(r"[\t\x20-\x7e]*", item) is None:
            raise at.wrong(
                f"a value under '{name}' that is not allowed in a header", "printable ASCII on one line"
            )
    return table


def _json(value: Any, at: At) -> Any:
    """Requires a TOML value that JSON can represent; returns it unchanged."""
    match value:
        case dict():
            for item in value.values():
                _json(item, at)
        case list():
            for item in value:
                _json(item, at)
        case float() if not math.isfinite(value):
            raise at.wrong("a number that JSON cannot represent", JSON.expects)
        case str() | bool() | int() | float():
            pass
        case _:
            raise at.wrong(toml_type(value), JSON.expects)
    return value


def _json_table(value: Any, at: At) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise at.wrong(toml_type(value), JSON_TABLE.expects)
    _json(value, at)
    return value


def _table(value: Any, at: At) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise at.wrong(toml_type(value), TABLE.expects)
    return value


def _pem(value: Any, at: At) -> Path:
    path = at.folder / _string(value, at)
    if not path.is_file():
        raise at.wrong(
            quoted(value) + (", a folder" if path.is_dir() else ", which does not exist"), PEM.expects
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise at.wrong(f"{quoted(value)}, which cannot be read ({error.strerror})", PEM.expects) from None
    if b"-----BEGIN " not in content:
        raise at.wrong(f"{quoted(value)}, which is not PEM", PEM.expects)
    return path.resolve()


def _path(value: Any, at: At) -> Path:
    return at.folder / _string(value, at)


def _paths(value: Any, at: At) -> tuple[Path, ...]:
    return tuple(at.folder / item for item in _strings(value, at))


def _secret(value: Any, at: At) -> Secret:
    """The value of the environment variable that the file names."""
    if not isinstance(value, str) or _VARIABLE_NAME.fullmatch(value) is None:
        # The value may be the secret itself, by mistake: it is not repeated in the error.
        found = (
            "a string that is not a variable name" if isinstance(value, str) and value else toml_type(value)
        )
        raise at.wrong(found, VARIABLE.expects)
    content = at.env.get(value)
    if not content:
        found = f"the environment variable {value} {'not set' if content is None else 'empty'}"
        raise at.wrong(found, "a variable that is set and not empty")
    return Secret(at.key.removesuffix("_env"), content, variable=value)


def _url_path(value: Any, at: At) -> str:
    text = _string(value, at)
    if re.fullmatch(r"/[\x21\x22\x24-\x7e]*", text) is None or text.startswith("//"):
        raise at.wrong(quoted(text), URL_PATH.expects)
    return text


def _address(value: Any, at: At) -> Address:
    text = _string(value, at)
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not colon or not bare or (":" in bare) != (host != bare) or not re.fullmatch(r"[0-9]{1,5}", port):
        raise at.wrong(quoted(text), ADDRESS.expects)
    if int(port) > 65535:
        raise at.wrong(f"the port {port}", "a port from 0 to 65535")
    return Address(host=bare, port=int(port))


def choice(*values: str) -> Kind:
    """One of these words."""
    expects = "one of " + ", ".join(f"'{value}'" for value in values)

    def read(value: Any, at: At) -> str:
        if not isinstance(value, str):
            raise at.wrong(toml_type(value), expects)
        if value not in values:
            near = difflib.get_close_matches(value, values, n=1)
            raise at.wrong(quoted(value), expects, f"did you mean '{near[0]}'?" if near else "")
        return value

    return Kind(expects=expects, read=read)


def url(*, base: bool = False, http_anywhere: bool = False) -> Kind:
    """An absolute URL. A base URL has no query and no trailing slash. Plain http is for loopback only."""
    expects = "an absolute URL such as 'https://127.0.0.1:8443'"

    def read(value: Any, at: At) -> str:
        if not isinstance(value, str) or not value:
            raise at.wrong(toml_type(value), expects)
        parts, shown = _split(value, at, expects)
        if parts.scheme not in {"http", "https"}:
            raise at.wrong(shown, expects)
        if parts.fragment or "#" in value:
            raise at.wrong(shown, "a URL without a fragment")
        if base and "?" in value:
            raise at.wrong(shown, "a URL without a query")
        if parts.scheme == "http" and not http_anywhere and not is_loopback(parts.hostname or ""):
            raise at.wrong(shown, "https: plain http is for loopback addresses only")
        path = parts.path.rstrip("/") if base else parts.path
        return parts._replace(netloc=parts.netloc.lower(), path=path).geturl()

    return Kind(expects=expects, read=read)


def _origins(value: Any, at: At) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise at.wrong(toml_type(value), ORIGINS.expects)
    read = url(base=True)
    found = []
    for item in value:
        given = read.read(item, at)
        if urlsplit(given).path:
            raise at.wrong(quoted(item), ORIGINS.expects, "an origin has no path")
        found.append(given)
    return tuple(found)


def _split(value: str, at: At, expects: str) -> tuple[SplitResult, str]:
    """The parts of a URL, and the URL as it may be shown in an error."""
    if re.fullmatch(r"[\x21-\x7e]+", value) is None or "\\" in value:
        raise at.wrong("a URL with spaces, backslashes or characters beyond ASCII", expects)
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise at.wrong("a URL with an invalid host or port", expects) from None
    if "@" in parts.netloc:
        raise at.wrong("a URL with a user name or password in it", expects)
    shown = quoted(value.partition("?")[0] + ("?..." if "?" in value else ""))
    if not parts.hostname:
        raise at.wrong(shown, expects)
    if port == 0:
        raise at.wrong("the port 0", "a port from 1 to 65535")
    return parts, shown


def is_loopback(host: str) -> bool:
    """True for 127.0.0.0/8, ::1 and the name localhost."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


STRING = Kind(expects="a string that is not empty", read=_string)
TEXT = Kind(expects="a string", read=_text)
STRINGS = Kind(expects="an array of strings", read=_strings)
SOME_STRINGS = Kind(expects="an array of at least one string", read=_some_strings)
SCOPES = Kind(expects="an array of scopes", read=_scopes)
COMMAND = Kind(expects="an array of strings: a program and its arguments", read=_command)
SECONDS = Kind(expects="a number of seconds above 0 and within a day", read=_seconds)
SWITCH = Kind(expects="true or false", read=_switch)
PROCESSES = Kind(expects=f"a number of processes from 1 to {_MOST_PROCESSES}", read=_processes)
STRING_TABLE = Kind(expects="a table of strings", read=_string_table)
ENVIRONMENT = Kind(expects="a table of strings", read=_environment)
HEADERS = Kind(expects="a table of strings", read=_headers)
JSON = Kind(expects="a value that JSON can represent", read=_json)
JSON_TABLE = Kind(expects="a table that JSON can represent", read=_json_table)
TABLE = Kind(expects="a table", read=_table)
PEM = Kind(expects="a PEM file, relative to the target file's folder", read=_pem)
PATH = Kind(expects="a path, relative to the target file's folder", read=_path)
PATHS = Kind(expects="an array of paths, relative to the target file's folder", read=_paths)
VARIABLE = Kind(expects="the name of an environment variable that holds the secret", read=_secret)
ORIGINS = Kind(expects="an array of origins such as 'https://idp.example'", read=_origins)
URL_PATH = Kind(expects="a path that begins with one '/'", read=_url_path)
ADDRESS = Kind(expects="a host and a port such as '127.0.0.1:0'", read=_address)
