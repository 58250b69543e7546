"""Headers that name the check of a request, to find it in the target's own log (`--trace`).

`traceparent` is that of W3C Trace Context: one trace for each check of a run, one span for each request.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from urllib.parse import quote

CHECK_HEADER = "X-Gateproof-Check"
# Characters that stay unchanged in a header; all others are percent-encoded.
_AS_IT_IS = "/[]_.-:,;=+*()"


class Tracing:
    """The headers for the check that is running."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._check_id = ""

    def begin(self, check_id: str) -> None:
        self._check_id = check_id

    def headers(self) -> Mapping[str, str]:
        """The headers for one request; none before the first check."""
        if not self._check_id:
            return {}
        trace_id = trace_id_of(self._run_id, self._check_id)
        return {
            "traceparent": f"00-{trace_id}-{secrets.token_hex(8)}-01",
            CHECK_HEADER: quote(self._check_id, safe=_AS_IT_IS),
        }


def trace_id_of(run_id: str, check_id: str) -> str:
    """The trace of one check of one run."""
    return hashlib.sha256(f"{run_id}/{check_id}".encode()).hexdigest()[:32]
