"""A control that records the credentials in its answers, and what its actions cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gateproof.conformance.kit.gateway.control_costs import ControlCosts
from gateproof.conformance.suite.pauses import Cause, waiting_for
from gateproof.conformance.targets.control import CommandControl, HttpControl


class RecordingControl:
    """Passes actions on, counts them, and reports the credentials of new Proxy clients."""

    def __init__(
        self,
        control: HttpControl | CommandControl,
        meet_client: Callable[[str, str], None],
        costs: ControlCosts,
    ) -> None:
        self._control = control
        self._meet_client = meet_client
        self._costs = costs

    def call(self, action: str, /, **arguments: Any) -> dict[str, Any]:
        begun = time.monotonic()
        try:
            with waiting_for(Cause.CONTROL):
                answer = self._control.call(action, **arguments)
        finally:
            self._costs.note(action, time.monotonic() - begun)
        made = (answer.get("client_id"), answer.get("client_secret"))
        if action == "create_proxy_client" and isinstance(made[0], str) and isinstance(made[1], str):
            self._meet_client(made[0], made[1])
        return answer

    def close(self) -> None:
        self._control.close()
