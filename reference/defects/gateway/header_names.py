"""Gateways that recognize a header only in certain spellings of its name."""

from __future__ import annotations

from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.serving import Listen, listen


class _Spelling(HttpToolsProtocol):
    """uvicorn's HTTP parser, which ignores some headers unless their names have the given spelling."""

    def __init__(self, spelt: frozenset[bytes], *given: Any) -> None:
        super().__init__(*given)
        self._spelt = spelt
        self._known = {name.lower() for name in spelt}

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() not in self._known or name in self._spelt:
            super().on_header(name, value)


def knowing(*names: str) -> Listen:
    """Ignores headers of these names in any other spelling."""
    return partial(listen, speaking=partial(_Spelling, frozenset(name.encode() for name in names)))


DEFECTS = (
    defect(
        "proxy-token-header-as-written (REDEEM-01): The gateway ignores the Proxy token unless its header is "
        "spelled X-Proxy-Token.",
        listen=knowing("X-Proxy-Token"),
    ),
    defect(
        "bearer-header-as-written-or-in-lower-case (REDEEM-01 PROXY-01): The gateway ignores the "
        "Authorization header unless it is spelled Authorization or authorization.",
        listen=knowing("Authorization", "authorization"),
    ),
    defect(
        "basic-header-as-written (PROXY-01 REDEEM-01): The gateway ignores the Authorization header unless "
        "it is spelled Authorization.",
        listen=knowing("Authorization"),
    ),
    defect(
        "media-type-header-as-written (REG-01 PROXY-01 REDEEM-01): The gateway ignores the media type of a "
        "body unless its header is spelled Content-Type.",
        listen=knowing("Content-Type"),
    ),
)
