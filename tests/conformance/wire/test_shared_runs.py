"""What tokens of one maker have in common is not looked for, and what is left of each is found."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable

import pytest

from gateproof.conformance.wire.common_substrings import without_shared_parts
from gateproof.conformance.wire.leaks import CanarySet, canary

SECRET = "wJ8vQ2mZ0pXk4TgL7rNc1sYb/+~.Aa9"
PROJECT = "prj_0123456789abcdef0123"


def base64url(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def chance(seed: str, length: int = 32) -> str:
    return hashlib.sha256(seed.encode()).hexdigest()[:length]


def signed(seed: str) -> str:
    """As Django and itsdangerous sign: what it says, when, and a signature."""
    said = json.dumps({"jti": chance(seed), "project_id": PROJECT, "scope": "redeem"})
    return f"{base64url(said)}:1tQxYz:{base64url(chance(seed + 'signature'))}"


def enveloped(seed: str) -> str:
    """As Laravel encrypts: members in a fixed order, and a tail that never changes."""
    said = {
        "iv": base64url(chance(seed)),
        "value": base64url(chance(seed + "value", 48)),
        "mac": "",
        "tag": "",
    }
    return base64.b64encode(json.dumps(said, separators=(",", ":")).encode()).decode()


def verified(seed: str) -> str:
    """As Rails verifies: an envelope around the message, and a digest behind two dashes."""
    said = {"_rails": {"message": base64url(chance(seed)), "exp": None, "pur": f"tokens of {PROJECT}"}}
    return f"{base64.b64encode(json.dumps(said).encode()).decode()}--{chance(seed + 'digest', 40)}"


MAKERS = [signed, enveloped, verified]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("number", [1, 3])
def test_what_one_serializer_writes_into_every_token_is_no_leak(
    maker: Callable[[str], str], number: int
) -> None:
    own = [maker(f"proxy {each}") for each in range(number)]
    agents = [maker(f"agent {each}") for each in range(number)]
    canary_set = CanarySet(without_shared_parts([canary("proxy_token", token) for token in own], agents))
    assert [token for token in (*agents, maker("another agent")) if canary_set.search(token)] == []
    assert [token for token in own if not canary_set.search(f'{{"debug": "{token}"}}')] == []


def test_half_of_what_is_a_tokens_own_is_found() -> None:
    token = signed("proxy")
    canary_set = CanarySet(without_shared_parts([canary("proxy_token", token)], [signed("agent")]))
    assert canary_set.search(token[16:40])
    assert canary_set.search(token[-24:])


def test_token_whose_own_parts_are_short_is_found_as_a_whole() -> None:
    one, two = (f"{chance(seed, 10)}-{chance('same')}-{chance(seed + 'b', 10)}" for seed in ("one", "two"))
    canary_set = CanarySet(without_shared_parts([canary("proxy_token", one)], [two]))
    assert canary_set.search(two) == []
    assert canary_set.search(f"token={one}")


def test_a_beginning_that_others_share_is_no_secret() -> None:
    prefix = "gateway_live_secret_2026_"
    mine, others = prefix + "a1b2c3d4e5f6g7h8i9", prefix + "z9y8x7w6v5u4t3s2r1"
    canary_set = CanarySet(without_shared_parts([canary("proxy_client_secret", mine)], [others]))
    assert canary_set.search(others) == []
    assert canary_set.search(f"x{mine}")


def test_a_value_that_another_holds_whole_keeps_all_of_itself() -> None:
    canary_set = CanarySet(without_shared_parts([canary("proxy_token", SECRET)], [f"{SECRET}-and-more"]))
    assert canary_set.search(f"{SECRET}-and-more")
