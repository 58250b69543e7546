"""Agents that reveal secrets of an authorization that has ended."""

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
    """Adds the secrets of the first exchange of a run to all later authorization requests."""
    sent: dict[str, str] = {}

    def request(facts: ExchangeFacts) -> Outgoing:
        sent.update(client_secret=facts.client.client_secret, code_verifier=facts.attempt.verifier)
        return exchange.token_request(facts)

    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        return sent | authorization.authorization_parameters(settings, client, attempt)

    return {"token_request": request, "authorization_parameters": parameters}


def welcomed() -> dict[str, Any]:
    """Opens a page of the service after the sign-in, with the refresh token in the URL."""
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


# A second rule is declared where only its checks make the run in which the defect shows.
DEFECTS = (
    defect(
        "secret-and-verifier-in-a-later-address (AGENT-14 AGENT-10): The second authorization URL of a run "
        "contains the client secret and the verifier of the first exchange.",
        **one_table_for_both(),
    ),
    defect(
        "refresh-token-in-a-page-of-the-service (AGENT-14): After a sign-in, the agent opens a page of the "
        "service with the refresh token in the URL.",
        **welcomed(),
    ),
)
