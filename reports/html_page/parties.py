"""Who spoke to whom in an exchange, from the name of its step and the address that was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from gateproof.reports.exchanges import Shown
from gateproof.reports.verdicts import RunResult

# From left to right in a diagram; a party that is not among them comes after these.
ORDER = ("Harness", "Browser", "Agent", "Backend", "Service", "Gateway", "Merchant")
_OF_THE_AGENT = ("Agent", "Gateway")
# Who sends, and who receives unless the address says otherwise.
_STEPS = {
    "browser": ("Browser", "Merchant"),
    "operation": ("Agent", "Service"),
    "operation without a token": ("Agent", "Service"),
    "resource metadata": ("Agent", "Service"),
    "discovery": _OF_THE_AGENT,
    "discovery of an unknown Resource": _OF_THE_AGENT,
    "core key set": _OF_THE_AGENT,
    "key set of the Resource": _OF_THE_AGENT,
    "registration": _OF_THE_AGENT,
    "code exchange": _OF_THE_AGENT,
    "Proxy token request": ("Backend", "Gateway"),
    "redemption": ("Backend", "Gateway"),
    "merchant API": ("Backend", "Merchant"),
    "operator's service": ("Service", "Merchant"),
    "first contact": ("Harness", "Gateway"),
}
_ADDRESSES = {
    "base_url": "Gateway",
    "core_url": "Gateway",
    "service_url": "Service",
    "metadata_url": "Service",
    "merchant_url": "Merchant",
}
UNDER_TEST = {"gateway": "Gateway", "service": "Service", "agent": "Agent"}


def parties(shown: Shown, result: RunResult) -> tuple[str, str]:
    """The sender and the receiver of the request."""
    sender, receiver = _STEPS.get(shown.step, ("Harness", ""))
    if result.role == "service" and sender == "Backend":
        sender = "Service"  # the operator's backend is what is under test, and goes by that name
    place = netloc(shown.url)
    known = _places(result.target).get(place)
    return sender, known or receiver or place or "Unknown"


def _places(target: Mapping[str, Any]) -> dict[str, str]:
    """Whose the hosts and ports of the target's facts are."""
    found = ((netloc(str(target.get(name, ""))), party) for name, party in _ADDRESSES.items())
    return {place: party for place, party in found if place}


def netloc(url: str) -> str:
    """The host and port of a URL; empty where there is none, or where it cannot be read."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


def path(url: str) -> str:
    """What follows host and port in a URL."""
    start = url.find("/", url.find("://") + 3)
    return url[start:] if start > 0 else url
