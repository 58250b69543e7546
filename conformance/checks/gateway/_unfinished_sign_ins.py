"""Sign-ins that the merchant's identity provider does not finish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Scripts of the fake merchant: what the provider does instead of completing a sign-in.
UNFINISHED_SIGN_INS: Mapping[str, Mapping[str, Any]] = {
    "password-refused": {"page": "wrong_password"},
    "access-denied": {"page": "error=access_denied"},
    "login-required": {"page": "error=login_required"},
    "provider-failed": {"page": "error=server_error"},
    "code-refused": {"sign_in": "reject"},
    "client-refused": {"sign_in": "turn_away"},
    "refused-with-200": {"sign_in": "refusal_with_200"},
    "no-token": {"sign_in": "no_token"},
    "wrong-shape": {"sign_in": "wrong_shape"},
    "html": {"sign_in": "html"},
    "truncated-json": {"sign_in": "invalid_json"},
    "server-error": {"sign_in": "server_error"},
    "reset": {"sign_in": "reset"},
    # Longer than most gateways wait for a merchant.
    "silence": {"sign_in": {"outcome": "hang", "seconds": 12}},
}
