"""When a page has come to rest after what a user did, told from looks at it one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# For how long a document that scripts may change has to stay as it is: where there is something to press, and
# where there is not (yet).
READY_S, BARE_S = 0.15, 0.8
# How long an act may take to show that it does anything.
UNMOVED_S = 6.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What one look at a document found; `number` is that of the answer that brought it, if known."""

    found: dict[str, Any]
    frame: Any
    number: int | None

    @property
    def signature(self) -> tuple[object, ...]:
        """Two looks with the same signature saw the same; what stands in the fields is the user's doing."""
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
        """How long nothing may change before this is taken for the page; nothing changes without scripts."""
        if not self.found["lives"] and not scripted:
            return 0.0
        return READY_S if self.found["forms"] else BARE_S


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """How things stood before the act: what was seen, and how much had been asked for."""

    signature: tuple[object, ...]
    asked: int


class Settling:
    """Whether the page is at rest; without a mark, it is a new one."""

    def __init__(self, mark: Mark | None, now: float) -> None:
        self._mark = mark
        self._moved = mark is None
        self._begun = self._since = now
        self._last: tuple[object, ...] | None = None

    def see(self, look: Look | None, *, asked: int, now: float) -> None:
        """A look, or None where there was nothing to look at: while something loads, for one."""
        signature = look.signature if look is not None and look.is_whole else None
        if signature is None or signature != self._last:
            self._last, self._since = signature, now
        if self._mark is not None and signature is not None:
            self._moved = self._moved or Mark(signature=signature, asked=asked) != self._mark

    def at_rest(self, look: Look, *, due: int, scripted: bool, now: float) -> bool:
        """True once the page that is due is there, and has stayed as it is for long enough."""
        if not self._moved or self._last is None:
            return False
        # A page that was answered for need not come: it may have been a download.
        arrived = look.number is None or look.number >= due or now - self._since > UNMOVED_S
        return arrived and now - self._since >= look.patience_s(scripted=scripted)

    def unmoved(self, now: float) -> bool:
        """True once nothing has come of the act for so long that nothing will."""
        return not self._moved and now - self._begun > UNMOVED_S
