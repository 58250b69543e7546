"""Sign-in by filling in forms in the harness's own browser."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from gateproof.conformance.signin.addresses import lands_on
from gateproof.conformance.signin.browser import Browser, Send, Waiting
from gateproof.conformance.signin.page_loop import MOST_PAGES, PageSignIn

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateproof.conformance.targets.model import Step

__all__ = ["MOST_PAGES", "FormsSignIn"]


class FormsSignIn(PageSignIn):
    """Signs users in on pages that need no scripts."""

    def __init__(
        self,
        *,
        send: Send,
        may_visit: Callable[[str], bool],
        steps: tuple[Step, ...] = (),
        now: Callable[[], float] = time.time,
    ) -> None:
        waiting = Waiting()

        def open_browser(redirect_uri: str) -> Browser:
            return Browser(
                send=send,
                may_visit=lambda url: not lands_on(redirect_uri, url) and may_visit(url),
                now=now,
                waiting=waiting,
            )

        super().__init__(open_browser, steps=steps)
