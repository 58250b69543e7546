"""A page as a browser shows it: forms, fields and buttons as values."""

from __future__ import annotations

from dataclasses import dataclass, replace

# The method of a form that stands for a link: its address is asked for as it is.
LINK = "link"


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """An input, a select or a text area, with what it would send now.

    `number` tells a browser with a living page which of its elements this is.
    """

    kind: str
    name: str = ""
    id: str = ""
    value: str = ""
    on: bool = True
    chosen: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    required: bool = False
    readonly: bool = False
    autocomplete: str = ""
    label: str = ""
    number: int | None = None
    # Sent like any other, and filled in by nobody who sees another.
    unseen: bool = False

    def values(self) -> tuple[str, ...]:
        """What it sends under its name: nothing for a box that is not ticked."""
        if self.kind == "select":
            return self.chosen
        return (self.value,) if self.on else ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Button:
    """A button that submits; what it says on its own account goes before what its form says."""

    kind: str = "submit"
    name: str = ""
    id: str = ""
    value: str = ""
    text: str = ""
    action: str | None = None
    method: str | None = None
    enctype: str | None = None
    number: int | None = None
    unseen: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """A form with its controls in the order of the page; a link stands for one that is sent as it is."""

    action: str
    method: str = "get"
    enctype: str = "application/x-www-form-urlencoded"
    charset: str = "utf-8"
    id: str = ""
    controls: tuple[Field | Button, ...] = ()

    @property
    def fields(self) -> tuple[Field, ...]:
        return tuple(control for control in self.controls if isinstance(control, Field))

    @property
    def buttons(self) -> tuple[Button, ...]:
        return tuple(control for control in self.controls if isinstance(control, Button))

    def replacing(self, old: Field, new: Field) -> Form:
        """The same form with one field changed."""
        return replace(self, controls=tuple(new if control is old else control for control in self.controls))


@dataclass(frozen=True, slots=True)
class Refresh:
    """Where a page leads by itself, and how long after it is shown."""

    url: str
    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Link:
    """What a link says, and where it leads."""

    text: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """What the browser shows after a navigation has ended.

    `scripted` says that there are scripts on it which did not run.
    """

    url: str
    status: int
    title: str = ""
    text: str = ""
    forms: tuple[Form, ...] = ()
    refresh: Refresh | None = None
    links: tuple[Link, ...] = ()
    referrer_policy: str = ""
    scripted: bool = False
