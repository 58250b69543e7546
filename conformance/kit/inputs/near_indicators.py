"""Strings that differ from the Resource indicator, but that an implementation may accept as equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import quote, urlsplit


def _host(indicator: str, change: Callable[[str], str]) -> str:
    host = urlsplit(indicator).netloc
    return indicator.replace(host, change(host), 1) if host else indicator


def _path(indicator: str, change: Callable[[str], str]) -> str:
    path = urlsplit(indicator).path
    place = indicator.rfind(path) if path.strip("/") else -1
    return indicator if place < 0 else indicator[:place] + change(path) + indicator[place + len(path) :]


# Each function changes an indicator in one way that an implementation may ignore.
NEAR_MISSES: Mapping[str, Callable[[str], str]] = {
    "trailing-slash": lambda indicator: indicator[:-1] if indicator.endswith("/") else indicator + "/",
    "upper-case-scheme": lambda indicator: indicator.replace("https:", "HTTPS:", 1),
    "upper-case-host": lambda indicator: _host(indicator, str.upper),
    "path-in-other-case": lambda indicator: _path(indicator, str.swapcase),
    "whole-in-upper-case": str.upper,
    "default-port": lambda indicator: _host(
        indicator, lambda host: host[:-4] if host.endswith(":443") else f"{host}:443"
    ),
    "another-port": lambda indicator: _host(indicator, lambda host: f"{host}:8443"),
    "http": lambda indicator: indicator.replace("https:", "http:", 1),
    "without-scheme": lambda indicator: indicator.partition("://")[2],
    "user-info": lambda indicator: _host(indicator, lambda host: f"user@{host}"),
    "sub-domain": lambda indicator: _host(indicator, lambda host: f"www.{host}"),
    "dot-after-the-host": lambda indicator: _host(indicator, lambda host: f"{host}."),
    "percent-encoded-letter": lambda indicator: _path(
        indicator, lambda path: f"/%{ord(path[1]):02x}{path[2:]}"
    ),
    "percent-encoded-slash": lambda indicator: _path(
        indicator, lambda path: f"/{path[1:].replace('/', '%2F')}%2F"
    ),
    "percent-encoded-whole": lambda indicator: quote(indicator, safe=""),
    "double-slash": lambda indicator: _path(indicator, lambda path: f"/{path}"),
    "dot-segment": lambda indicator: _path(indicator, lambda path: f"/.{path}"),
    "dot-dot-segment": lambda indicator: _path(indicator, lambda path: f"/x/..{path}"),
    "question-mark": lambda indicator: f"{indicator}?",
    "query": lambda indicator: f"{indicator}?tenant=1",
    "fragment": lambda indicator: f"{indicator}#",
    "full-width-letters": lambda indicator: _host(
        indicator, lambda host: "".join(chr(ord(letter) + 0xFEE0) for letter in host)
    ),
    "zero-width-space": lambda indicator: f"{indicator}\u200b",
    "space-behind": lambda indicator: f"{indicator} ",
    "space-before": lambda indicator: f" {indicator}",
    "line-end-behind": lambda indicator: f"{indicator}\n",
    "last-character-missing": lambda indicator: indicator[:-1],
    "first-character-missing": lambda indicator: indicator[1:],
    "parent-path": lambda indicator: indicator.rpartition("/")[0],
    "origin-alone": lambda indicator: "://".join(urlsplit(indicator)[:2]),
    "longer-path": lambda indicator: f"{indicator}/orders",
    "much-longer": lambda indicator: f"{indicator}/{'orders/' * 40}",
    "one-character-more": lambda indicator: f"{indicator}0",
    "quoted": lambda indicator: f'"{indicator}"',
    "two-of-them": lambda indicator: f"{indicator} {indicator}",
    "wildcard": lambda indicator: f"{indicator[:-1]}%",
    "star": lambda _: "*",
}
