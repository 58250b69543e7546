"""Other legal ways to get the merchant's code, and to connect it with the sign-in that it is for."""

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
    variant(
        "answer-by-form-post: the merchant's identity provider answers by a form that the browser posts",
        merchant_response_mode="form_post",
    ),
)
