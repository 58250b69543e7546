"""Services that store their Proxy token in a file, to reuse it after a restart."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policy import proxy


def kept_in(
    where: Callable[[], Path], write: Callable[[str], str] = str, *, first: bool = True
) -> dict[str, Any]:
    """Each Proxy token is written to a file; without `first`, only those that replace another."""
    known: list[str] = []

    def kept(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
        token = proxy.proxy_token_kept(document, now)
        if token is not None:
            if first or known:
                where().parent.mkdir(parents=True, exist_ok=True)
                where().write_text(write(token.value), encoding="utf-8")
            known.append(token.value)
        return token

    return {"proxy_token_kept": kept}


def temporary(name: str) -> Callable[[], Path]:
    return lambda: Path(os.environ.get("TMPDIR", "/tmp")) / name  # noqa: S108 - what the environment says


DEFECTS = (
    defect(
        "proxy-token-in-a-file (BACK-13): The service stores the Proxy token in a JSON file in a folder of "
        "the working directory.",
        **kept_in(lambda: Path("cache") / "token.json", lambda token: json.dumps({"access_token": token})),
    ),
    defect(
        "proxy-token-in-a-temporary-file (BACK-13): The service stores the Proxy token in base64 in a "
        "temporary file.",
        **kept_in(temporary("orders-service.cache"), lambda token: base64.b64encode(token.encode()).decode()),
    ),
    defect(
        "replaced-proxy-token-in-a-file (BACK-13): The service stores every Proxy token after the first in a "
        "hidden file.",
        **kept_in(lambda: Path(".state"), first=False),
    ),
)
