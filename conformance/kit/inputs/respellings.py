"""A credential in another spelling: whoever decodes it before it is compared may take it for the same."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase, digits

_BASE64URL = ascii_uppercase + ascii_lowercase + digits + "-_"


def in_the_spare_bits(text: str) -> str | None:
    """Another last character for the same octets; None where the last one is no base64url.

    43 characters hold two bits more than 32 octets do. Where there is none to spare, they are other octets.
    """
    place = _BASE64URL.find(text[-1:] or "=")
    return text[:-1] + _BASE64URL[place ^ 1] if place >= 0 else None


def in_swapped_case(text: str) -> str | None:
    """Small letters for capitals and the other way round; None where there are no letters."""
    swapped = text.swapcase()
    return swapped if swapped != text else None


def padded(text: str) -> str:
    return text + "="


def with_a_space(text: str) -> str:
    return text + " "
