"""The windows of one browser: what they show once they have come to rest, and what a user does in them."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.signin.addresses import is_web
from conformance.signin.browser import Away, Lost, View
from conformance.signin.chromium.reading import page_of, script
from conformance.signin.page import Page

if TYPE_CHECKING:
    from conformance.signin.chromium.traffic import Traffic
    from conformance.signin.page import Button, Field, Form

# For how long a document that scripts may change has to stay as it is: where there is something to press, and
# where there is not (yet).
_READY_S, _BARE_S = 0.15, 0.8
# How long an act may take to show that it does anything.
_UNMOVED_S = 3.0
_SETTLED_S = 90.0
_ACT_MS = 5_000
_POLL_S = 0.02
_NET_ERROR = re.compile(r"net::(ERR_[A-Z_]+)")
_PAGE = f"() => ({script('reading.js')})().page"
# What the browser shows in place of an error that came without a word of its own.
_OWN_PAGES = "chrome-error:"
_VIEWPORT = {"width": 1024, "height": 768}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """What one look at a document found."""

    found: dict[str, Any]
    frame: Any

    @property
    def signature(self) -> tuple[object, ...]:
        return (self.found["url"], self.found["text"], repr(self.found["forms"]))


class Window:
    """The newest tab of a browser context is the one that the user sees."""

    def __init__(self, context: Any, traffic: Traffic) -> None:
        self.context = context
        self.approves = True
        self._traffic = traffic
        self._read: _Read | None = None
        self._held: Any = None
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
        self._read = None
        try:
            await tab.goto(url, wait_until="commit", timeout=_SETTLED_S * 1000)
        except Exception as error:  # noqa: BLE001 - its text holds the address, and with it the request
            if (gone := self._gone()) is not None:
                return gone
            return Lost(reason=f"the browser did not get there: {_net_error(error)}")
        return await self._settled(moved=True)

    async def send(self, page: Page, form: Form, pressed: Button | None) -> View:
        """The user fills this form in as it differs from the page, and presses the button, or Enter."""
        read = self._read
        if read is None:
            return Lost(reason="there is no page any more")
        if not await self._hold(read):
            return await self._settled(moved=True)
        before = read.signature, self._traffic.asked
        what = (pressed.text or pressed.name or pressed.kind) if pressed is not None else "Enter"
        try:
            last = None
            old = {field.number: field for each in page.forms for field in each.fields}
            for field in form.fields:
                last = await self._element(field)
                if field != old.get(field.number):
                    await _fill(last, field)
            if pressed is not None:
                await (await self._element(pressed)).click(timeout=_ACT_MS, no_wait_after=True)
            elif last is not None:
                await last.press("Enter", timeout=_ACT_MS, no_wait_after=True)
        except Exception as error:  # noqa: BLE001 - its text may hold what was filled in
            if (gone := self._gone()) is not None:
                return gone
            if not _is_navigation(error):
                return Lost(reason=f"the form could not be filled in and sent by {what!r}: {_why(error)}")
        return await self._settled(moved=False, before=before, what=what)

    async def forget(self) -> None:
        """Nothing is left by which anybody could tell this browser from another; the page stays."""
        await self.context.clear_cookies()
        tab = self.front
        for frame in tab.frames if tab is not None else ():
            with suppress(Exception):
                await frame.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")

    async def close_tabs(self) -> None:
        """Nothing goes on any more; cookies stay."""
        self._read = None
        for tab in list(self.context.pages):
            with suppress(Exception):
                await tab.close()

    async def _element(self, control: Field | Button) -> Any:
        picked = "(read, number) => read.elements[number]"
        return (await self._held.evaluate_handle(picked, control.number)).as_element()

    async def _hold(self, read: _Read) -> bool:
        """Gets hold of the elements that were read; False where the page is another one by now."""
        try:
            self._held = await read.frame.evaluate_handle(script("reading.js"))
            again = _Read(found=await self._held.evaluate("(read) => read.page"), frame=read.frame)
        except Exception as error:
            if _is_navigation(error):
                return False
            raise
        return again.signature == read.signature

    async def _settled(
        self, *, moved: bool, before: tuple[tuple[object, ...], int] | None = None, what: str = ""
    ) -> View:
        """The view once nothing loads and nothing changes any more, or what kept it from that."""
        begun = since = time.monotonic()
        last: tuple[object, ...] | None = None
        while True:
            if self._traffic.trouble is not None:
                raise self._traffic.trouble
            if (gone := self._gone()) is not None:
                return gone
            now = time.monotonic()
            if now - begun > _SETTLED_S:
                return Lost(reason=f"the page did not come to rest within {_SETTLED_S:g} s")
            if self.front.url.startswith(_OWN_PAGES) and self._traffic.status is not None:
                return Page(url=self._traffic.hops[-1], status=self._traffic.status)
            read = None if self._traffic.is_loading() else await self._look()
            if read is not None and self._is_beyond(str(read.found["url"])):
                # Known to the document before it is known to whoever speaks to the browser.
                return Away(url=str(read.found["url"]))
            if read is None or read.found["ready"] != "complete" or read.signature != last:
                last, since = (read.signature if read is not None else None), now
            moved = moved or (
                before is not None and (last, self._traffic.asked) != before and last is not None
            )
            if read is not None and read.found["ready"] == "complete":
                if not moved and now - begun > _UNMOVED_S:
                    self._read = read
                    return Lost(reason=f"nothing came of pressing {what!r}")
                if moved and now - since >= self._patience(read):
                    self._read = read
                    return page_of(read.found, self._traffic.status or 200)
            await asyncio.sleep(_POLL_S)

    def _patience(self, read: _Read) -> float:
        if not read.found["lives"] and not self._traffic.scripted:
            return 0.0
        return _READY_S if any(form["controls"] for form in read.found["forms"]) else _BARE_S

    def _gone(self) -> View | None:
        """Where the browser was sent away to, or why it has no page."""
        if self._traffic.away is not None:
            return Away(url=self._traffic.away)
        tab = self.front
        if tab is None:
            return Lost(reason="the page closed its window")
        if self._is_beyond(tab.url):
            return Away(url=tab.url)
        if self._traffic.lost is not None:
            return Lost(reason=self._traffic.lost)
        return None

    def _is_beyond(self, url: str) -> bool:
        return is_web(url) and not self._traffic.may_visit(url)

    async def _look(self) -> _Read | None:
        """The document in front, or its first frame with something to act on; None while neither is there."""
        tab = self.front
        if tab is None:
            return None
        first: _Read | None = None
        for frame in [tab.main_frame, *(frame for frame in tab.frames if frame != tab.main_frame)]:
            try:
                read = _Read(found=await frame.evaluate(_PAGE), frame=frame)
            except Exception as error:
                if tab.is_closed() or _is_navigation(error) or frame != tab.main_frame:
                    continue
                raise
            if first is None or read.found["forms"]:
                first = read
            if read.found["forms"]:
                break
        return first

    def _opened(self, tab: Any) -> None:
        tab.on("dialog", self._asked)

    async def _asked(self, dialog: Any) -> None:
        """A question in a box of its own gets the answer that the user came with."""
        with suppress(Exception):
            if self.approves or dialog.type in {"alert", "beforeunload"}:
                await dialog.accept()
            else:
                await dialog.dismiss()


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
        return "it is not to be seen any more"
    return type(error).__name__
