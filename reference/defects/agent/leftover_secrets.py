"""Agents that show what is left of an authorization, whether it came to nothing or to something."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

from gateproof.reference.agent.policy import authorization, exchange
from gateproof.reference.agent.policy.authorization import Attempt
from gateproof.reference.agent.policy.exchange import ExchangeFacts
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Outgoing, with_query
from gateproof.reference.defects.agent.row import defect


def one_table_for_both() -> dict[str, Any]:
    """What was sent with the first exchange of a run stays in the table of which all requests are made."""
    sent: dict[str, str] = {}

    def request(facts: ExchangeFacts) -> Outgoing:
        sent.update(client_secret=facts.client.client_secret, code_verifier=facts.attempt.verifier)
        return exchange.token_request(facts)

    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        return sent | authorization.authorization_parameters(settings, client, attempt)

    return {"token_request": request, "authorization_parameters": parameters}


def welcomed() -> dict[str, Any]:
    """The service's page for those who have signed in is opened, and told how to go on without them."""
    got: list[str] = []

    def told(step: str, facts: Mapping[str, Any]) -> None:
        if step == "exchange":
            got[:] = [facts["tokens"].get("refresh_token", "")]

    def around(run: Callable[[], int]) -> int:
        code = run()
        if code == 0 and got:
            page = with_query(f"{os.environ['GATEPROOF_SERVICE_URL']}/welcome", {"rt": got[0]})
            subprocess.run([os.environ["BROWSER"], page], check=False)
        return code

    return {"told": told, "around": around}


# The rules named second make the runs in which it shows.
DEFECTS = (
    defect(
        "secret-and-verifier-in-a-later-address (AGENT-14 AGENT-10): The second authorization of a run has "
        "the secret and the verifier of the first exchange in it.",
        **one_table_for_both(),
    ),
    defect(
        "refresh-token-in-a-page-of-the-service (AGENT-14): After a sign-in the browser is sent to a page "
        "of the service, with the refresh token.",
        **welcomed(),
    ),
)
