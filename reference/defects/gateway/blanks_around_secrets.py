"""Gateways that do not see blanks and other invisible characters around a client's secret."""

from __future__ import annotations

from gateproof.reference.defects.gateway.agent_credentials import secret_stored_as
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
    defect(
        "agent-secret-trimmed (CODE-07): White space around the secret of an agent is cut off.",
        **secret_stored_as(str.strip),
    ),
    defect(
        "blanks-behind-an-agents-secret-unread (CODE-07): Blanks behind the secret of an agent do not count.",
        **secret_stored_as(lambda secret: secret.rstrip(" ")),
    ),
    defect(
        "agent-secret-ends-at-a-nul (CODE-07): The secret of an agent is compared up to its first NUL.",
        **secret_stored_as(lambda secret: secret.partition("\0")[0]),
    ),
)
