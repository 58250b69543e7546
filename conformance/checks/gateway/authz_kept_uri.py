"""The gateway redirects the browser to the registered redirect URI unchanged, however unusual it is."""

from __future__ import annotations

import re
import string
from collections import Counter
from urllib.parse import parse_qsl, quote, urlsplit

from gateproof.conformance.checks.gateway._unusual_uris import UNUSUAL
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, values_of_choice

_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_PRINTABLE = string.ascii_letters + string.digits + string.punctuation


@check("AUTHZ-01", cases=UNUSUAL)
def code_comes_to_an_unusual_uri_as_it_is(world: World, case: str) -> None:
    """An unusual redirect URI, if the gateway registers it, gets its code unchanged, with its own query.

    The query may be encoded in another way; it has all its own parameters, and exactly one code.
    """
    world.show(case)
    here = world.in_one_browser()
    here.new_code()
    agent = here.agents.new_if_accepted(case)
    visit = here.gateway.visit(here.attempt(agent), wherever=True)
    if not visit.codes():
        with values_of_choice():
            require_code(here.gateway, visit)

    _came_to(visit, case)


def _came_to(visit: Visit, uri: str) -> None:
    sent_to, what = visit.sent_to or "", f"authorization with the redirect URI {uri}"
    expect.that(_place(sent_to) == _place(uri), what, expected="the browser there", got=visit.outcome())
    came, own = _query(sent_to), _query(uri)
    lost = own - came
    expect.that(
        not lost,
        what,
        expected="all parameters of its own query",
        got=f"none such as {', '.join(f'{name}={value}' for name, value in lost)}",
    )
    codes = sum(number for (name, _), number in came.items() if name == "code")
    expect.that(codes == 1, what, expected="one code", got=f"{codes}")


def _place(url: str) -> tuple[str, str | None, int | None, str]:
    """Scheme, host, port and path, with escapes in upper case and non-ASCII characters escaped."""
    parts = urlsplit(url)
    path = quote(parts.path, safe=_PRINTABLE)
    return (
        parts.scheme.lower(),
        parts.hostname,
        parts.port or {"https": 443, "http": 80}.get(parts.scheme.lower()),
        _ESCAPE.sub(lambda found: found[0].upper(), path),
    )


def _query(url: str) -> Counter[tuple[str, str]]:
    return Counter(parse_qsl(urlsplit(url).query, keep_blank_values=True))
