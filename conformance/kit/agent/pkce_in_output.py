"""Verifiers that never came to a token endpoint: nothing is known of them but their challenges."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from gateproof.conformance.kit.agent.agent import s256

# What a verifier is made of, and how long it is (RFC 7636 section 4.1).
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
# Letters of a verifier that may be the end of a sentence as well.
_BEHIND = "."


def proofs_in(text: str, challenges: Container[str]) -> list[str]:
    """Whatever stands in the text and has one of these challenges: that is a verifier by chance only."""
    return [each for each in dict.fromkeys(_candidates(text)) if s256(each) in challenges]


def _candidates(text: str) -> Iterable[str]:
    for found in _VERIFIER.findall(text):
        yield found
        yield found.strip(_BEHIND)
