"""exchanges.har: the redacted exchanges, for the network tab of a browser (HAR 1.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, unquote_plus

from gateproof.reports.escaping import json_bytes, one_line, visible
from gateproof.reports.exchanges import Headers, Shown
from gateproof.reports.summary_texts import caveats, started, target_name, verdict_words
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult

_MARK = re.compile(r"⟨[^⟨⟩]*⟩")
_NOT_KNOWN = -1


def render(result: RunResult) -> dict[str, bytes]:
    """The file and its content."""
    carried = [
        (shown, rule, check) for rule in result.rules for check in rule.checks for shown in check.exchanges
    ]
    # `at_s` is monotonic time: only differences are meaningful.
    zero = min((shown.at_s for shown, _, _ in carried), default=0.0)
    begun = started(result)
    entries = sorted(carried, key=lambda each: each[0].at_s)
    said = [f"{target_name(result)}: {verdict_words(result)}.", *caveats(result), "Secrets are redacted."]
    log = {
        "version": "1.2",
        "creator": {"name": "gateproof", "version": str(result.run.get("harness_version", ""))},
        "comment": one_line(" ".join(said)),
        "pages": [_page(rule, check, begun, zero) for rule, check in _checks(result)],
        "entries": [_entry(*each, begun, zero) for each in entries],
    }
    return {"exchanges.har": json_bytes({"log": log}, indent=None)}


def _checks(result: RunResult) -> list[tuple[RuleResult, CheckResult]]:
    return [(rule, check) for rule in result.rules for check in rule.checks if check.exchanges]


def _page(rule: RuleResult, check: CheckResult, begun: datetime, zero: float) -> dict[str, Any]:
    """Each check is a page, by which viewers group the entries."""
    first = min(shown.at_s for shown in check.exchanges)
    return {
        "startedDateTime": _moment(begun, first - zero),
        "id": visible(check.id),
        "title": one_line(f"{check.verdict.value}: {check.id} ({rule.title})"),
        "pageTimings": {},
    }


def _entry(
    shown: Shown, rule: RuleResult, check: CheckResult, begun: datetime, zero: float
) -> dict[str, Any]:
    took_ms = round(max(0.0, shown.elapsed_s) * 1000, 3)
    entry: dict[str, Any] = {
        "pageref": visible(check.id),
        "startedDateTime": _moment(begun, shown.at_s - zero),
        "time": took_ms,
        "request": _request(shown),
        "response": _response(shown),
        "cache": {},
        "timings": {"send": 0, "wait": took_ms, "receive": 0},
        "_check": check.id,
        "_rule": rule.id,
        "_verdict": check.verdict.value,
        "_step": shown.step,
        "_retries": shown.retries,
        "_resent": shown.resent,
    }
    return entry | ({"_error": shown.failure or "no answer"} if shown.status is None else {})


def _request(shown: Shown) -> dict[str, Any]:
    url = _address(shown.url)
    request: dict[str, Any] = {
        "method": shown.method,
        "url": url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _headers(shown.request_headers),
        "queryString": _query(url),
        "headersSize": _NOT_KNOWN,
        "bodySize": _NOT_KNOWN if shown.request_body else 0,
    }
    if shown.request_body:
        mime = _header(shown.request_headers, "content-type")
        request["postData"] = {"mimeType": mime, "text": shown.request_body}
    return request


def _response(shown: Shown) -> dict[str, Any]:
    """The answer; as in browsers, status 0 means that there was none."""
    return {
        "status": shown.status or 0,
        "statusText": "",
        "httpVersion": "HTTP/1.1" if shown.status is not None else "",
        "cookies": [],
        "headers": _headers(shown.answer_headers),
        "content": {
            "size": len(shown.answer_body.encode("utf-8", "backslashreplace")),
            "mimeType": _header(shown.answer_headers, "content-type") or "x-unknown",
            "text": shown.answer_body,
        },
        "redirectURL": _header(shown.answer_headers, "location"),
        "headersSize": _NOT_KNOWN,
        "bodySize": _NOT_KNOWN,
    }


def _headers(headers: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers]


def _header(headers: Headers, wanted: str) -> str:
    return next((value for name, value in headers if name.lower() == wanted), "")


def _address(shown: str) -> str:
    """The address as a URL; labels of secrets are percent-encoded, because a # would start a fragment."""
    marked = _MARK.sub(lambda found: quote(found[0], safe="", errors="backslashreplace"), shown)
    return quote(marked, safe=":/?#[]@!$&'()*+,;=%-._~", errors="backslashreplace")


def _query(url: str) -> list[dict[str, str]]:
    query = url.partition("#")[0].partition("?")[2]
    pairs = [part.partition("=") for part in query.split("&") if part]
    return [{"name": unquote_plus(name), "value": unquote_plus(value)} for name, _, value in pairs]


def _moment(begun: datetime, seconds: float) -> str:
    return (begun + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")
