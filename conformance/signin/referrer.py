"""Referer and Origin headers, by the referrer policy of a page."""

from __future__ import annotations

from urllib.parse import urlsplit

from gateproof.conformance.signin.addresses import same_origin

_DEFAULT = "strict-origin-when-cross-origin"
# What each policy sends: to the same origin, to another one, and from https to http.
_TELLS = {
    "no-referrer": ("nothing", "nothing", "nothing"),
    "no-referrer-when-downgrade": ("all", "all", "nothing"),
    "origin": ("origin", "origin", "origin"),
    "origin-when-cross-origin": ("all", "origin", "origin"),
    "same-origin": ("all", "nothing", "nothing"),
    "strict-origin": ("origin", "origin", "nothing"),
    "unsafe-url": ("all", "all", "all"),
    _DEFAULT: ("all", "origin", "nothing"),
}


def policy_in(said: str) -> str:
    """The last known policy of a list; empty if there is none."""
    return next((each for part in reversed(said.split(",")) if (each := part.strip().lower()) in _TELLS), "")


def referer(policy: str, page: str, url: str) -> str | None:
    """The Referer header of a request from this page to this URL."""
    at_home, abroad, downgraded = _TELLS.get(policy, _TELLS[_DEFAULT])
    if same_origin(page, url):
        told = at_home
    else:
        told = downgraded if page.startswith("https:") and not url.startswith("https:") else abroad
    if told == "nothing":
        return None
    return page.partition("#")[0] if told == "all" else origin_of(page) + "/"


def origin_header(policy: str, page: str, url: str) -> str:
    """The Origin header of a POST from this page; `null` if the policy hides the page."""
    return "null" if referer(policy, page, url) is None else origin_of(page)


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
