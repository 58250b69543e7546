"""The exchanges of a check: a diagram, requests and answers, and the decisive request as a command."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateproof.reports.exchanges import Shown, answer_text, curl, request_text
from gateproof.reports.html_page.diagram import diagram
from gateproof.reports.html_page.markup import block, counted, cut, foreign, text
from gateproof.reports.html_page.parties import parties, path
from gateproof.reports.summary_texts import has_own_ca
from gateproof.reports.verdicts import CheckResult, RunResult, Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Detail:
    """The limits for each check on a page."""

    exchanges: int
    body: int
    text: int


def exchanges_of(check: CheckResult, result: RunResult, detail: Detail, *, name: str) -> str:
    """The exchanges of a check; the decisive one is unfolded."""
    if not check.exchanges:
        return ""
    violation = check.verdict is Verdict.FAILED
    guilty = check.decisive
    shown_at_least = len(check.exchanges) - 1 if guilty is None else guilty
    left_out = max(0, min(len(check.exchanges) - detail.exchanges, shown_at_least)) if detail.exchanges else 0
    window = check.exchanges[left_out : left_out + detail.exchanges]
    kept = [_fitted(shown, detail) for shown in window]
    parts = []
    if len(kept) < len(check.exchanges):
        what = counted(len(check.exchanges) - len(kept), "other exchange" if kept else "exchange")
        parts.append(f"<p class=note>{what} left out here; <code>report.json</code> has every one.</p>")
    if not kept:
        return "".join(parts)
    marked = guilty - left_out if violation and guilty is not None else None
    drawn = diagram(kept, result, name=name, first=left_out + 1, guilty=marked)
    parts.append(
        f'<figure class=drawing tabindex=0 role=group aria-label="Sequence of the exchanges">{drawn}</figure>'
    )
    for number, shown in enumerate(kept, left_out + 1):
        meant = guilty is not None and number == guilty + 1
        parts.append(_exchange(shown, result, number, open_=meant, violation=violation and meant))
    if check.scenario:
        parts.append(f"<p class=label>What was done</p><p>{foreign(cut(check.scenario, detail.text))}</p>")
    elif guilty is not None:
        parts.append(_by_hand(check.exchanges[guilty], kept[guilty - left_out], own_ca=has_own_ca(result)))
    return "".join(parts)


def _by_hand(whole: Shown, fitted: Shown, *, own_ca: bool) -> str:
    """The request as a command, unless it had to be shortened."""
    command = curl(whole, own_ca=own_ca)
    if command != curl(fitted, own_ca=own_ca):
        return "<p class=note>The request is too long for this page; <code>report.json</code> has it.</p>"
    return f"<p class=label>The request by hand</p>{block(command, 'command')}"


def _exchange(shown: Shown, result: RunResult, number: int, *, open_: bool, violation: bool) -> str:
    sender, receiver = parties(shown, result)
    outcome = str(shown.status) if shown.status is not None else "no answer"
    mark = ' <b class="v bad">✗ breaks the rule</b>' if violation else ""
    retries = f", after {counted(shown.retries, 'answer')} that asked to wait" if shown.retries else ""
    if shown.resent:
        retries += ", on a new connection: the kept one had ended"
    return (
        f"<details class=exchange{' open' if open_ else ''}><summary><b>{number}. {text(shown.step)}</b> "
        f"<code>{foreign(f'{shown.method} {cut(path(shown.url), 100)}')}</code> → {outcome}{mark}</summary>"
        f"<div class=wire><div><p class=label>{text(sender)} to {foreign(receiver)}</p>"
        f"{block(request_text(shown))}</div>"
        f"<div><p class=label>Answer{retries}</p>{block(answer_text(shown))}</div></div></details>"
    )


def _fitted(shown: Shown, detail: Detail) -> Shown:
    """The exchange with long texts shortened."""
    return replace(
        shown,
        url=cut(shown.url, detail.body),
        request_headers=_headers(shown.request_headers, detail),
        answer_headers=_headers(shown.answer_headers, detail),
        request_body=cut(shown.request_body, detail.body),
        answer_body=cut(shown.answer_body, detail.body),
        failure=cut(shown.failure, detail.text),
    )


def _headers(headers: tuple[tuple[str, str], ...], detail: Detail) -> tuple[tuple[str, str], ...]:
    most = max(detail.body // 20, 8)
    kept = tuple((cut(name, 80), cut(value, detail.body)) for name, value in headers[:most])
    return kept if len(headers) <= most else (*kept, ("…", f"{len(headers) - most} more"))
