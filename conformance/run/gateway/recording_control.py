"""A control that records the credentials in its answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.conformance.targets.control import CommandControl, HttpControl


class RecordingControl:
    """Passes actions on, and reports the credentials of new Proxy clients."""

    def __init__(
        self, control: HttpControl | CommandControl, meet_client: Callable[[str, str], None]
    ) -> None:
        self._control = control
        self._meet_client = meet_client

    def call(self, action: str, /, **arguments: Any) -> dict[str, Any]:
        answer = self._control.call(action, **arguments)
        made = (answer.get("client_id"), answer.get("client_secret"))
        if action == "create_proxy_client" and isinstance(made[0], str) and isinstance(made[1], str):
            self._meet_client(made[0], made[1])
        return answer

    def close(self) -> None:
        self._control.close()
