"""Services that guard one way to the operation, and have another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reference.defects.meddling import Answered, Asked, meddling
from reference.defects.service_defect import ServiceDefect, defect
from reference.service.backend import Backend


def unguarded(way: Callable[[Asked], bool]) -> Any:
    """Who comes this way without a token is shown what was shown last."""
    shown: list[Answered] = []

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if "authorization" in asked.headers:
            if answered.status == 200 and asked.path == "/orders":
                shown[:] = [answered]
        elif shown and way(asked):
            return replace(shown[0])
        return answered

    return meddling(change)


WAYS: tuple[ServiceDefect, ...] = (
    defect(
        "get-unguarded",
        "The guard stands before POST alone, and GET shows the last orders to anybody.",
        "CHAL-01",
        around=unguarded(lambda asked: asked.method == "GET" and asked.path == "/orders"),
    ),
    defect(
        "put-unguarded",
        "PUT shows the last orders to anybody.",
        "CHAL-01",
        around=unguarded(lambda asked: asked.method == "PUT" and asked.path == "/orders"),
    ),
    defect(
        "guard-by-the-letter-of-the-path",
        "The guard knows the path in one spelling, and who routes in every case and with a slash behind it.",
        "CHAL-01",
        around=unguarded(
            lambda asked: asked.path != "/orders" and asked.path.lower().rstrip("/") == "/orders"
        ),
    ),
    defect(
        "guard-by-the-first-slash",
        "Slashes at the beginning of a path are one to who routes, and not to the guard.",
        "CHAL-01",
        around=unguarded(lambda asked: asked.path == "//orders"),
    ),
)
