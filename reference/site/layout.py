"""The layout of all pages, and their elements: forms, tables, lists of values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gateproof.reference.site.markup import Attribute, Child, Html, joined, tag


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """The parts around the content: name of the site, home link, and more in the header."""

    site: str
    home: str
    beside: Child = None


def document(frame: Frame, title: str, *main: Child, above: Child = None) -> Html:
    """A whole page, without scripts, with one stylesheet of the same origin; `above` precedes the content."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{title} | {frame.site}"),
        tag("link", rel="stylesheet", href="/style.css"),
        tag("link", rel="icon", href="/icon.svg", type="image/svg+xml"),
    )
    brand = tag("a", frame.site, href=frame.home, class_="brand")
    body = tag(
        "body",
        tag("a", "Skip to the content", href="#main", class_="skip"),
        tag("header", tag("div", brand, frame.beside, class_="bar")),
        above,
        tag("main", tag("h1", title), *main, id="main", tabindex="-1"),
    )
    return joined(Html("<!doctype html>\n"), tag("html", head, body, lang="en"), Html("\n"))


def section(title: str, *content: Child, id_: str | None = None) -> Html:
    name = id_ or title.lower().replace(" ", "-")
    return tag("section", tag("h2", title, id=name), *content, aria_labelledby=name)


def notice(text: str | None) -> Html | None:
    """A message about the last action, which screen readers announce."""
    return tag("p", text, role="status", class_="notice") if text else None


def complaint(text: str | None) -> Html | None:
    """An error message."""
    return tag("p", text, role="alert", class_="complaint") if text else None


def form(action: str, token: str, *content: Child, class_: str | None = None) -> Html:
    """A form that changes something, with a CSRF token."""
    hidden = tag("input", type="hidden", name="csrf", value=token)
    return tag("form", hidden, *content, method="post", action=action, class_=class_)


def button(
    text: str, *, about: str | None = None, class_: str | None = None, **attributes: Attribute
) -> Html:
    """A submit button; `about` is more text for screen readers, to distinguish equal buttons."""
    more = tag("span", f" {about}", class_="unseen") if about else None
    return tag("button", text, more, type="submit", class_=class_, **attributes)


def field(label: str, name: str, *, hint: str | None = None, **attributes: Attribute) -> Html:
    """An input field with label and hint."""
    place = f"field-{name}"
    said = tag("span", hint, id=f"{place}-hint", class_="hint") if hint else None
    told = f"{place}-hint" if hint else None
    written = tag("input", id=place, name=name, aria_describedby=told, **{"type": "text"} | attributes)
    return tag("div", tag("label", label, for_=place), said, written, class_="field")


def choices(legend: str, name: str, offered: Iterable[tuple[str, str, str]], chosen: str) -> Html:
    """Radio buttons, each with value, label and hint."""
    rows = []
    for value, label, hint in offered:
        place = f"{name}-{value}"
        one = tag(
            "input",
            type="radio",
            id=place,
            name=name,
            value=value,
            checked=value == chosen,
            aria_describedby=f"{place}-hint",
        )
        said = tag("span", hint, id=f"{place}-hint", class_="hint")
        rows.append(tag("div", one, tag("label", label, for_=place), said, class_="choice"))
    return tag("fieldset", tag("legend", legend), rows)


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Child]]) -> Html:
    """A table whose first column has the row headers.

    The roles are needed because rows become blocks on a narrow screen, which removes the table semantics.
    """
    headings = [tag("th", each, scope="col", role="columnheader") for each in head]
    return tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", headings, role="row"), role="rowgroup"),
        tag("tbody", [_row(head, cells) for cells in rows], role="rowgroup"),
        role="table",
    )


def _row(head: Sequence[str], cells: Sequence[Child]) -> Html:
    first = tag("th", cells[0], scope="row", role="rowheader", data_head=head[0])
    rest = [
        tag("td", cell, role="cell", data_head=name) for name, cell in zip(head[1:], cells[1:], strict=True)
    ]
    return tag("tr", first, rest, role="row")


def values(pairs: Iterable[tuple[str, Child]]) -> Html:
    """Names and their values."""
    return tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs])


def code(text: str) -> Html:
    """A value to copy."""
    return tag("code", text)
