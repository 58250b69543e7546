"""Finds PKCE verifiers in output when only their challenges are known."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from gateproof.conformance.kit.agent.agent import s256

# Characters and length of a verifier (RFC 7636 section 4.1).
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
# Characters of a verifier that may also end a sentence.
_SENTENCE_END = "."


def verifiers_in(text: str, challenges: Container[str]) -> list[str]:
    """Parts of the text whose S256 challenge is one of these: those are verifiers."""
    return [each for each in dict.fromkeys(_candidates(text)) if s256(each) in challenges]


def _candidates(text: str) -> Iterable[str]:
    for found in _VERIFIER.findall(text):
        yield found
        yield found.strip(_SENTENCE_END)
