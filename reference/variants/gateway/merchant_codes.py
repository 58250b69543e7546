"""Other legal ways to connect the merchant's code with the sign-in for which it was issued."""

from __future__ import annotations

from gateproof.reference.variants.variant import variant

VARIANTS = (
    variant(
        "nonce-without-pkce: the gateway sends its merchant a nonce, and no code_challenge",
        merchant_code_bindings=frozenset({"nonce"}),
    ),
    variant(
        "pkce-without-nonce: the gateway sends its merchant a code_challenge, and no nonce",
        merchant_code_bindings=frozenset({"code_challenge"}),
    ),
    variant(
        "state-alone: the gateway sends its merchant a state, and neither a nonce nor a code_challenge",
        merchant_code_bindings=frozenset(),
    ),
)
