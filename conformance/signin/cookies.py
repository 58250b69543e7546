"""The cookies of one browser (RFC 6265).

The standard library's jar differs from browsers: it invents a domain for hosts without a dot, and does not
send Secure cookies over plain http on loopback. Cookies ignore ports, so two servers on one host share them,
as in a browser. SameSite is not implemented: every sign-in starts at a typed URL.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from functools import lru_cache
from urllib.parse import urlsplit

from gateproof.conformance.targets.kinds import is_loopback


@dataclass(frozen=True, kw_only=True, slots=True)
class Cookie:
    """One cookie and its scope."""

    name: str
    value: str
    host: str
    host_only: bool
    path: str
    secure: bool
    expires: float | None

    def goes_to(self, host: str, path: str, *, secure: bool) -> bool:
        at_home = host == self.host if self.host_only else _within(host, self.host)
        return at_home and _path_within(path, self.path) and (secure or not self.secure)


class Jar:
    """Stores cookies and selects those for a request."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._cookies: dict[tuple[str, str, str], Cookie] = {}

    def store(self, url: str, headers: Iterable[str]) -> None:
        """Stores the Set-Cookie headers of an answer from this URL."""
        for header in headers:
            cookie = _parse(url, header, self._now())
            if cookie is None:
                continue
            key = (cookie.host, cookie.path, cookie.name)
            if cookie.expires is not None and cookie.expires <= self._now():
                self._cookies.pop(key, None)
            else:
                # A replaced cookie keeps its position.
                self._cookies[key] = cookie

    def copy(
        self,
        other: Jar,
        hosts: frozenset[str],
        names: Collection[str] | None = None,
        changed: Callable[[str], str] = str,
    ) -> None:
        """Takes in the cookies that another jar has now for these hosts; those with these names only."""
        self._cookies |= {
            key: replace(each, value=changed(each.value))
            for key, each in other._cookies.items()
            if any(_within(host, each.host) for host in hosts) and (names is None or each.name in names)
        }

    def header(self, url: str) -> str | None:
        """The Cookie header for a request to this URL, longest paths first."""
        host, path, secure = _where(url)
        now = self._now()
        going = [
            cookie
            for cookie in self._cookies.values()
            if cookie.goes_to(host, path, secure=secure) and (cookie.expires is None or cookie.expires > now)
        ]
        going.sort(key=lambda cookie: -len(cookie.path))
        pairs = [f"{cookie.name}={cookie.value}" if cookie.name else cookie.value for cookie in going]
        return "; ".join(pairs) or None


# Asked for each request and each cookie of its answer.
@lru_cache(maxsize=256)
def _where(url: str) -> tuple[str, str, bool]:
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    return host, parts.path or "/", parts.scheme == "https" or is_loopback(host)


def _parse(url: str, header: str, now: float) -> Cookie | None:
    """The cookie of a Set-Cookie header; None if a browser would reject it."""
    host, path, secure_place = _where(url)
    pair, *rest = header.split(";")
    name, equals, value = pair.partition("=")
    name, value = (name.strip(), value.strip()) if equals else ("", pair.strip())
    attributes = {
        key.strip().lower(): text.strip() for key, _, text in (part.partition("=") for part in rest)
    }
    domain = attributes.get("domain", "").removeprefix(".").lower()
    cookie_path = attributes.get("path", "")
    cookie = Cookie(
        name=name,
        value=value,
        host=domain or host,
        host_only=not domain,
        path=cookie_path if cookie_path.startswith("/") else _default_path(path),
        secure="secure" in attributes,
        expires=_expiry(attributes, now),
    )
    foreign = bool(domain) and domain != host and ("." not in domain or not _within(host, domain))
    unsafe = cookie.secure and not secure_place
    broken_promise = (name.lower().startswith("__secure-") and not cookie.secure) or (
        name.lower().startswith("__host-") and not (cookie.secure and not domain and cookie_path == "/")
    )
    empty = not name and not value
    return None if foreign or unsafe or broken_promise or empty else cookie


def _within(host: str, domain: str) -> bool:
    """True for the domain itself and its subdomains; an IP address has none."""
    if host == domain:
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host.endswith("." + domain)
    return False


def _path_within(path: str, cookie_path: str) -> bool:
    if not path.startswith(cookie_path):
        return False
    return path == cookie_path or cookie_path.endswith("/") or path[len(cookie_path)] == "/"


def _default_path(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _expiry(attributes: dict[str, str], now: float) -> float | None:
    """The expiry time; Max-Age has priority. None for a session cookie."""
    age = attributes.get("max-age", "")
    if age.removeprefix("-").isascii() and age.removeprefix("-").isdigit():
        return now + float(age[:12])
    try:
        return parsedate_to_datetime(attributes["expires"].replace("-", " ")).timestamp()
    except (KeyError, ValueError, OverflowError):
        return None
