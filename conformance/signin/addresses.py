"""URLs as browsers parse them, which differs from most libraries."""

from __future__ import annotations

import re
import string
from urllib.parse import SplitResult, quote, urljoin, urlsplit

_PRINTABLE = string.ascii_letters + string.digits + string.punctuation
_DEFAULT_PORTS = {"http": 80, "https": 443}


def resolve(base: str, reference: str, *, encoding: str = "utf-8") -> str:
    """The absolute URL to which a browser on `base` goes for this reference.

    Browsers treat a backslash as a slash, and any number of slashes as two. Without this, the URL of a
    foreign host could be taken for one of the target.
    """
    text = re.sub(r"[\t\r\n]", "", reference.strip("".join(map(chr, range(33)))))
    end = min((index for index in (text.find("?"), text.find("#")) if index >= 0), default=len(text))
    if re.match(r"(?:https?:|(?![A-Za-z][A-Za-z0-9+.-]*:))", text, re.IGNORECASE):
        text = text[:end].replace("\\", "/") + text[end:]
        text = re.sub(r"^(https?:)?/{2,}", lambda match: (match[1] or "") + "//", text, flags=re.IGNORECASE)
    text = quote(text, safe=_PRINTABLE, encoding=encoding, errors="replace")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text):
        return text
    try:
        return urljoin(base, text)
    except ValueError:
        return text


def is_web(url: str) -> bool:
    """True for an http or https URL with a host and a valid port."""
    try:
        parts = urlsplit(url)
        return parts.scheme in _DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def same_origin(one: str, other: str) -> bool:
    return is_web(one) and is_web(other) and _place(urlsplit(one)) == _place(urlsplit(other))


def lands_on(redirect_uri: str, url: str) -> bool:
    """True if the URL is the redirect URI, possibly with more query parameters.

    Scheme, host and port are compared after parsing, the path and the registered query as exact text.
    """
    if not is_web(url) or not is_web(redirect_uri):
        return url.partition("#")[0] == redirect_uri
    there, registered = urlsplit(url), urlsplit(redirect_uri)
    if _place(there) != _place(registered) or (there.path or "/") != (registered.path or "/"):
        return False
    parameters = there.query.split("&")
    return all(parameter in parameters for parameter in registered.query.split("&") if parameter)


def without_query(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]


def _place(parts: SplitResult) -> tuple[str, str | None, str, int | None]:
    """The parts that have to be equal for the same origin; user information counts, too."""
    user, at, _ = parts.netloc.rpartition("@")
    return parts.scheme, parts.hostname, user + at, parts.port or _DEFAULT_PORTS.get(parts.scheme)
