"""A screenshot of a page without typed text and without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateproof.conformance.signin.chromium.reading import script

if TYPE_CHECKING:
    from gateproof.conformance.signin.picturing import Picturing

_LONGEST_MS = 5_000
# The screenshot becomes part of the record, so its size is limited.
_LARGEST = 256 * 1024
_PUT = "(page, said) => page.texts.forEach(([node, name], number) => { node[name] = said[number]; })"


async def draw(tab: Any, picturing: Picturing) -> bytes | None:
    """A PNG of the tab; None if there is nothing to show or if it could show a secret.

    Input fields are emptied, images hidden, and every text is redacted as in a report. A secret may be split
    over several elements: if the joined text still contains one, there is no screenshot.
    """
    if tab is None:
        return None
    try:
        page = await tab.evaluate_handle(script("blanking.js"))
        said = [str(each) for each in await page.evaluate("(page) => page.said")]
        await page.evaluate(_PUT, [picturing.redact(each) for each in said])
        shown = str(await tab.evaluate("() => document.body?.innerText || ''"))
        if picturing.tells(shown) or picturing.tells("".join(shown.split())):
            return None
        drawn: bytes = await tab.screenshot(type="png", caret="hide", scale="css", timeout=_LONGEST_MS)
    except Exception:  # noqa: BLE001 - a failed screenshot must not fail the sign-in
        return None
    return drawn if len(drawn) <= _LARGEST else None
