"""Legal ways for an agent to continue after a refusal."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from gateproof.reference.agent.policy import exchange
from gateproof.reference.agent.wire import Answer, Outgoing
from gateproof.reference.defects.agent.stopping import stale_if_forbidden, wants_more_scopes, with_retries
from gateproof.reference.variants.agent.requests import registers_more
from gateproof.reference.variants.variant import variant

_NEEDED = (
    "client_name",
    "redirect_uris",
    "grant_types",
    "response_types",
    "token_endpoint_auth_method",
)


def _says_less(asked: Outgoing, answer: Answer) -> Outgoing | None:
    """Repeats a refused registration without optional members, which the gateway may not know."""
    record = json.loads(asked.body) if asked.body.startswith(b"{") else {}
    if answer.status != 400 or "redirect_uris" not in record or "client_uri" not in record:
        return None
    return replace(asked, body=json.dumps({name: record[name] for name in _NEEDED}).encode())


def _forgets_a_rejected_client(answer: Answer) -> bool:
    """Deletes a client that the gateway rejects, so that the next run registers."""
    if answer.document().get("error") == "invalid_client":
        (Path(os.environ["GATEPROOF_STATE_DIR"]) / "clients.json").unlink(missing_ok=True)
    return exchange.starts_over(answer)


VARIANTS = (
    variant(
        "refused-token-tried-nineteen-times: the agent sends a refused token 19 times",
        operate=with_retries(18),
    ),
    variant(
        "steps-up-twice: the agent gets up to two fresh tokens while the service answers insufficient_scope",
        **stale_if_forbidden(2, wants_more_scopes),
    ),
    variant(
        "registers-less-when-refused: the agent repeats a refused registration without optional members",
        followed=_says_less,
        registration_record=registers_more,
    ),
    variant(
        "forgets-a-rejected-client: the agent deletes its stored client when the gateway rejects it",
        starts_over=_forgets_a_rejected_client,
    ),
)
