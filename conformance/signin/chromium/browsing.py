"""A real browser, as a walk from page to page uses it."""

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
    from collections.abc import Callable

    from gateproof.conformance.signin.browser import Send, View
    from gateproof.conformance.signin.chromium.process import Chromium
    from gateproof.conformance.signin.page import Button, Form, Page
    from gateproof.conformance.signin.picturing import Picturing

# One act, with all that it has to wait for: more than the harness waits for any answer.
_ACT_S = 150.0
_SOON_S = 30.0


class RealBrowser:
    """A context of Chromium with cookies of its own; it goes nowhere that `may_visit` does not allow.

    It lasts as long as somebody holds it. Between two visits no tab is open in it, so nothing goes on there.
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
        self._inside = _Inside.new(chromium, Traffic(send, may_visit))
        weakref.finalize(self, self._inside.give_back).atexit = False

    @property
    def hops(self) -> list[str]:
        """The addresses that it went to, without queries."""
        return self._inside.traffic.hops[self._first_hop :]

    def open(self, url: str, /, *, approves: bool = True) -> View:
        """Goes to an address as if the user had typed it."""
        inside = self._inside
        inside.traffic.begin()

        async def act(browser: Any) -> View:
            window = await inside.shown_in(browser)
            window.approves = approves
            return await window.open(url)

        return self._chromium.carry_out(act, timeout_s=_ACT_S)

    def submit(self, page: Page, form: Form, pressed: Button | None = None, /) -> View:
        """Fills in a form of the page that it shows, and sends it by this button or by Enter."""
        window, traffic = self._window(), self._inside.traffic
        traffic.expect()
        view = self._chromium.carry_out(lambda _: window.send(page, form, pressed), timeout_s=_ACT_S)
        if traffic.watched and traffic.inimitable is not None:
            raise LeftOut("the page sends what the user did in a way that only a page of its own site can")
        traffic.watched = False
        return view

    def copy_cookies(self, other: RealBrowser, hosts: frozenset[str], /) -> None:
        """Puts the cookies that another browser has now for these hosts into this one."""
        source, inside = other._inside.window, self._inside

        async def act(browser: Any) -> None:
            cookies = await source.context.cookies() if source is not None else []
            window = await inside.shown_in(browser)
            there = [each for each in cookies if each["domain"].removeprefix(".") in hosts]
            await window.context.add_cookies(there)

        self._chromium.carry_out(act, timeout_s=_SOON_S)

    def take_over(self, one: RealBrowser, /) -> None:
        """Goes on with the page that another browser shows, and with nothing else of that one's."""
        own = self._inside.window
        self._inside.swap(one._inside)
        window = self._window()
        self._chromium.carry_out(lambda _: window.become(own), timeout_s=_SOON_S)
        self._first_hop = len(self._inside.traffic.hops)
        self._inside.traffic.watched = True

    def rest(self, *, stuck: bool) -> str:
        """Closes what is open, cookies apart; where the user stuck, a picture of the page is kept first."""
        self._inside.traffic.end()
        window, picturing = self._inside.window, self._picturing
        if window is None:
            return ""
        drawn: bytes | None = None
        if stuck and picturing is not None:
            drawn = self._chromium.carry_out(lambda _: draw(window.front, picturing), timeout_s=_SOON_S)
        self._chromium.carry_out(lambda _: window.close_tabs(), timeout_s=_SOON_S)
        return picturing.keep(drawn) if picturing is not None and drawn is not None else ""

    def _window(self) -> Window:
        if self._inside.window is None:
            raise ValueError("nothing is sent from a browser that shows no page")
        return self._inside.window


@dataclass(kw_only=True, slots=True)
class _Inside:
    """What a browser is made of, and has to give back."""

    chromium: Chromium
    traffic: Traffic
    proxy: Proxy
    window: Window | None = None

    @classmethod
    def new(cls, chromium: Chromium, traffic: Traffic) -> _Inside:
        return cls(chromium=chromium, traffic=traffic, proxy=Proxy(traffic, chromium.seal))

    async def shown_in(self, browser: Any) -> Window:
        """The window, which is made in the browser when it is first needed."""
        if self.window is None:
            self.window = Window(await new_context(browser, self.proxy.address), self.traffic)
        return self.window

    def swap(self, other: _Inside) -> None:
        """Each goes on with what the other was made of."""
        mine = self.traffic, self.proxy, self.window
        self.traffic, self.proxy, self.window = other.traffic, other.proxy, other.window
        other.traffic, other.proxy, other.window = mine

    def give_back(self) -> None:
        """Lets nothing out any more, and ends the context and the door when there is time.

        This runs wherever the last reference is lost, perhaps in the very thread that serves the door.
        """
        self.traffic.end()
        window = self.window
        if window is not None:

            async def close(_: Any) -> None:
                await window.context.close()

            self.chromium.soon(close)
        threading.Thread(target=self.proxy.close, daemon=True).start()
