"""Legal ways for an agent to go on when something is refused."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from gateproof.reference.agent.policy import exchange
from gateproof.reference.agent.wire import Answer, Outgoing
from gateproof.reference.defects.agent.stopping import steps_up, tried_again
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
    """A gateway that refuses a registration may have met a member that it does not know."""
    record = json.loads(asked.body) if asked.body.startswith(b"{") else {}
    if answer.status != 400 or "redirect_uris" not in record or "client_uri" not in record:
        return None
    return replace(asked, body=json.dumps({name: record[name] for name in _NEEDED}).encode())


def _forgets_a_rejected_client(answer: Answer) -> bool:
    """A client that the gateway does not know is none: the next run registers."""
    if answer.document().get("error") == "invalid_client":
        (Path(os.environ["GATEPROOF_STATE_DIR"]) / "clients.json").unlink(missing_ok=True)
    return exchange.starts_over(answer)


VARIANTS = (
    variant(
        "refused-token-tried-nineteen-times: a token that is refused is tried eighteen times more",
        operate=tried_again(18),
    ),
    variant(
        "steps-up-twice: a service that says it wants more scopes is brought two fresh tokens",
        **steps_up(2),
    ),
    variant(
        "registers-less-when-refused: a registration that is refused is made once more, with nothing in it "
        "that is not needed",
        followed=_says_less,
        registration_record=registers_more,
    ),
    variant(
        "forgets-a-rejected-client: the client goes when the gateway rejects it",
        starts_over=_forgets_a_rejected_client,
    ),
)
