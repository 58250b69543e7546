"""A credential in another spelling; code that decodes before it compares accepts it."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase, digits

_BASE64URL = ascii_uppercase + ascii_lowercase + digits + "-_"


def in_the_spare_bits(text: str) -> str | None:
    """Changes unused bits of the last base64url character; None if it is not base64url.

    43 characters hold two bits more than 32 octets. If there are no unused bits, the decoded octets differ.
    """
    place = _BASE64URL.find(text[-1:] or "=")
    return text[:-1] + _BASE64URL[place ^ 1] if place >= 0 else None


def in_swapped_case(text: str) -> str | None:
    """Swaps upper and lower case; None if there are no letters."""
    swapped = text.swapcase()
    return swapped if swapped != text else None


def padded(text: str) -> str:
    return text + "="


def with_a_space(text: str) -> str:
    return text + " "
