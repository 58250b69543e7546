"""Gateways that know a header by one spelling of its name only."""

from __future__ import annotations

from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.serving import Listen, listen


class _Spelling(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, where some headers count under one spelling of their names."""

    def __init__(self, spelt: frozenset[bytes], *given: Any) -> None:
        super().__init__(*given)
        self._spelt = spelt
        self._known = {name.lower() for name in spelt}

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() not in self._known or name in self._spelt:
            super().on_header(name, value)


def knowing(*names: str) -> Listen:
    """A header of one of these names counts only where its name is spelt so."""
    return partial(listen, speaking=partial(_Spelling, frozenset(name.encode() for name in names)))


DEFECTS = (
    defect(
        "proxy-token-header-as-written (REDEEM-01): The Proxy token counts only in a header that is written "
        "X-Proxy-Token.",
        listen=knowing("X-Proxy-Token"),
    ),
    defect(
        "bearer-header-as-written-or-in-lower-case (REDEEM-01 PROXY-01): Authorization counts as it is "
        "usually written and in lower case, not in capitals.",
        listen=knowing("Authorization", "authorization"),
    ),
    defect(
        "basic-header-as-written (PROXY-01 REDEEM-01): Authorization counts only as it is usually written.",
        listen=knowing("Authorization"),
    ),
    defect(
        "media-type-header-as-written (REG-01 PROXY-01 REDEEM-01): The media type of a body counts only in a "
        "header that is written Content-Type.",
        listen=knowing("Content-Type"),
    ),
)
