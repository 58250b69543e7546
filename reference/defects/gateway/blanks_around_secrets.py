"""Gateways that do not see blanks and other invisible characters around a Proxy client's secret."""

from __future__ import annotations

from gateproof.reference.defects.gateway.proxy_clients import keeping_secrets
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.ids import fingerprint

DEFECTS = (
    defect(
        "proxy-secret-trimmed (PROXY-03): White space around the secret of a Proxy client is cut off.",
        **keeping_secrets(lambda secret: fingerprint(secret.strip())),
    ),
    defect(
        "blanks-behind-a-proxy-secret-unread (PROXY-03): The secret of a Proxy client is compared as "
        "databases compare padded columns: blanks behind it do not count.",
        **keeping_secrets(lambda secret: fingerprint(secret.rstrip(" "))),
    ),
    defect(
        "blanks-before-a-proxy-secret-unread (PROXY-03): Blanks behind the colon of the Basic pair do not "
        "count.",
        **keeping_secrets(lambda secret: fingerprint(secret.lstrip(" "))),
    ),
    defect(
        "proxy-secret-ends-at-a-control-character (PROXY-03): The secret of a Proxy client is compared up "
        "to its first control character.",
        **keeping_secrets(
            lambda secret: fingerprint(
                next((secret[:at] for at, letter in enumerate(secret) if letter < " "), secret)
            )
        ),
    ),
)
