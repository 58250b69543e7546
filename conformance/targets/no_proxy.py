"""Keeps a launched program's requests to this machine away from a proxy that its environment names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from gateproof.conformance.targets.party_names import hosts_below

_HERE = ("127.0.0.1", "localhost")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


def without_proxy(hosts: Iterable[str]) -> Mapping[str, str]:
    """Environment variables that exclude these hosts and loopback addresses from the caller's proxy.

    Many HTTP clients send requests to localhost through a proxy unless NO_PROXY excludes it. Without a proxy,
    nothing is set: not every client can read each list.
    """
    if not any(os.environ.get(form) for name in _PROXIES for form in (name, name.upper())):
        return {}
    given = os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or ""
    direct = ",".join(dict.fromkeys(each for each in (given, *_HERE, *hosts) if each))
    return {"NO_PROXY": direct, "no_proxy": direct}


def party_hosts(suffix: str, public_url: str | None) -> list[str]:
    """The hosts of the harness's parties: names below this suffix, and that of a fixed address."""
    public = urlsplit(public_url).hostname if public_url else None
    return [*hosts_below(suffix), *([public] if public else [])]
