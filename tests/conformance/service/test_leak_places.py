"""A secret is found wherever a service shows it, and the report names the place."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from warm import WARM

from gateproof.conformance.wire.exchange import Answer
from gateproof.conformance.wire.leak_places import place_in_body

sys.path.insert(0, str(Path(__file__).parent))
from services import HTTP, MCP, written

PROGRAM = str(Path(__file__).with_name("leaky_service.py"))
# How the operation is called, the rule, and what the report says of the place.
PLACES = {
    "header": (HTTP, "SECRET-02", "in the header x-upstream-authorization of"),
    "cookie": (HTTP, "SECRET-02", "in the header set-cookie of"),
    "etag": (HTTP, "SECRET-02", "in the header etag of an answer to the agent (operation, backwards)"),
    "debug-field": (
        HTTP,
        "SECRET-02",
        "in the body, member _debug.state of an answer to the agent (operation, base64)",
    ),
    "meta": (MCP, "SECRET-02", "in the body, member result._meta.… of"),
    "resource": (MCP, "SECRET-02", "in the body, member result.content[1].resource.text of"),
    "notification": (
        MCP,
        "SECRET-02",
        "in the body, notifications/message, member params.data.authorization of",
    ),
    "sse-comment": (MCP, "SECRET-02", "in the body, a comment of the event stream of"),
    "error-text": (HTTP, "SECRET-06", "in the body, member error.message of"),
    "stack-trace": (HTTP, "SECRET-06", "in the body, in a stack trace of"),
    "redirect": (HTTP, "SECRET-06", "in the header location of"),
    "html-comment": (HTTP, "SECRET-06", "in the body, an HTML comment of"),
}


@pytest.mark.parametrize("place", PLACES)
def test_secret_is_found_and_its_place_is_named(
    place: str, tmp_path: Path, judged: Callable[..., dict[str, Any]]
) -> None:
    operation, rule, said = PLACES[place]
    file = written(tmp_path, [*WARM, PROGRAM, place, "--exit-with-stdin"], operation)

    report = judged(file, rule)

    failed = [check for each in report["rules"] for check in each["checks"] if check["verdict"] == "failed"]
    assert any(said in check["message"] for check in failed), [check["message"] for check in failed]
    assert report["exit_code"] == 1


def test_place_is_the_smallest_that_has_a_name() -> None:
    inner = json.dumps({"orders": [{"id": "o"}], "trace": ["a", "the-secret"]})
    document = {"result": {"content": [{"type": "text", "text": inner}]}}
    answer = Answer(
        status=200, headers=(("Content-Type", "application/json"),), body=json.dumps(document).encode()
    )

    place = place_in_body(answer, lambda piece: "the-secret" in piece)

    assert place == "body, member result.content[0].text, JSON in it, trace[1]"


def test_name_that_is_the_secret_is_not_said() -> None:
    answer = Answer(status=200, body=b'{"the-secret": {"kept": "the-secret"}}')

    assert "the-secret" not in place_in_body(answer, lambda piece: "the-secret" in piece)


def test_what_is_in_no_piece_is_in_the_body() -> None:
    answer = Answer(status=200, body=b'["the-", "secret"]')

    assert place_in_body(answer, lambda piece: "the-" in piece and "secret" in piece) == "body"
