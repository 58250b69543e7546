"""Sign-in in a real Chromium, for pages that need scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateproof.conformance.signin.addresses import lands_on
from gateproof.conformance.signin.chromium.browsing import RealBrowser
from gateproof.conformance.signin.chromium.process import Chromium
from gateproof.conformance.signin.page_loop import PageSignIn

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateproof.conformance.signin.browser import Send
    from gateproof.conformance.signin.picturing import Picturing
    from gateproof.conformance.targets.model import Step

__all__ = ["ChromiumSignIn"]


class ChromiumSignIn(PageSignIn):
    """Signs users in like `forms`, but in a real browser."""

    def __init__(
        self,
        *,
        send: Send,
        may_visit: Callable[[str], bool],
        steps: tuple[Step, ...] = (),
        picturing: Picturing | None = None,
    ) -> None:
        self._chromium = chromium = Chromium()

        def open_browser(redirect_uri: str) -> RealBrowser:
            return RealBrowser(
                chromium,
                send=send,
                may_visit=lambda url: not lands_on(redirect_uri, url) and may_visit(url),
                picturing=picturing,
            )

        super().__init__(open_browser, steps=steps)

    def close(self) -> None:
        """Ends Chromium and its helper processes."""
        self._chromium.close()
