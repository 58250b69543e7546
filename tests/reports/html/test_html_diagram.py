"""A diagram says who sent what to whom, and which answer broke the rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from selectolax.lexbor import LexborHTMLParser

from gateproof.reports.exchanges import Shown
from gateproof.reports.html_page.diagram import diagram
from gateproof.reports.html_page.parties import parties
from gateproof.reports.verdicts import RunResult

Runs = dict[str, Callable[..., RunResult]]
GATEWAY = "https://127.0.0.1:8443/somewhere"
MERCHANT = "https://127.0.0.1:9443/somewhere"


@pytest.fixture
def result(runs: Runs) -> RunResult:
    return runs["every-verdict"]()


def exchange(step: str, url: str = GATEWAY, status: int | None = 200) -> Shown:
    return Shown(step=step, method="GET", url=url, status=status)


@pytest.mark.parametrize(
    ("step", "url", "expected"),
    [
        ("discovery", GATEWAY, ("Agent", "Gateway")),
        ("code exchange", "https://127.0.0.1:8444/oauth2/token", ("Agent", "Gateway")),
        ("browser", GATEWAY, ("Browser", "Gateway")),
        ("browser", MERCHANT, ("Browser", "Merchant")),
        ("redemption", GATEWAY, ("Backend", "Gateway")),
        ("merchant API", MERCHANT, ("Backend", "Merchant")),
        ("operator's service", GATEWAY, ("Service", "Gateway")),
        ("operator's service", MERCHANT, ("Service", "Merchant")),
        ("operation without a token", "https://127.0.0.1:7443/orders", ("Agent", "Service")),
        ("a step of its own", "https://user:pass@Other.example:1/x", ("Harness", "other.example:1")),
        ("a step of its own", "https://[", ("Harness", "Unknown")),
    ],
)
def test_parties_follow_from_step_and_address(
    result: RunResult, step: str, url: str, expected: tuple[str, str]
) -> None:
    assert parties(exchange(step, url), result) == expected


def test_backend_of_a_service_under_test_is_the_service(result: RunResult) -> None:
    assert parties(exchange("redemption"), replace(result, role="service")) == ("Service", "Gateway")


def drawn(result: RunResult, *exchanges: Shown, guilty: int | None) -> LexborHTMLParser:
    return LexborHTMLParser(diagram(exchanges, result, name="d", first=3, guilty=guilty))


def test_only_the_answer_that_broke_the_rule_is_marked(result: RunResult) -> None:
    exchanges = exchange("browser"), exchange("redemption", status=401), exchange("redemption")
    page = drawn(result, *exchanges, guilty=1)

    assert len(page.css("path.back")) == 3
    assert len(page.css("path.back.bad")) == 1
    assert [each.text() for each in page.css("text.got.bad")] == ["401"]
    assert [each.text() for each in page.css("text.word")] == ["✗ breaks the rule"]
    assert page.css("path.back")[1].attributes["class"] == "back bad"


def test_nothing_is_marked_where_no_rule_was_broken(result: RunResult) -> None:
    assert drawn(result, exchange("redemption"), guilty=None).css(".bad, .word") == []


def test_parties_stand_in_one_order_and_the_one_under_test_is_named(result: RunResult) -> None:
    page = drawn(
        result, exchange("redemption"), exchange("merchant API", MERCHANT), exchange("discovery"), guilty=2
    )

    assert [each.text() for each in page.css("text.who")] == [
        "Agent",
        "Backend",
        "Gateway under test",
        "Merchant",
    ]


def test_diagram_can_be_heard(result: RunResult) -> None:
    page = drawn(result, exchange("discovery"), exchange("redemption", status=None), guilty=1)

    description = page.css_first("desc").text()
    assert description == (
        "3. Agent to Gateway, discovery: GET /somewhere; the answer is 200. "
        "4. Backend to Gateway, redemption: GET /somewhere; the answer is no answer. "
        "Answer 4 breaks the rule."
    )
    assert page.css_first("svg").attributes["aria-labelledby"] == "d-t d-d"


def test_long_addresses_keep_their_beginning_and_their_end(result: RunResult) -> None:
    page = drawn(result, exchange("redemption", f"https://127.0.0.1:8443/begin{'x' * 400}end"), guilty=0)

    asked = page.css_first("text.asked").text()
    assert len(asked) < 60
    assert asked.startswith("GET /begin")
    assert asked.endswith("end")
