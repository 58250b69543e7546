"""Sign-in in a real Chromium, for pages that need scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.signin.addresses import lands_on
from conformance.signin.chromium.browsing import RealBrowser
from conformance.signin.chromium.process import Chromium
from conformance.signin.walking import PageSignIn

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.signin.browser import Send
    from conformance.signin.picturing import Picturing
    from conformance.target.model import Step

__all__ = ["ChromiumSignIn"]


class ChromiumSignIn(PageSignIn):
    """Signs users in as `forms` does, on pages as a real browser shows them."""

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
        """Ends Chromium, with everything that was started for it."""
        self._chromium.close()
