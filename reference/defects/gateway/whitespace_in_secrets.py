"""Gateways that ignore spaces and control characters around a Proxy client's secret."""

from __future__ import annotations

from gateproof.reference.defects.gateway.proxy_clients import storing_secrets_as
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.ids import fingerprint

DEFECTS = (
    defect(
        "proxy-secret-trimmed (PROXY-03): The gateway ignores leading and trailing whitespace when it "
        "compares the secret of a Proxy client.",
        **storing_secrets_as(lambda secret: fingerprint(secret.strip())),
    ),
    defect(
        "blanks-behind-a-proxy-secret-unread (PROXY-03): The gateway ignores trailing spaces when it "
        "compares the secret of a Proxy client, as databases do with padded columns.",
        **storing_secrets_as(lambda secret: fingerprint(secret.rstrip(" "))),
    ),
    defect(
        "blanks-before-a-proxy-secret-unread (PROXY-03): The gateway ignores spaces between the colon of the "
        "Basic credentials and the secret.",
        **storing_secrets_as(lambda secret: fingerprint(secret.lstrip(" "))),
    ),
    defect(
        "proxy-secret-ends-at-a-control-character (PROXY-03): The gateway compares the secret of a Proxy "
        "client only up to the first control character.",
        **storing_secrets_as(
            lambda secret: fingerprint(
                next((secret[:at] for at, letter in enumerate(secret) if letter < " "), secret)
            )
        ),
    ),
)
