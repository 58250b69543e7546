"""A real browser with the interface of the page loop."""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateproof.conformance.signin.chromium.picture import draw
from gateproof.conformance.signin.chromium.proxy import Proxy
from gateproof.conformance.signin.chromium.traffic import Traffic
from gateproof.conformance.signin.chromium.window import Window, new_context
from gateproof.conformance.suite.claims import LeftOut

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gateproof.conformance.signin.browser import Send, View
    from gateproof.conformance.signin.chromium.process import Chromium
    from gateproof.conformance.signin.page import Button, Form, Page
    from gateproof.conformance.signin.picturing import Picturing

# Time limit of one action with all its waits: longer than the harness waits for any answer.
_ACT_S = 150.0
_SOON_S = 30.0


class RealBrowser:
    """A Chromium context with its own cookies; it only opens URLs that `may_visit` allows.

    It exists as long as it is referenced. Between two visits no tab is open, so no script runs.
    """

    def __init__(
        self,
        chromium: Chromium,
        *,
        send: Send,
        may_visit: Callable[[str], bool],
        picturing: Picturing | None = None,
    ) -> None:
        self._chromium = chromium
        self._picturing = picturing
        self._first_hop = 0
        self._parts = _Parts.new(chromium, Traffic(send, may_visit))
        weakref.finalize(self, self._parts.release).atexit = False

    @property
    def changes_hidden(self) -> bool:
        """False: it fills in what its user sees."""
        return False

    @property
    def hops(self) -> list[str]:
        """The URLs that it opened, without queries."""
        return self._parts.traffic.hops[self._first_hop :]

    def open(self, url: str, /, *, approves: bool = True) -> View:
        """Goes to an address as if the user had typed it."""
        parts = self._parts
        parts.traffic.begin()

        async def act(browser: Any) -> View:
            window = await parts.shown_in(browser)
            window.approves = approves
            return await window.open(url)

        return self._chromium.carry_out(act, timeout_s=_ACT_S)

    def submit(self, page: Page, form: Form, pressed: Button | None = None, /) -> View:
        """Fills in a form of the current page, and submits it with this button or with Enter."""
        window, traffic = self._window(), self._parts.traffic
        traffic.expect()
        view = self._chromium.carry_out(lambda _: window.send(page, form, pressed), timeout_s=_ACT_S)
        if traffic.watched and traffic.same_site_only is not None:
            raise LeftOut("the page submits with a request that only a page of its own site can send")
        traffic.watched = False
        return view

    def copy_cookies(
        self,
        other: RealBrowser,
        hosts: frozenset[str],
        /,
        *,
        names: Collection[str] | None = None,
        changed: Callable[[str], str] = str,
    ) -> None:
        """Puts the cookies of these hosts from another browser into this one; those with these names only."""
        source, parts = other._parts.window, self._parts

        async def act(browser: Any) -> None:
            cookies = await source.context.cookies() if source is not None else []
            window = await parts.shown_in(browser)
            there = [
                {**each, "value": changed(each["value"])}
                for each in cookies
                if each["domain"].removeprefix(".") in hosts and (names is None or each["name"] in names)
            ]
            await window.context.add_cookies(there)

        self._chromium.carry_out(act, timeout_s=_SOON_S)

    def take_over(self, one: RealBrowser, /) -> None:
        """Takes over the current page of another browser, and nothing else of it."""
        own = self._parts.window
        self._parts.swap(one._parts)
        window = self._window()
        self._chromium.carry_out(lambda _: window.take_identity_of(own), timeout_s=_SOON_S)
        self._first_hop = len(self._parts.traffic.hops)
        self._parts.traffic.watched = True

    def rest(self, *, stuck: bool) -> str:
        """Closes all tabs but keeps the cookies; if the user got stuck, a screenshot is taken before."""
        self._parts.traffic.end()
        window, picturing = self._parts.window, self._picturing
        if window is None:
            return ""
        drawn: bytes | None = None
        if stuck and picturing is not None:
            drawn = self._chromium.carry_out(lambda _: draw(window.front, picturing), timeout_s=_SOON_S)
        self._chromium.carry_out(lambda _: window.close_tabs(), timeout_s=_SOON_S)
        return picturing.keep(drawn) if picturing is not None and drawn is not None else ""

    def _window(self) -> Window:
        if self._parts.window is None:
            raise ValueError("a browser without a page cannot submit a form")
        return self._parts.window


@dataclass(kw_only=True, slots=True)
class _Parts:
    """The parts of a browser, which have to be closed."""

    chromium: Chromium
    traffic: Traffic
    proxy: Proxy
    window: Window | None = None

    @classmethod
    def new(cls, chromium: Chromium, traffic: Traffic) -> _Parts:
        return cls(chromium=chromium, traffic=traffic, proxy=Proxy(traffic, chromium.seal))

    async def shown_in(self, browser: Any) -> Window:
        """The window, which is made in the browser when it is first needed."""
        if self.window is None:
            self.window = Window(await new_context(browser, self.proxy.address), self.traffic)
        return self.window

    def swap(self, other: _Parts) -> None:
        """Exchanges the parts of two browsers."""
        mine = self.traffic, self.proxy, self.window
        self.traffic, self.proxy, self.window = other.traffic, other.proxy, other.window
        other.traffic, other.proxy, other.window = mine

    def release(self) -> None:
        """Stops all requests at once, and closes context and proxy in the background.

        This may run in any thread in which the last reference is dropped, even in one of the proxy.
        """
        self.traffic.end()
        window = self.window
        if window is not None:

            async def close(_: Any) -> None:
                await window.context.close()

            self.chromium.soon(close)
        threading.Thread(target=self.proxy.close, daemon=True).start()
