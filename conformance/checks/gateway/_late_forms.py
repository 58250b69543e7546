"""A form that is sent after another authorization request was opened."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.gateway import BeyondReach, Browsing, Gateway, Visit
from gateproof.conformance.suite.parties import Attempt


def sent_late(
    gateway: Gateway,
    browser: Browsing,
    act: int,
    shown: Attempt,
    other: Attempt,
    *,
    same_browser: bool = True,
) -> Visit | None:
    """The result of this form, which is sent after another tab or browser has opened the other's request.

    None if the authorization has no form with this number.
    """

    def meanwhile() -> None:
        tab = gateway.browser()
        if same_browser:
            tab.copy_cookies(browser, gateway.hosts())
        tab.look(gateway.authorization_url(other), other.user)
        if same_browser:
            browser.copy_cookies(tab, gateway.hosts())

    try:
        visit = browser.call_before_act(act, gateway.authorization_url(shown), shown.user, meanwhile)
    except BeyondReach as end:
        visit = end.visit
    return gateway.record_secrets(visit) if visit is not None else None
