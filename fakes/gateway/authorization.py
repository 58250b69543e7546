"""An authorization request, and how the browser is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from gateproof.fakes.gateway.gateway import Replied

# The printable ASCII characters; a header can have no others.
_VISIBLE = "".join(map(chr, range(33, 127)))


@dataclass(frozen=True, kw_only=True, slots=True)
class AuthorizationRequest:
    """An authorization request, kept until the exchange of its code."""

    client_id: str
    redirect_uri: str
    state: str | None = field(repr=False)
    nonce: str | None = field(repr=False, default=None)
    scope: str


def redirected(asked: AuthorizationRequest, answer: Mapping[str, str]) -> Replied:
    """Redirects the browser to the agent, with the agent's state."""
    state = {"state": asked.state} if asked.state is not None else {}
    joint = "&" if "?" in asked.redirect_uri else "?"
    query = urlencode({**answer, **state}, quote_via=quote)
    # Characters that a header cannot have are escaped, as in a browser.
    target = quote(asked.redirect_uri, safe=_VISIBLE, errors="replace")
    return Replied(status=302, page="", headers={"location": f"{target}{joint}{query}"})


def page_of(title: str, body: str) -> str:
    """A page for the browser, with this body."""
    return f"<!doctype html><html lang=en><head><title>{title}</title></head><body>{body}</body></html>"
