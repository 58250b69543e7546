"""The windows of one browser: what they show once they have come to rest, and what a user does in them."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gateproof.conformance.signin.addresses import is_web
from gateproof.conformance.signin.browser import Away, Lost, View
from gateproof.conformance.signin.chromium.reading import page_of, script
from gateproof.conformance.signin.chromium.settling import Look, Mark, Settling
from gateproof.conformance.signin.page import Page

if TYPE_CHECKING:
    from gateproof.conformance.signin.chromium.traffic import Traffic
    from gateproof.conformance.signin.page import Button, Field, Form

_SETTLED_S = 90.0
_ACT_MS = 5_000
_POLL_S = 0.02
_GONE = "it is not to be seen any more"
_MOST_SURPRISES = 2
_NET_ERROR = re.compile(r"net::(ERR_[A-Z_]+)")
_PAGE = f"() => ({script('reading.js')})().page"
# What the browser shows in place of an error that came without a word of its own.
_OWN_PAGES = "chrome-error:"
_VIEWPORT = {"width": 1024, "height": 768}


class Window:
    """The newest tab of a browser context is the one that the user sees."""

    def __init__(self, context: Any, traffic: Traffic) -> None:
        self.context = context
        self.approves = True
        self._traffic = traffic
        self._seen: Look | None = None
        self._held: Any = None
        self._surprises = 0
        context.on("page", self._opened)

    @property
    def front(self) -> Any:
        """The tab in front; None where all have been closed."""
        return next((tab for tab in reversed(self.context.pages) if not tab.is_closed()), None)

    async def open(self, url: str) -> View:
        """A new tab goes to this address; the ones before it are closed."""
        old = list(self.context.pages)
        tab = await self.context.new_page()
        for each in old:
            await each.close()
        self._seen, self._surprises = None, 0
        try:
            await tab.goto(url, wait_until="commit", timeout=_SETTLED_S * 1000)
        except Exception as error:  # noqa: BLE001 - its text holds the address, and with it the request
            if (gone := self._gone()) is not None:
                return gone
            if self._traffic.status is not None:
                return Page(url=self._traffic.hops[-1], status=self._traffic.status)
            return Lost(reason=f"the browser did not get there: {_net_error(error)}")
        return await self._settled()

    async def send(self, page: Page, form: Form, pressed: Button | None) -> View:
        """The user fills this form in as it differs from the page, and presses the button, or Enter."""
        seen = self._seen
        if seen is None:
            return Lost(reason="there is no page any more")
        if not await self._hold(seen):
            return await self._settled()
        what = (pressed.text or pressed.name or pressed.kind) if pressed is not None else "Enter"
        mark = Mark(signature=seen.signature, asked=self._traffic.asked)
        try:
            last = await self._filled_in(page, form)
            # What filling in has changed is nothing that came of pressing.
            look = await self._look() or seen
            mark = Mark(signature=look.signature, asked=self._traffic.asked)
            if pressed is not None:
                await (await self._element(pressed)).click(timeout=_ACT_MS, no_wait_after=True)
            elif last is not None:
                await last.press("Enter", timeout=_ACT_MS, no_wait_after=True)
        except Exception as error:  # noqa: BLE001 - its text may hold what was filled in
            if (gone := self._gone()) is not None:
                return gone
            if not _is_navigation(error) and not self._surprised(error):
                return Lost(reason=f"the form could not be filled in and sent by {what!r}: {_why(error)}")
        return await self._settled(mark, what)

    def _surprised(self, error: Exception) -> bool:
        """True where the page has changed under the user's hands, who then looks again, a few times."""
        self._surprises += _why(error) == _GONE
        return _why(error) == _GONE and self._surprises <= _MOST_SURPRISES

    async def _filled_in(self, page: Page, form: Form) -> Any:
        """The last field of the form, once each holds what it is to hold."""
        last = None
        shown = {field.number: field for each in page.forms for field in each.fields}
        for field in form.fields:
            last = await self._element(field)
            if field != shown.get(field.number):
                await _fill(last, field)
        return last

    async def become(self, other: Window | None) -> None:
        """All by which this browser could be known is exchanged for the other's cookies; the page stays."""
        await self.context.clear_cookies()
        if other is not None:
            await self.context.add_cookies(await other.context.cookies())
        tab = self.front
        for frame in tab.frames if tab is not None else ():
            with suppress(Exception):
                await frame.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")

    async def close_tabs(self) -> None:
        """Nothing goes on any more; cookies stay."""
        self._seen = None
        for tab in list(self.context.pages):
            with suppress(Exception):
                await tab.close()

    async def _element(self, control: Field | Button) -> Any:
        picked = "(read, number) => read.elements[number]"
        return (await self._held.evaluate_handle(picked, control.number)).as_element()

    async def _hold(self, seen: Look) -> bool:
        """Gets hold of the elements that were seen; False where the page is another one by now."""
        try:
            self._held = await seen.frame.evaluate_handle(script("reading.js"))
            again = await self._held.evaluate("(read) => read.page")
        except Exception as error:
            if _is_navigation(error):
                return False
            raise
        return replace(seen, found=again).signature == seen.signature

    async def _settled(self, mark: Mark | None = None, what: str = "") -> View:
        """The view once nothing loads and nothing changes any more, or what kept it from that."""
        begun = time.monotonic()
        settling = Settling(mark, begun)
        while (now := time.monotonic()) - begun < _SETTLED_S:
            asked = self._traffic.asked
            look = None if self._traffic.is_loading() else await self._look()
            if asked != self._traffic.asked:
                # What came of the act began while the page was looked at: this may still be the one before.
                look = None
            if (gone := self._gone(look)) is not None:
                return gone
            settling.see(look, asked=asked, now=now)
            if look is not None:
                self._seen = look
                if settling.unmoved(now):
                    return Lost(reason=f"nothing came of pressing {what!r}")
                if settling.at_rest(look, due=self._traffic.due, scripted=self._traffic.scripted, now=now):
                    return page_of(look.found, self._traffic.status or 200)
            await asyncio.sleep(_POLL_S)
        return Lost(reason=f"the page did not come to rest within {_SETTLED_S:g} s")

    def _gone(self, look: Look | None = None) -> View | None:
        """Where the browser was sent away to, or why it has no page to act on; raises what broke."""
        if self._traffic.trouble is not None:
            raise self._traffic.trouble
        if self._traffic.away is not None:
            return Away(url=self._traffic.away)
        tab = self.front
        if tab is None:
            return Lost(reason="the page closed its window")
        # A document knows where it is before whoever speaks to the browser does.
        urls = [tab.url, *([str(look.found["url"])] if look is not None else [])]
        if beyond := next(filter(self._is_beyond, urls), None):
            return Away(url=beyond)
        if self._traffic.lost is not None:
            return Lost(reason=self._traffic.lost)
        if tab.url.startswith(_OWN_PAGES) and self._traffic.status is not None:
            return Page(url=self._traffic.hops[-1], status=self._traffic.status)
        return None

    def _is_beyond(self, url: str) -> bool:
        return is_web(url) and not self._traffic.may_visit(url)

    async def _look(self) -> Look | None:
        """The document in front, or its first frame with something to act on; None while neither is there."""
        tab = self.front
        if tab is None:
            return None
        try:
            look = await _look_at(tab.main_frame)
            frames = [] if look.found["forms"] else tab.frames[1:]
        except Exception as error:
            if tab.is_closed() or _is_navigation(error):
                return None
            raise
        for frame in frames:
            with suppress(Exception):
                inner = await _look_at(frame, number=look.number)
                if inner.found["forms"]:
                    return inner
        return look

    def _opened(self, tab: Any) -> None:
        tab.on("dialog", self._asked)

    async def _asked(self, dialog: Any) -> None:
        """A question in a box of its own gets the answer that the user came with."""
        with suppress(Exception):
            if self.approves or dialog.type in {"alert", "beforeunload"}:
                await dialog.accept()
            else:
                await dialog.dismiss()


async def _look_at(frame: Any, number: int | None = None) -> Look:
    found = await frame.evaluate(_PAGE)
    told = found["number"]
    return Look(found=found, frame=frame, number=number if number is not None or told is None else int(told))


async def new_context(browser: Any, proxy: str) -> Any:
    """A browser without a past, whose only way out is the proxy."""
    context = await browser.new_context(
        proxy={"server": proxy},
        service_workers="block",
        accept_downloads=False,
        locale="en-GB",
        viewport=_VIEWPORT,
    )
    # What does not go by the proxy is not there.
    await context.add_init_script(
        "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport'])"
        " delete globalThis[name];"
    )
    return context


async def _fill(element: Any, field: Field) -> None:
    """The element holds afterwards what the field does."""
    if field.kind in {"checkbox", "radio"}:
        if await element.is_checked() != field.on:
            # A box that is drawn by its label cannot be hit itself.
            await element.evaluate("(element) => element.click()")
    elif field.kind == "select":
        await element.select_option(list(field.chosen), timeout=_ACT_MS)
    else:
        await element.fill(field.value, timeout=_ACT_MS)


def _is_navigation(error: Exception) -> bool:
    said = str(error)
    return any(
        words in said
        for words in ("Execution context was destroyed", "navigat", "Frame was detached", "detached")
    )


def _net_error(error: Exception) -> str:
    found = _NET_ERROR.search(str(error))
    return found[1] if found else type(error).__name__


def _why(error: Exception) -> str:
    """In words of our own: a library's text may hold what was to be filled in."""
    said = str(error)
    if "intercepts pointer events" in said:
        return "something else lies over it"
    if "not enabled" in said:
        return "it is disabled"
    if "not visible" in said or "not attached" in said:
        return _GONE
    return type(error).__name__
