"""Keys that were added to the core key set together: a service may fetch it twice a minute at most."""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.fakes.gateway.keys import SigningKey


@dataclass(frozen=True, kw_only=True, slots=True)
class NewKeys:
    """`old` stayed in the set. `early` signed a token before it was added, which was refused.

    `looked_for` is true if the service fetched the key set for that token. `other` has another algorithm.
    """

    old: SigningKey
    early: SigningKey
    other: SigningKey
    plain: SigningKey
    looked_for: bool
    calls_until_found: int
