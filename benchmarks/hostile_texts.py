"""The time for reading what a hostile target sends, in seconds a megabyte.

`python benchmarks/hostile_texts.py` reads texts of three sizes. The growth is how much longer the largest one
takes than the smallest one, over how much larger it is: about 1 if the time is linear.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping

from gateproof.conformance.signin.markup import read_page
from gateproof.conformance.wire.exchange import Answer
from gateproof.conformance.wire.leaks import CanarySet, canary
from gateproof.reports import leaks, redacted_parts
from gateproof.reports.escaping import code, harmless, prose
from gateproof.reports.redaction import Redactor

KNOWN = "s3cret-value-0123456789abcdef"
REDACTOR = Redactor(secrets={KNOWN: "⟨proxy token#1⟩"}, public=())
CANARIES = CanarySet([canary("proxy_token", KNOWN)])
LARGEST = 400_000
# Shorter times say nothing about growth.
TOLD_FROM_S = 0.05

Make = Callable[[int], str]


def repeated(piece: str, before: str = "") -> Make:
    return lambda size: before + piece * (size // len(piece))


TEXTS: Mapping[str, Make] = {
    "label that is never closed": repeated("⟨"),
    "labels that are never closed": repeated("⟨a"),
    "JWT without end": repeated("aaaaaaaa."),
    "one long token": repeated("aB3-"),
    "private keys without end": repeated("-----BEGIN PRIVATE KEY"),
    "private key, letters": repeated("A", "-----BEGIN "),
    "Basic, spaces": repeated(" ", "basic"),
    "Basic, base64": repeated("QUJD", "basic "),
    "percent-encoded percents": repeated("%25"),
    "escaped backslashes": repeated("\\u005c"),
    "backslashes": repeated("\\"),
    "entities": repeated("&amp;"),
    "ampersands": repeated("&"),
    "form": lambda size: "&".join(f"k{number}=v" for number in range(size // 10)),
    "JSON with many keys": lambda size: json.dumps({f"k{number}": number for number in range(size // 12)}),
    "JSON, nested": repeated("["),
    "spaces": repeated(" "),
    "control characters": repeated("\x01"),
    "times": repeated("2026-01-01T00:00:00"),
    "octets as numbers": repeated("12, "),
    "octets in hexadecimal": repeated("0a:"),
}
PAGES: Mapping[str, Make] = {
    "nested div": repeated("<div>"),
    "nested form": repeated("<form>"),
    "inputs": repeated("<input name=a>", "<form>"),
    "labels around inputs": lambda size: "<label>" * (size // 14) + "<input>" * (size // 14),
    "fieldsets around inputs": repeated("<fieldset disabled><input name=x>", "<form>"),
    "options": repeated("<option>a", "<form><select>"),
    "comments": repeated("<!--"),
    "attributes": repeated("a ", "<input "),
    "less-than signs": repeated("<"),
}
READERS: Mapping[str, Callable[[str], object]] = {
    "redaction": REDACTOR.text,
    "redaction of a body": lambda text: redacted_parts.body(text, REDACTOR),
    "redaction of a query": lambda text: redacted_parts.url(f"https://gateway.example/?{text}", REDACTOR),
    "search for credentials": leaks.credential_kind,
    "search for known secrets": CANARIES.search,
    "Markdown": prose,
    "Markdown code": code,
    "terminal": harmless,
}


def read_as_a_page(text: str) -> object:
    headers = (("Content-Type", "text/html"),)
    return read_page(
        "https://gateway.example/", Answer(status=200, headers=headers, body=text.encode(), elapsed_s=0.0)
    )


def took_s(read: Callable[[str], object], text: str) -> float:
    begun = time.process_time()
    read(text)
    return time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=int, default=LARGEST, help="characters of the largest text")
    size = parser.parse_args().size
    cases = [
        *((name, what, read, make) for name, read in READERS.items() for what, make in TEXTS.items()),
        *(("page", what, read_as_a_page, make) for what, make in PAGES.items()),
    ]
    print(f"{'reader':<26} {'text':<28} {'s a MB':>8} {'growth':>7}")
    for name, what, read, make in cases:
        times = [took_s(read, make(part)) for part in (size // 4, size // 2, size)]
        growth = f"{times[-1] / times[0] / 4:7.1f}" if times[0] >= TOLD_FROM_S else f"{'':7}"
        print(f"{name:<26} {what:<28} {times[-1] / size * 1e6:8.2f} {growth}", flush=True)


if __name__ == "__main__":
    main()
