"""What a request of the fakes offers beyond ASGI: functions in the `extensions` of its scope, by name."""

from __future__ import annotations

# Resets the connection, and writes raw bytes to it.
ABORT = "fakes.abort"
WRITE = "fakes.write"
