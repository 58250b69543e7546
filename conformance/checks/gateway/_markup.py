"""Text that becomes markup if a page does not escape it, and pages searched for that markup."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping

from selectolax.lexbor import LexborHTMLParser

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.route import origin

# Makes text that becomes markup if it is not escaped, from a unique name.
PAYLOADS: Mapping[str, Callable[[str], str]] = {
    "element": lambda mark: f"gateproof <{mark}>agent</{mark}>",
    "behind-double-quotes": lambda mark: f'gateproof" {mark}="1',
    "behind-single-quotes": lambda mark: f"gateproof' {mark}='1",
    "behind-a-title": lambda mark: f"gateproof</title><{mark}>",
    "behind-a-script": lambda mark: f"gateproof</script><{mark}>",
    "behind-a-text-area": lambda mark: f"gateproof</textarea><{mark}>",
}


def new_mark() -> str:
    """A name for an element or an attribute that no page has by chance."""
    return f"gp{secrets.token_hex(6)}"


def is_no_markup(gateway: Gateway, world: World, mark: str, what: str) -> None:
    """No page of the gateway has an element or attribute of this name."""
    pages = list(_pages(gateway, world))
    if not pages:
        raise LeftOut("the gateway showed no HTML page of its own")
    for exchange in pages:
        found = _markup_named(exchange, mark)
        expect.that(
            not found,
            f"page at {exchange.request.url.partition('?')[0]} after markup in {what}",
            expected="text, with no element and no attribute made of it",
            got=found,
            exchange=exchange,
        )


def _pages(gateway: Gateway, world: World) -> Iterator[Exchange]:
    """The gateway's answers that a browser would show as HTML."""
    homes = {origin(gateway.base_url), origin(gateway.core_url)}
    for exchange in world.seen():
        if exchange.answer is not None and origin(exchange.request.url) in homes:
            media_type = (exchange.answer.header("Content-Type") or "").partition(";")[0].strip().lower()
            if media_type in {"text/html", "application/xhtml+xml"} and exchange.answer.body:
                yield exchange


def _markup_named(exchange: Exchange, mark: str) -> str:
    """The element or attribute of this name in a page, parsed as browsers do; empty for none."""
    text = exchange.answer.text() if exchange.answer is not None else ""
    root = LexborHTMLParser(text).root if mark in text else None
    for node in root.traverse() if root is not None else ():
        if node.tag == mark:
            return "an element"
        if mark in (node.attributes or {}):
            return f"an attribute of <{node.tag}>"
    return ""
