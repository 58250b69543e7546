"""References of a page to other hosts, which may learn the address of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from html import unescape
from urllib.parse import urlsplit

from gateproof.conformance.signin.addresses import is_web, resolve
from gateproof.conformance.wire.route import origin

_VALUE = r"\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))"
_BASE = re.compile(rf"<base\s[^<>]*?href{_VALUE}", re.IGNORECASE)
_ATTRIBUTES = re.compile(rf"\b(?:src|href|action|formaction|poster|data|srcset){_VALUE}", re.IGNORECASE)
_STYLES = re.compile(r"(?:url\(|@import)\s*[\"']?([^\"')\s;]+)", re.IGNORECASE)


def reference_elsewhere(url: str, page: str, own: AbstractSet[str]) -> str | None:
    """The first host that the page at this URL refers to and that is not at one of these origins."""
    given = _BASE.search(page)
    base = resolve(url, _value(given)) if given is not None else url
    found = (resolve(base, reference) for reference in _references(page))
    return next((urlsplit(each).netloc for each in found if is_web(each) and origin(each) not in own), None)


def _references(page: str) -> Iterator[str]:
    for attribute in _ATTRIBUTES.finditer(page):
        value = _value(attribute)
        if attribute[0].lower().startswith("srcset"):
            yield from (words[0] for each in value.split(",") if (words := each.split()))
        else:
            yield value
    yield from (unescape(each[1]) for each in _STYLES.finditer(page))


def _value(attribute: re.Match[str]) -> str:
    return unescape(next((each for each in attribute.groups() if each is not None), ""))
