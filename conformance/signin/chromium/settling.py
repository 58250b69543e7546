"""Decides from repeated observations when a page is stable after a user action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# How long a document with scripts must stay unchanged: with a form, and without one.
READY_S, BARE_S = 0.15, 0.8
# Time limit for an action to have a visible effect.
NO_EFFECT_S = 6.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """One observation of a document; `number` is that of the answer that loaded it, if known."""

    found: dict[str, Any]
    frame: Any
    number: int | None

    @property
    def signature(self) -> tuple[object, ...]:
        """Equal signatures mean the same page; the values of input fields do not count."""
        controls = [
            (each["number"], each["is"], each["kind"], each["name"], each.get("text", ""))
            for form in self.found["forms"]
            for each in form["controls"]
        ]
        return self.number, self.found["url"], self.found["text"], tuple(controls)

    @property
    def is_whole(self) -> bool:
        return bool(self.found["ready"] == "complete")

    def patience_s(self, *, scripted: bool) -> float:
        """How long the page must stay unchanged to count as stable; zero without scripts."""
        if not self.found["lives"] and not scripted:
            return 0.0
        return READY_S if self.found["forms"] else BARE_S


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """The state before an action: the signature, and the number of requests so far."""

    signature: tuple[object, ...]
    asked: int


class Settling:
    """Tracks whether the page is stable; without a mark, it is a new page."""

    def __init__(self, mark: Mark | None, now: float) -> None:
        self._mark = mark
        self._moved = mark is None
        self._begun = self._since = now
        self._last: tuple[object, ...] | None = None

    def see(self, look: Look | None, *, asked: int, now: float) -> None:
        """Adds an observation; None if there was nothing to observe, for example during loading."""
        signature = look.signature if look is not None and look.is_whole else None
        if signature is None or signature != self._last:
            self._last, self._since = signature, now
        if self._mark is not None and signature is not None:
            self._moved = self._moved or Mark(signature=signature, asked=asked) != self._mark

    def at_rest(self, look: Look, *, due: int, scripted: bool, now: float) -> bool:
        """True if the expected page is there and has been stable for long enough."""
        if not self._moved or self._last is None:
            return False
        # The expected page may never appear: the answer may have been a download.
        arrived = look.number is None or look.number >= due or now - self._since > NO_EFFECT_S
        patience_s = look.patience_s(scripted=scripted)
        if patience_s and self._mark is not None and self._last == self._mark.signature:
            # Only a request was sent so far: a script is likely to show its answer soon.
            patience_s = BARE_S
        return arrived and now - self._since >= patience_s

    def had_no_effect(self, now: float) -> bool:
        """True if the action has had no effect for so long that none is expected."""
        return not self._moved and now - self._begun > NO_EFFECT_S
