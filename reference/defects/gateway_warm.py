"""Gateways that are wrong only in a browser or a Project that they have met, or only later on."""

from __future__ import annotations

from reference.defects.defect import Defect, defect

FORMS: tuple[Defect, ...] = (
    defect(
        "forms-work-with-any-cookie",
        "A form asks that the browser that sends it has a cookie, and not which one.",
        "AUTHZ-19",
        same_browser=lambda _found, browser: browser is not None,
    ),
)

WARM: tuple[Defect, ...] = (*FORMS,)
