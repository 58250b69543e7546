"""What the elements around a control say about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateproof.conformance.signin.node_ids import ancestors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selectolax.lexbor import LexborNode

    from gateproof.conformance.signin.node_ids import Words

_UNSEEN = re.compile(r"\bdisplay\s*:\s*none\b|\bvisibility\s*:\s*hidden\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Surrounding:
    """`label` is the text of the innermost label around the control."""

    hidden: bool
    disabled: bool
    label: str


class Surroundings:
    """The elements around controls, read once for the controls of each element."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._read: dict[int, Surrounding] = {}

    def __call__(self, node: LexborNode) -> Surrounding:
        parent = node.parent
        place = 0 if parent is None else parent.mem_id
        if place not in self._read:
            self._read[place] = self._around(node)
        return self._read[place]

    def _around(self, node: LexborNode) -> Surrounding:
        hidden = disabled = False
        label: str | None = None
        inside = node
        for parent in ancestors(node):
            tag, attributes = parent.tag, parent.attributes
            hidden = hidden or hides(attributes)
            if tag == "label":
                label = self._words(parent) if label is None else label
            elif tag == "datalist" or (tag == "fieldset" and "disabled" in attributes):
                disabled = disabled or tag == "datalist" or not _is_first_legend(inside, parent)
            inside = parent
        return Surrounding(hidden=hidden, disabled=disabled, label=label or "")


def is_hidden(node: LexborNode) -> bool:
    """True if the element is hidden by an attribute or an inline style."""
    return any(hides(each.attributes) for each in (node, *ancestors(node)))


def hides(attributes: Mapping[str, str | None]) -> bool:
    """True if these attributes hide their element."""
    style = attributes.get("style")
    return "hidden" in attributes or (style is not None and _UNSEEN.search(style) is not None)


def _is_first_legend(node: LexborNode, fieldset: LexborNode) -> bool:
    """True for the legend whose controls a disabled fieldset does not disable."""
    legend = next((child for child in fieldset.iter() if child.tag == "legend"), None)
    return legend is not None and legend.mem_id == node.mem_id
