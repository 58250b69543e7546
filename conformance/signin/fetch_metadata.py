"""The Sec-Fetch headers that browsers send with a navigation; servers use them against forged forms.

See Fetch Metadata Request Headers (W3C), section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from gateproof.conformance.signin.addresses import same_origin


def fetch_metadata(url: str, source: str | None, visited: Sequence[str]) -> list[tuple[str, str]]:
    """The headers for a request to this URL from a page at `source`; without one, the user typed a URL.

    `visited` are the URLs of earlier redirects of this navigation. Only secure URLs and loopback get them.
    """
    if not _is_trustworthy(url):
        return []
    return [
        ("Sec-Fetch-Site", "none" if source is None else _relation(source, [*visited, url])),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "document"),
    ]


def _relation(source: str, urls: Sequence[str]) -> str:
    """How all of these URLs relate to the page's: the most distant one counts."""
    if all(same_origin(source, url) for url in urls):
        return "same-origin"
    return "same-site" if all(_site(source) == _site(url) for url in urls) else "cross-site"


def _site(url: str) -> tuple[str, str]:
    """The scheme and the last two labels of the host; the whole host if it is an address."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return parts.scheme, host if _is_address(host) else ".".join(host.split(".")[-2:])


def _is_trustworthy(url: str) -> bool:
    parts = urlsplit(url)
    host = parts.hostname or ""
    is_loopback = ip_address(host).is_loopback if _is_address(host) else f".{host}".endswith(".localhost")
    return parts.scheme == "https" or is_loopback


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
