"""What it takes to keep a picture of a page on which a user stuck, without a secret in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Picturing:
    """`redact` rewrites text so that it may be shown, `tells` whether a text gives a known secret away.

    `keep` takes a picture in, and names it.
    """

    redact: Callable[[str], str]
    tells: Callable[[str], bool]
    keep: Callable[[bytes], str]
