"""Redaction: known secrets become labels, known names are shown, other text like a credential is hidden."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from urllib.parse import unquote_plus

from gateproof.reports.encodings import as_a_value, whole
from gateproof.reports.escapes import layers, may_have_layers
from gateproof.reports.letter_case import FURTHER, word_in_any_case

# A run of at least 16 of these characters can be a credential.
_RUN = re.compile(r"[A-Za-z0-9_\-+~]{16,}")
# Words, abbreviations, numbers, and names like s256 or rfc7636.
_WORD = re.compile(r"[A-Z]?[a-z]{1,19}|[A-Z]{1,12}|[0-9]{1,5}|[a-z]{1,4}[0-9]{1,4}")
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}[\d.Zz:+-]*")
_SPACE = re.compile(r"\s")
_SHORTEST = 16
# The shortest Basic credentials: a text shorter than these contains nothing but known secrets to hide.
_SHORTEST_BASIC = len("basic ") + 8
# A shorter secret is hidden only where it is a whole value; elsewhere it could be a word.
_SAFE = 6
# How many redacted texts a redactor keeps, and how long these may be: names and addresses are often repeated.
_MOST_KEPT, _LONGEST_KEPT = 4096, 512
_JWT = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")
_LABEL = re.compile(r"⟨[^⟨⟩]*⟩")
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?:-----)?(?:[\s\S]{0,8000}?-----END [A-Z0-9 ]*PRIVATE KEY(?:-----)?)?"
)
BASIC = re.compile(rf"({word_in_any_case('basic')}\s+)([A-Za-z0-9+/_{FURTHER}-]{{8,}}={{0,2}})")


def is_a_pair(encoded: str) -> bool:
    """True for encoded Basic credentials (RFC 7617), false for a word after `basic`."""
    try:
        return b":" in base64.b64decode(encoded.replace("-", "+").replace("_", "/") + "==")
    except (ValueError, binascii.Error):
        return False


def _without_plain_secrets(text: str) -> str:
    """The text without private keys and Basic credentials of any length."""
    if "PRIVATE KEY" in text:
        text = _PRIVATE_KEY.sub("⟨private key⟩", text)
    return BASIC.sub(
        lambda found: found[0] if not is_a_pair(found[2]) else f"{found[1]}⟨name and password⟩", text
    )


class Redactor:
    """Redacts text.

    Known secrets become labels, in every common encoding. Other text that looks like a credential and is not
    a public name becomes a numbered mark: a broken target can leak values that the harness does not know, and
    a report must not contain them.
    """

    def __init__(self, *, secrets: Mapping[str, str], public: Collection[str]) -> None:
        forms: dict[str, str] = {}
        for value, label in secrets.items():
            for form in whole(value):
                if len(form) >= _SAFE:
                    forms.setdefault(form, label)
        # One by one, longest first: compiling one expression for all would take longer.
        self._forms = sorted(forms.items(), key=lambda form: len(form[0]), reverse=True)
        self._short = [
            (as_a_value(value), label) for value, label in secrets.items() if 0 < len(value) < _SAFE
        ]
        self._harmless_below = 0 if self._short else min((_SHORTEST_BASIC, *map(len, forms)))
        self._public = {run for name in public for run in _RUN.findall(name)}
        self._marks: dict[str, str] = {}
        self._kept_texts: dict[str, str] = {}
        self._kept_values: dict[str, str] = {}

    @property
    def public(self) -> frozenset[str]:
        """Names that are shown although they look like credentials."""
        return frozenset(self._public)

    def text(self, text: str) -> str:
        """The redacted text."""
        if len(text) < self._harmless_below:
            return text
        shown = self._kept_texts.get(text)
        return self._redacted(text) if shown is None else shown

    def _redacted(self, given: str) -> str:
        text = _without_plain_secrets(self._labelled(given))
        pieces: list[str] = []
        position = 0
        for kept in _LABEL.finditer(text):
            pieces += (self._masked(text[position : kept.start()]), kept.group())
            position = kept.end()
        pieces.append(self._masked(text[position:]))
        return _kept("".join(pieces), given, self._kept_texts)

    def value(self, value: str) -> str:
        """One value of a query, a form or a JSON document: shown whole, as a label, or hidden.

        Tokens with dots, slashes or tildes have parts that do not look like credentials. Here the limits of
        the value are known, so all of it is hidden.
        """
        if len(value) < _SHORTEST or "://" in value or _SPACE.search(value) is not None:
            return self.text(value)
        shown = self._kept_values.get(value)
        return _kept(self._whole(value), value, self._kept_values) if shown is None else shown

    def _whole(self, value: str) -> str:
        labelled = self._labelled(value)
        if _LABEL.fullmatch(labelled):
            return labelled
        harmless = (
            labelled == value and _JWT.search(value) is None and all(map(self._open, _RUN.findall(value)))
        )
        if harmless:
            unnamed = _RUN.sub(lambda found: "" if found.group() in self._public else found.group(), value)
            if _reads_as_words(unnamed) or _TIMESTAMP.fullmatch(value):
                return value
        return self._mark(value)

    def _labelled(self, text: str) -> str:
        # First, because an escaped secret may extend beyond what looks like the end of another one.
        text = self._labelled_behind_escapes(text)
        for form, label in self._forms:
            if form in text:
                text = text.replace(form, label)
        for pattern, label in self._short:
            text = pattern.sub(rf"\1{label}", text)
        return text

    def _labelled_behind_escapes(self, text: str) -> str:
        """Hides secrets that contain escapes, or are inside escaped quotes; other text stays escaped."""
        if not may_have_layers(text):
            return text
        pieces: list[str] = []
        shown = 0
        for start, end, label in sorted(self._behind_escapes(text), key=lambda hit: (hit[0], -hit[1])):
            if start >= shown:
                pieces += (text[shown:start], label)
            shown = max(shown, end)
        return "".join((*pieces, text[shown:]))

    def _behind_escapes(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and label of each escaped secret."""
        for layer in layers(text) if self._forms or self._short else ():
            known = [
                (re.compile(f"(){re.escape(form)}"), label)
                for form, label in self._forms
                if form in layer.text
            ]
            for pattern, label in (*known, *self._short):
                for found in pattern.finditer(layer.text):
                    yield layer.origin(found.end(1)), layer.origin(found.end()), label

    def _masked(self, text: str) -> str:
        text = _JWT.sub(lambda found: self._mark(found.group()), text)
        if "⟨" not in text:
            return _RUN.sub(self._judge, text)
        return "".join(
            piece if piece.startswith("⟨") else _RUN.sub(self._judge, piece)
            for piece in re.split(r"(⟨[^⟨⟩]*⟩)", text)
        )

    def _judge(self, found: re.Match[str]) -> str:
        run = found.group()
        return run if self._open(run) else self._mark(run)

    def _open(self, run: str) -> bool:
        """True for text that may be shown."""
        return run in self._public or _reads_as_words(run)

    def _mark(self, value: str) -> str:
        """A numbered mark: equal values get equal marks, which show nothing else about the value.

        Only shown marks are counted, because gaps in the numbers would reveal something about the value.
        """
        return self._marks.setdefault(value, f"⟨opaque~{len(self._marks) + 1}⟩")


def runs(texts: Iterable[str]) -> set[str]:
    """All runs in these texts, also percent-decoded, that are long enough to be a credential."""
    found: set[str] = set()
    # Removing labels and decoding only shorten a text.
    for text in {text for text in texts if len(text) >= _SHORTEST}:
        bare = _LABEL.sub(" ", text)
        found.update(_RUN.findall(bare))
        if "%" in bare or "+" in bare:
            found.update(_RUN.findall(unquote_plus(bare)))
    return found


def _kept(shown: str, given: str, kept: dict[str, str]) -> str:
    """What is shown for a text, kept for the next time: equal texts are shown in the same way."""
    if len(given) <= _LONGEST_KEPT and len(kept) < _MOST_KEPT:
        kept[given] = shown
    return shown


def _reads_as_words(run: str) -> bool:
    """True for `token_endpoint_auth_method`, false for random characters."""
    return all(_WORD.fullmatch(piece) for piece in re.split(r"[^A-Za-z0-9]", run) if piece)
