"""URLs as browsers parse them, which differs from most libraries."""

from __future__ import annotations

import re
import string
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit

_PRINTABLE = string.ascii_letters + string.digits + string.punctuation
_DEFAULT_PORTS = {"http": 80, "https": 443}
_AROUND = "".join(map(chr, range(33)))
_BREAKS = re.compile(r"[\t\r\n]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_WEB_OR_RELATIVE = re.compile(r"(?:https?:|(?![A-Za-z][A-Za-z0-9+.-]*:))", re.IGNORECASE)
_SLASHES = re.compile(r"^(https?:)?/{2,}", re.IGNORECASE)


def resolve(base: str, reference: str, *, encoding: str = "utf-8") -> str:
    """The absolute URL to which a browser on `base` goes for this reference.

    Browsers treat a backslash as a slash, and any number of slashes as two. Without this, the URL of a
    foreign host could be taken for one of the target.
    """
    text = _BREAKS.sub("", reference.strip(_AROUND))
    end = min((index for index in (text.find("?"), text.find("#")) if index >= 0), default=len(text))
    if _WEB_OR_RELATIVE.match(text):
        text = text[:end].replace("\\", "/") + text[end:]
        text = _SLASHES.sub(lambda match: (match[1] or "") + "//", text)
    text = quote(text, safe=_PRINTABLE, encoding=encoding, errors="replace")
    if _SCHEME.match(text):
        return text
    try:
        return urljoin(base, text)
    except ValueError:
        return text


def is_web(url: str) -> bool:
    """True for an http or https URL with a host and a valid port."""
    return _place(url) is not None


def same_origin(one: str, other: str) -> bool:
    place = _place(one)
    return place is not None and place == _place(other)


def lands_on(redirect_uri: str, url: str) -> bool:
    """True if the URL is the redirect URI, possibly with more query parameters.

    Scheme, host and port are compared after parsing, the path and the registered query as exact text.
    """
    if not is_web(url) or not is_web(redirect_uri):
        return url.partition("#")[0] == redirect_uri
    if not same_origin(url, redirect_uri):
        return False
    there, registered = urlsplit(url), urlsplit(redirect_uri)
    if (there.path or "/") != (registered.path or "/"):
        return False
    parameters = there.query.split("&")
    return all(parameter in parameters for parameter in registered.query.split("&") if parameter)


def without_query(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]


# Each URL of a navigation is compared several times.
@lru_cache(maxsize=256)
def _place(url: str) -> tuple[str, str, str, int] | None:
    """The parts that have to be equal for the same origin; user information counts, too. None if not web."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not host or port == 0:
        return None
    user, at, _ = parts.netloc.rpartition("@")
    return parts.scheme, host, user + at, port or _DEFAULT_PORTS[parts.scheme]
