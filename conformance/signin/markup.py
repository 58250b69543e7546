"""Parses the body of an answer into a page, like a browser without scripts."""

from __future__ import annotations

import codecs
import re
from itertools import islice
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from gateproof.conformance.signin.addresses import resolve
from gateproof.conformance.signin.controls import (
    ENCTYPES,
    FORM_URLENCODED,
    action_of,
    read_control,
)
from gateproof.conformance.signin.node_ids import (
    Words,
    ancestors,
    attributes_of,
    in_order,
    numbered,
    unnumbered,
    words_of,
)
from gateproof.conformance.signin.page import Button, Field, Form, Link, Page, Refresh
from gateproof.conformance.signin.referrer import policy_in
from gateproof.conformance.signin.surroundings import Surroundings, is_hidden

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selectolax.lexbor import LexborNode

    from gateproof.conformance.wire.exchange import Answer

_LONGEST_TEXT = 20_000
# The maximum size of a page. The time for nested elements grows with the square of their number.
_MOST_TAGS, _MOST_CONTROLS = 20_000, 2_000
_BEGINS_A_TAG = re.compile(r"<[A-Za-z/!?]")


def read_page(url: str, answer: Answer) -> Page:
    """The page of an answer; content other than HTML has text but no forms."""
    charset = _charset(answer)
    source = answer.body.decode(charset, "replace")
    policy = policy_in(",".join(answer.headers_named("Referrer-Policy")))
    refresh = answer.header("Refresh")
    if not _is_html(answer):
        shown = " ".join(source[:_LONGEST_TEXT].split())
        return Page(url=url, status=answer.status, text=shown, refresh=_refresh(refresh, url, url))
    tree = LexborHTMLParser(numbered(_first_tags(source)))
    base_node = tree.css_first("base[href]")
    base = resolve(url, attributes_of(base_node)["href"]) if base_node is not None else url
    for meta in tree.css("meta"):
        attributes = attributes_of(meta)
        if attributes.get("http-equiv", "").lower() == "refresh" and refresh is None:
            refresh = attributes.get("content", "")
        if attributes.get("name", "").lower() == "referrer":
            policy = policy_in(attributes.get("content", "")) or policy
    forms = _forms(tree, url, base, charset)
    links = _links(tree, base)
    scripted = tree.css_first("script") is not None
    title = tree.css_first("title")
    return Page(
        url=url,
        status=answer.status,
        title="" if title is None else words_of(title),
        text=_visible_text(tree),
        forms=forms,
        refresh=_refresh(refresh, url, base),
        links=links,
        referrer_policy=policy,
        scripted=scripted,
    )


def _first_tags(source: str) -> str:
    """The source up to the tag that exceeds the maximum number of tags."""
    tags = _BEGINS_A_TAG.finditer(source)
    end = next(islice(tags, _MOST_TAGS, None), None)
    return source if end is None else source[: end.start()]


def _is_html(answer: Answer) -> bool:
    kind = (answer.header("Content-Type") or "").partition(";")[0].strip().lower()
    if kind:
        return kind in {"text/html", "application/xhtml+xml"}
    return answer.body.lstrip()[:1] == b"<"


def _charset(answer: Answer) -> str:
    """The encoding, by byte order mark, header or meta element; else UTF-8 or the browsers' default."""
    if answer.body.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    content_type = answer.header("Content-Type") or ""
    said = re.search(r"charset=[\"']?([\w.:-]+)", content_type, re.IGNORECASE)
    start = answer.body[:1024]
    meta = re.search(rb"<meta[^>]+charset=[\"']?\s*([\w.:-]+)", start, re.IGNORECASE)
    name = said[1] if said else meta[1].decode("ascii", "replace") if meta else ""
    try:
        known = codecs.lookup(name).name if name else ""
        # Some codecs are not for text, and "undefined" always fails.
        b"<html>".decode(known or "utf-8", "replace")
    except (LookupError, ValueError):
        known = ""
    if known in {"iso8859-1", "ascii"}:
        return "cp1252"
    if known:
        return known
    try:
        answer.body.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _visible_text(tree: LexborHTMLParser) -> str:
    for node in tree.css("script, style, title"):
        node.decompose()
    return (
        ""
        if tree.body is None
        else " ".join(unnumbered(tree.body.text(separator=" ")).split())[:_LONGEST_TEXT]
    )


def _refresh(said: str | None, url: str, base: str) -> Refresh | None:
    """The target and delay of a refresh; without a URL it reloads the page."""
    delay_and_url = r"\s*(\d*(?:\.\d*)?)\s*(?:[;,\s]\s*(?:url\s*=\s*)?(.*))?"
    match = re.fullmatch(delay_and_url, said or "", re.IGNORECASE | re.DOTALL)
    if match is None or not match[1]:
        return None
    address = (match[2] or "").strip().strip("\"'")
    after_s = float(match[1]) if match[1] != "." else 0.0
    return Refresh(resolve(base, address) if address else url, after_s)


def _links(tree: LexborHTMLParser, base: str) -> tuple[Link, ...]:
    found = ((attributes_of(node), node) for node in tree.css("a[href]") if not is_hidden(node))
    return tuple(
        Link(words_of(node) or given.get("aria-label", ""), resolve(base, given["href"]))
        for given, node in found
        if given["href"].strip() and not given["href"].lstrip().lower().startswith(("#", "javascript:"))
    )


def _forms(tree: LexborHTMLParser, url: str, base: str, charset: str) -> tuple[Form, ...]:
    nodes, surroundings = in_order(tree)[:_MOST_CONTROLS], Surroundings(Words())
    labels = {attributes_of(label).get("for", ""): words_of(label) for label in tree.css("label[for]")}
    owned: dict[int, list[Field | Button]] = {}
    forms: dict[int, LexborNode] = {}
    by_id: dict[str, int] = {}
    for node in nodes:
        if node is not None and node.tag == "form":
            forms[node.mem_id] = node
            owned[node.mem_id] = []
            by_id.setdefault(attributes_of(node).get("id", ""), node.mem_id)
    open_form: int | None = None
    for node in nodes:
        if node is None or node.tag == "form":
            open_form = None if node is None else node.mem_id
            continue
        attributes = attributes_of(node)
        owner = _owner(node, attributes.get("form"), open_form, forms, by_id)
        if owner is None or "disabled" in attributes or (around := surroundings(node)).disabled:
            continue
        control = read_control(node, attributes, around, labels, url, base)
        if control is not None:
            owned[owner].append(control)
    return tuple(
        form
        for key, node in forms.items()
        if (form := _form(node, owned[key], url, base, charset)) is not None
    )


def _owner(
    node: LexborNode,
    named: str | None,
    open_form: int | None,
    forms: Mapping[int, LexborNode],
    by_id: Mapping[str, int],
) -> int | None:
    if named is not None:
        return by_id.get(named) if named else None
    if open_form is not None:
        return open_form
    return next((parent.mem_id for parent in ancestors(node) if parent.mem_id in forms), None)


def _form(node: LexborNode, controls: list[Field | Button], url: str, base: str, charset: str) -> Form | None:
    """The form of an element; None if it has no controls or only closes a dialog."""
    attributes = attributes_of(node)
    method = attributes.get("method", "").lower()
    if method == "dialog" or not controls:
        return None
    if any(isinstance(control, Button) and not control.hidden for control in controls):
        # If there is a visible button, hidden ones are ignored.
        controls = [control for control in controls if isinstance(control, Field) or not control.hidden]
    enctype = attributes.get("enctype", "").lower()
    return Form(
        action=action_of(attributes.get("action"), url, base),
        method="post" if method == "post" else "get",
        enctype=enctype if enctype in ENCTYPES else FORM_URLENCODED,
        charset="utf-8" if charset == "utf-8-sig" else charset,
        id=attributes.get("id", ""),
        controls=tuple(controls),
    )
