"""A page as a browser shows it, as values."""

from __future__ import annotations

from dataclasses import dataclass, replace

# The method of a form that represents a link.
LINK = "link"


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """An input, select or text area with its current value.

    `number` identifies the element in a real browser.
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
    # Hidden: it is sent, but not filled in if a visible field fits.
    hidden: bool = False

    def values(self) -> tuple[str, ...]:
        """The submitted values: none for a box that is not ticked."""
        if self.kind == "select":
            return self.chosen
        return (self.value,) if self.on else ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Button:
    """A submit button; its attributes override those of the form."""

    kind: str = "submit"
    name: str = ""
    id: str = ""
    value: str = ""
    text: str = ""
    action: str | None = None
    method: str | None = None
    enctype: str | None = None
    number: int | None = None
    hidden: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """A form with its controls in page order; it can also represent a link."""

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
    """A refresh: the next URL, and the delay."""

    url: str
    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Link:
    """The text and URL of a link."""

    text: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """The page at the end of a navigation.

    `scripted`: it contains scripts, which did not run.
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
