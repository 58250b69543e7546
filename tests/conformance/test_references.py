"""Pages that refer to other hosts are recognised, however the reference is written."""

from __future__ import annotations

import pytest

from gateproof.conformance.checks.gateway._references import reference_elsewhere
from gateproof.conformance.wire.route import origin

URL = "https://gateway.example/sign-in?ticket=1"
OWN = {origin(URL)}


@pytest.mark.parametrize(
    "markup",
    [
        '<a href="https://cdn.example/help">',
        "<script src='//cdn.example/x.js'>",
        "<img src=https://cdn.example/x.png>",
        '<img src="\\\\cdn.example/x.png">',
        '<img srcset="/small.png 1x, https://cdn.example/large.png 2x">',
        '<link href="https:&#x2F;&#x2F;cdn.example/x.css">',
        "<style>@import 'https://cdn.example/x.css';</style>",
        "<div style=\"background: url('https://cdn.example/x.png')\">",
        '<base href="https://cdn.example/"><script src="x.js">',
    ],
)
def test_another_host_is_found(markup: str) -> None:
    assert reference_elsewhere(URL, f"<html>{markup}</html>", OWN) == "cdn.example"


@pytest.mark.parametrize(
    "markup",
    [
        '<a href="/help">',
        '<a href="https://gateway.example/help">',
        '<form action="decision?next=https://cdn.example/">',
        '<a href="mailto:help@cdn.example">',
        '<img src="data:image/png;base64,AAAA">',
        "see https://cdn.example/help",
        '<style>p { background: url("x.png") }</style>',
    ],
)
def test_own_host_is_none(markup: str) -> None:
    assert reference_elsewhere(URL, f"<html>{markup}</html>", OWN) is None
