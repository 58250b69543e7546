"""Which requests come from another site, by their Host and Origin.

With DNS rebinding, a site gives its own host name the address of a server on the user's machine; the user's
browser then sends the site's requests there. The service listens on loopback only, so it has no other names.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from gateproof.reference.service.wire import Asked
from gateproof.reference.serving import is_loopback


def refusal_of_another_site(asked: Asked) -> int | None:
    """The status for a request of another site: 403 by its Origin, as in MCP's transport, or 421 by its Host.

    Clients that are not browsers send no Origin.
    """
    if not all(_is_own(origin) for origin in asked.headers_named("origin")):
        return 403
    return None if all(_is_own(f"//{host}") for host in asked.headers_named("host")) else 421


def _is_own(url: str) -> bool:
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False
