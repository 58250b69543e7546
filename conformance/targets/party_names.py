"""Host names for the harness's own parties (`--names`), for targets that refuse loopback addresses."""

from __future__ import annotations

import re
import socket
from ipaddress import ip_address

GATEWAY, MERCHANT, SERVICE = "gateway", "merchant", "service"
# The parties of the harness around a target of this role.
AROUND = {
    "gateway": (MERCHANT, SERVICE),
    "service": (GATEWAY, MERCHANT, SERVICE),
    "agent": (SERVICE, GATEWAY, MERCHANT),
}
# The attacker's host, under the name of a party that this role does not use.
ATTACKER = {"gateway": SERVICE, "service": SERVICE, "agent": MERCHANT}
_ADDRESS = "127.0.0.1"
_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
_LONGEST = 200


def host_of(party: str, suffix: str) -> str:
    """The host in a party's URLs: a name below the suffix, or without one the address."""
    return f"{party}.{suffix}" if suffix else _ADDRESS


def hosts_below(suffix: str) -> tuple[str, ...]:
    """The names of all parties; none without a suffix."""
    return tuple(host_of(party, suffix) for party in (GATEWAY, MERCHANT, SERVICE)) if suffix else ()


def is_suffix(text: str) -> bool:
    """True for a name that can be the suffix of host names, such as localhost or agents.test."""
    labels = text.split(".")
    return len(text) <= _LONGEST and all(map(_LABEL.fullmatch, labels)) and not labels[-1].isdecimal()


def unresolved(role: str, suffix: str) -> tuple[str, ...]:
    """The names of the parties around a target that this system does not resolve to this machine."""
    return tuple(host for party in AROUND[role] if not _is_here(host := host_of(party, suffix)))


def _is_here(host: str) -> bool:
    try:
        found = {address[4][0] for address in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return bool(found) and all(ip_address(str(each)).is_loopback for each in found)
