"""Reads fields and buttons with their initial values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gateproof.conformance.signin.addresses import resolve
from gateproof.conformance.signin.node_ids import attributes_of, text_of, words_of
from gateproof.conformance.signin.page import Button, Field
from gateproof.conformance.signin.surroundings import hides

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selectolax.lexbor import LexborNode

    from gateproof.conformance.signin.surroundings import Surrounding

FORM_URLENCODED = "application/x-www-form-urlencoded"
ENCTYPES = {FORM_URLENCODED, "multipart/form-data", "text/plain"}


def action_of(value: str | None, url: str, base: str) -> str:
    """The URL of a form; without an action, that of the page."""
    return resolve(base, value) if value and value.strip() else url


def read_control(
    node: LexborNode,
    attributes: Mapping[str, str],
    around: Surrounding,
    labels: Mapping[str, str],
    url: str,
    base: str,
) -> Field | Button | None:
    """A field or a submit button; None for other buttons, which only scripts use."""
    kind = attributes.get("type", "").strip().lower()
    hidden = around.hidden or hides(attributes)
    if node.tag == "button" or (node.tag == "input" and kind in {"submit", "image", "button", "reset"}):
        if kind in {"button", "reset"}:
            return None
        text = (
            words_of(node)
            if node.tag == "button"
            else attributes.get("value") or attributes.get("alt") or "Submit"
        )
        kind = "image" if kind == "image" else "submit"
        return _button(attributes, kind, text, url, base, hidden=hidden)
    label = labels.get(attributes["id"], "") if attributes.get("id") else ""
    hints = (label, around.label, attributes.get("placeholder", ""), attributes.get("aria-label", ""))
    field = Field(
        kind="textarea" if node.tag == "textarea" else "select" if node.tag == "select" else kind or "text",
        name=attributes.get("name", ""),
        id=attributes.get("id", ""),
        value=attributes.get("value", ""),
        required="required" in attributes,
        readonly="readonly" in attributes,
        autocomplete=attributes.get("autocomplete", "").lower(),
        hidden=hidden,
        label=" ".join(hint for hint in hints if hint),
    )
    return _with_state(field, node, attributes)


def _with_state(field: Field, node: LexborNode, attributes: Mapping[str, str]) -> Field:
    """The field with its initial value."""
    if field.kind == "textarea":
        return replace(field, value=text_of(node))
    if field.kind in {"checkbox", "radio"}:
        return replace(field, value=attributes.get("value", "on"), on="checked" in attributes)
    if field.kind == "select":
        return _select(field, node, multiple="multiple" in attributes)
    return field


def _select(field: Field, node: LexborNode, *, multiple: bool) -> Field:
    values, selected = [], []
    for option in node.css("option"):
        attributes = attributes_of(option)
        group = option.parent
        if "disabled" in attributes or (
            group is not None and group.tag == "optgroup" and "disabled" in group.attributes
        ):
            continue
        value = attributes.get("value", words_of(option))
        values.append(value)
        if "selected" in attributes:
            selected.append(value)
    if not multiple:
        selected = selected[-1:] or values[:1]
    return replace(field, chosen=tuple(selected), options=tuple(values))


def _button(
    attributes: Mapping[str, str], kind: str, text: str, url: str, base: str, *, hidden: bool
) -> Button:
    method = attributes.get("formmethod", "").lower()
    enctype = attributes.get("formenctype", "").lower()
    return Button(
        kind=kind,
        name=attributes.get("name", ""),
        id=attributes.get("id", ""),
        value=attributes.get("value", ""),
        text=text or attributes.get("aria-label", "") or attributes.get("title", ""),
        action=action_of(attributes["formaction"], url, base) if "formaction" in attributes else None,
        method=method if method in {"get", "post"} else None,
        enctype=enctype if enctype in ENCTYPES else None,
        hidden=hidden,
    )
