"""The sender and receiver of an exchange, from the name of its step and its URL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from gateproof.reports.exchanges import Shown
from gateproof.reports.verdicts import RunResult

# The order from left to right in a diagram; other parties follow.
ORDER = ("Harness", "Browser", "Agent", "Backend", "Service", "Gateway", "Merchant")
_OF_THE_AGENT = ("Agent", "Gateway")
# Sender, and receiver unless the URL says otherwise.
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
        sender = "Service"  # the operator's backend is the service under test
    place = netloc(shown.url)
    known = _places(result.target).get(place)
    return sender, known or receiver or place or "Unknown"


def _places(target: Mapping[str, Any]) -> dict[str, str]:
    """The party of each host and port in the target's facts."""
    found = ((netloc(str(target.get(name, ""))), party) for name, party in _ADDRESSES.items())
    return {place: party for place, party in found if place}


def netloc(url: str) -> str:
    """The host and port of a URL; empty if there is none, or the URL is invalid."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


def path(url: str) -> str:
    """The part of a URL after host and port."""
    start = url.find("/", url.find("://") + 3)
    return url[start:] if start > 0 else url
