"""Gateways that accept several spellings of a code, but mark only the spelling that was sent as used."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.codes import Checks, Codes
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policies import Pairs
from gateproof.reference.gateway.policy import code_exchange as honest
from gateproof.reference.gateway.policy.code_exchange import CodeFacts, CodeRefused
from gateproof.reference.gateway.records import Code


def used_as_it_was_sent(read: Callable[[str], str]) -> dict[str, Any]:
    """Looks a code up as `read` returns it, but remembers used codes as they were sent."""
    sent = ""
    used: set[str] = set()

    def fields(form: Pairs, _query: Pairs) -> Pairs:
        nonlocal sent
        sent = dict(form).get("code", "")
        return tuple((name, read(value) if name == "code" else value) for name, value in form)

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        code = codes.get(key)
        if code is not None and sent not in used:
            codes.change(key, replace(code, spent=False))
        used.add(sent)
        return await honest.spend_code(codes, key, checks, facts)

    return {"token_fields": fields, "spend_code": spend}


def by_its_octets(code: str) -> str:
    bare = code.strip().rstrip("=")
    try:
        octets = urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    except (Error, ValueError):
        return code
    return urlsafe_b64encode(octets).decode().rstrip("=")


DEFECTS = (
    defect(
        "used-codes-known-by-their-text (CODE-02): The gateway decodes a code from base64url before the "
        "lookup, but remembers used codes as they were sent.",
        **used_as_it_was_sent(by_its_octets),
    ),
    defect(
        "used-codes-known-by-their-case (CODE-02): The gateway looks up codes case-insensitively, but "
        "remembers used codes as they were sent.",
        new_code=lambda ids: ids.secret().lower(),
        **used_as_it_was_sent(str.lower),
    ),
)
