"""Functions for storing a screenshot without secrets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Picturing:
    """`redact` removes secrets from text, `tells` is true if a text contains a known secret.

    `keep` stores a screenshot and returns its name.
    """

    redact: Callable[[str], str]
    tells: Callable[[str], bool]
    keep: Callable[[bytes], str]
