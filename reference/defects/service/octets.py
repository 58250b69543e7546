"""Services that show a credential as the numbers of its octets."""

from __future__ import annotations

from gateproof.reference.defects.service.row import defect
from gateproof.reference.defects.service.secrets import (
    in_a_member,
    leaking,
    merchant_token,
    proxy_secret,
    proxy_token,
)


def as_a_buffer(secret: str) -> dict[str, object]:
    """`JSON.stringify(Buffer.from(token))`."""
    return {"type": "Buffer", "data": list(secret.encode())}


def as_a_typed_array(secret: str) -> dict[str, int]:
    """`JSON.stringify(new TextEncoder().encode(token))`."""
    return {str(place): octet for place, octet in enumerate(secret.encode())}


def as_a_slice(secret: str) -> str:
    """`fmt.Sprint([]byte(token))`."""
    return f"[{' '.join(map(str, secret.encode()))}]"


def as_hex_with_colons(secret: str) -> str:
    return secret.encode().hex(":")


DEFECTS = (
    defect(
        "merchant-token-as-a-buffer (SECRET-02): A debug member of the answer contains the merchant token as "
        "an array of octets.",
        **leaking(merchant_token, in_a_member("debug", as_a_buffer)),
    ),
    defect(
        "proxy-token-as-a-typed-array (SECRET-03): A debug member of the answer contains the Proxy token as "
        "an object with an index for each octet.",
        **leaking(proxy_token, in_a_member("debug", as_a_typed_array)),
    ),
    defect(
        "merchant-token-as-a-slice (SECRET-02): A debug member of the answer contains the merchant token as "
        "Go prints a slice of octets.",
        **leaking(merchant_token, in_a_member("debug", as_a_slice)),
    ),
    defect(
        "proxy-secret-in-hex-with-colons (SECRET-04): A debug member of the answer contains the Proxy "
        "client's secret in hexadecimal with colons.",
        **leaking(proxy_secret, in_a_member("debug", as_hex_with_colons)),
    ),
)
