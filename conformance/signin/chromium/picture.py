"""A picture of a page, without what anybody typed and without any secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateproof.conformance.signin.chromium.reading import script

if TYPE_CHECKING:
    from gateproof.conformance.signin.picturing import Picturing

_LONGEST_MS = 5_000
# A picture goes into the record of the run: a page that needs more than this is a photograph.
_LARGEST = 256 * 1024
_PUT = "(page, said) => page.texts.forEach(([node, name], number) => { node[name] = said[number]; })"


async def draw(tab: Any, picturing: Picturing) -> bytes | None:
    """What the tab shows, as a PNG; None where there is nothing to show, or nothing that may be shown.

    Fields are emptied, images hidden, and every text is rewritten as a report would have it. A secret may
    also be spread over several elements: then the text as a whole gives it away, and there is no picture.
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
    except Exception:  # noqa: BLE001 - a picture is worth less than the sign-in that it is about
        return None
    return drawn if len(drawn) <= _LARGEST else None
