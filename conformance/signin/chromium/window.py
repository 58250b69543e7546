"""The tabs of one browser: reads stable pages, and acts as the user."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gateproof.conformance.signin.addresses import is_web
from gateproof.conformance.signin.browser import NoPage, Redirected, View
from gateproof.conformance.signin.chromium.reading import page_of, script
from gateproof.conformance.signin.chromium.settling import Look, Mark, Settling
from gateproof.conformance.signin.page import Page

if TYPE_CHECKING:
    from gateproof.conformance.signin.chromium.traffic import Traffic
    from gateproof.conformance.signin.page import Button, Field, Form

_SETTLED_S = 90.0
_ACT_MS = 5_000
_POLL_S = 0.02
_GONE = "it is not visible any more"
_MOST_RETRIES = 2
_NET_ERROR = re.compile(r"net::(ERR_[A-Z_]+)")
_PAGE = f"() => ({script('reading.js')})().page"
# The URL of the browser's own error pages.
_OWN_PAGES = "chrome-error:"
_VIEWPORT = {"width": 1024, "height": 768}


class Window:
    """Controls a browser context; the newest tab is the one that the user sees."""

    def __init__(self, context: Any, traffic: Traffic) -> None:
        self.context = context
        self.approves = True
        self._traffic = traffic
        self._seen: Look | None = None
        self._held: Any = None
        self._retries = 0
        context.on("page", self._opened)

    @property
    def front(self) -> Any:
        """The newest open tab; None if all are closed."""
        return next((tab for tab in reversed(self.context.pages) if not tab.is_closed()), None)

    async def open(self, url: str) -> View:
        """Opens the URL in a new tab, and closes the others."""
        old = list(self.context.pages)
        tab = await self.context.new_page()
        for each in old:
            await each.close()
        self._seen, self._retries = None, 0
        try:
            await tab.goto(url, wait_until="commit", timeout=_SETTLED_S * 1000)
        except Exception as error:  # noqa: BLE001 - its text contains the URL
            if (gone := self._end()) is not None:
                return gone
            if self._traffic.status is not None:
                return Page(url=self._traffic.hops[-1], status=self._traffic.status)
            return NoPage(reason=f"the browser could not open the page: {_net_error(error)}")
        return await self._settled()

    async def send(self, page: Page, form: Form, pressed: Button | None) -> View:
        """Fills in what differs from the page, and presses the button or Enter."""
        seen = self._seen
        if seen is None:
            return NoPage(reason="there is no page any more")
        if not await self._hold(seen):
            return await self._settled()
        what = (pressed.text or pressed.name or pressed.kind) if pressed is not None else "Enter"
        mark = Mark(signature=seen.signature, asked=self._traffic.asked)
        try:
            last = await self._filled_in(page, form)
            # Changes caused by filling in are no effect of the button.
            look = await self._look() or seen
            mark = Mark(signature=look.signature, asked=self._traffic.asked)
            if pressed is not None:
                await (await self._element(pressed)).click(timeout=_ACT_MS, no_wait_after=True)
            elif last is not None:
                await last.press("Enter", timeout=_ACT_MS, no_wait_after=True)
        except Exception as error:  # noqa: BLE001 - its text may contain typed text
            if (gone := self._end()) is not None:
                return gone
            if not _is_navigation(error) and not self._may_retry(error):
                return NoPage(reason=f"the form could not be filled in and sent by {what!r}: {_why(error)}")
            # The page changed during the action, perhaps before the mark: it is read as a new one.
            return await self._settled()
        return await self._settled(mark, what)

    def _may_retry(self, error: Exception) -> bool:
        """True if the page changed during the action and may be read again, a few times."""
        self._retries += _why(error) == _GONE
        return _why(error) == _GONE and self._retries <= _MOST_RETRIES

    async def _filled_in(self, page: Page, form: Form) -> Any:
        """Fills in the fields; returns the last one."""
        last = None
        shown = {field.number: field for each in page.forms for field in each.fields}
        for field in form.fields:
            last = await self._element(field)
            if field != shown.get(field.number):
                await _fill(last, field)
        return last

    async def take_identity_of(self, other: Window | None) -> None:
        """Replaces cookies and storage by the cookies of another window; the page stays."""
        await self.context.clear_cookies()
        if other is not None:
            await self.context.add_cookies(await other.context.cookies())
        tab = self.front
        for frame in tab.frames if tab is not None else ():
            with suppress(Exception):
                await frame.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")

    async def close_tabs(self) -> None:
        """Closes all tabs; cookies stay."""
        self._seen = None
        for tab in list(self.context.pages):
            with suppress(Exception):
                await tab.close()

    async def _element(self, control: Field | Button) -> Any:
        picked = "(read, number) => read.elements[number]"
        return (await self._held.evaluate_handle(picked, control.number)).as_element()

    async def _hold(self, seen: Look) -> bool:
        """Gets handles of the elements; False if the page has changed meanwhile."""
        try:
            self._held = await seen.frame.evaluate_handle(script("reading.js"))
            again = await self._held.evaluate("(read) => read.page")
        except Exception as error:
            if _is_navigation(error):
                return False
            raise
        return replace(seen, found=again).signature == seen.signature

    async def _settled(self, mark: Mark | None = None, what: str = "") -> View:
        """Waits until nothing loads or changes; returns the page, or why there is none."""
        begun = time.monotonic()
        settling = Settling(mark, begun)
        while (now := time.monotonic()) - begun < _SETTLED_S:
            asked = self._traffic.asked
            look = None if self._traffic.is_loading() else await self._look()
            if asked != self._traffic.asked:
                # A request started during the observation, which may show the old page.
                look = None
            if (gone := self._end(look)) is not None:
                return gone
            settling.see(look, asked=asked, now=now)
            if look is not None:
                self._seen = look
                if settling.had_no_effect(now):
                    return NoPage(reason=f"pressing {what!r} had no effect")
                if settling.at_rest(look, due=self._traffic.due, scripted=self._traffic.scripted, now=now):
                    return page_of(look.found, self._traffic.status or 200)
            await asyncio.sleep(_POLL_S)
        return NoPage(reason=f"the page kept changing for {_SETTLED_S:g} s")

    def _end(self, look: Look | None = None) -> View | None:
        """The URL to which the browser was sent away, or why there is no page; raises errors of the wire."""
        if self._traffic.trouble is not None:
            raise self._traffic.trouble
        if self._traffic.away is not None:
            return Redirected(url=self._traffic.away)
        tab = self.front
        if tab is None:
            return NoPage(reason="the page closed its window")
        # The document's own URL is newer than the one that the driver reports.
        urls = [tab.url, *([str(look.found["url"])] if look is not None else [])]
        if beyond := next(filter(self._is_beyond, urls), None):
            return Redirected(url=beyond)
        if self._traffic.lost is not None:
            return NoPage(reason=self._traffic.lost)
        if tab.url.startswith(_OWN_PAGES) and self._traffic.status is not None:
            return Page(url=self._traffic.hops[-1], status=self._traffic.status)
        return None

    def _is_beyond(self, url: str) -> bool:
        return is_web(url) and not self._traffic.may_visit(url)

    async def _look(self) -> Look | None:
        """The current document, or its first frame with a form; None while there is neither."""
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
        """Answers a dialog with the user's decision."""
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
    """A new browser context whose only connection is the proxy."""
    context = await browser.new_context(
        proxy={"server": proxy},
        service_workers="block",
        accept_downloads=False,
        locale="en-GB",
        viewport=_VIEWPORT,
    )
    # These would bypass the proxy.
    await context.add_init_script(
        "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport'])"
        " delete globalThis[name];"
    )
    return context


async def _fill(element: Any, field: Field) -> None:
    """Sets the element to the value of the field."""
    if field.kind in {"checkbox", "radio"}:
        if await element.is_checked() != field.on:
            # Some boxes are drawn by their label and cannot be clicked themselves.
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
    """A reason without the library's text, which may contain typed text."""
    said = str(error)
    if "intercepts pointer events" in said:
        return "another element covers it"
    if "not enabled" in said:
        return "it is disabled"
    if "not visible" in said or "not attached" in said:
        return _GONE
    return type(error).__name__
