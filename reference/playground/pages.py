"""The two pages of the playground: the start page and the walk."""

from __future__ import annotations

import json
from collections.abc import Mapping

from gateproof.reference.playground.diagram import diagram
from gateproof.reference.playground.faults import FAULTS, Fault
from gateproof.reference.playground.redaction import Hidden, Shown
from gateproof.reference.playground.settings import USUAL, Settings
from gateproof.reference.playground.steps import SERVICES_STEP, STEPS, USERS_STEP, Step
from gateproof.reference.playground.walk import Decoded, Exhibit, Walk
from gateproof.reference.site.layout import (
    Frame,
    button,
    code,
    complaint,
    document,
    field,
    form,
    section,
    values,
)
from gateproof.reference.site.markup import Child, Html, tag

FRAME = Frame(site="Playground", home="/")
OWN = "own"
FIELDS = ("resource_id", "indicator", "scopes", "proxy_client_id", "proxy_client_secret")


def start_page(settings: Settings, token: str, wrong: str | None, given: Mapping[str, str]) -> Html:
    """The form for the Resource and the fault. A typed secret is not repeated."""
    return document(
        FRAME,
        "Walk through the sequence",
        tag(
            "p",
            "This page plays the agent and the protected service in front of a real gateway, one step at a "
            "time, and shows every request and every answer as it happened. You play the user. What a "
            "browser may not see stays on the server, and the page says what it is.",
        ),
        complaint(wrong),
        form(
            "/walks",
            token,
            section("What goes wrong", _faults(settings, given.get("fault", ""))),
            section("Which Resource", _stages(settings, given)),
            button("Begin"),
        ),
    )


def walk_page(walk: Walk, token: str) -> Html:
    """The diagram and the steps."""
    fault = walk.fault
    wrong = (
        tag("p", tag("strong", fault.title), f". To be expected: {fault.expect}", class_="card")
        if fault is not None
        else None
    )
    redeemed = walk.done >= SERVICES_STEP or (walk.halted is not None and walk.done == SERVICES_STEP - 1)
    again = form("/walk/redeem-again", token, button("Redeem again", class_="plain")) if redeemed else None
    return document(
        FRAME,
        "The walk",
        wrong,
        diagram(walk.exhibits),
        tag("ol", [_step(walk, number, step, token) for number, step in enumerate(STEPS, 1)], class_="steps"),
        tag(
            "div",
            again,
            form("/walk/leave", token, button("Begin another walk", class_="plain")),
            class_="row",
        ),
    )


def message_page(title: str, text: str) -> Html:
    return document(FRAME, title, tag("p", text), tag("p", tag("a", "To the beginning", href="/")))


def _faults(settings: Settings, chosen: str) -> list[Child]:
    offered = [fault for fault in FAULTS if fault.stage in settings.stages]
    groups = [
        tag(
            "optgroup",
            [_option(fault, chosen) for fault in offered if fault.step == step],
            label=f"Step {step}",
        )
        for step in sorted({fault.step for fault in offered})
    ]
    nothing = tag("option", "Nothing: every step works", value="")
    return [
        tag("label", "One thing at most", for_="fault"),
        tag("select", nothing, groups, name="fault", id="fault"),
    ]


def _option(fault: Fault, chosen: str) -> Html:
    return tag("option", fault.title, value=fault.name, selected=fault.name == chosen)


def _stages(settings: Settings, given: Mapping[str, str]) -> list[Child]:
    own = given.get("stage") == OWN
    usual = settings.stages[USUAL]
    return [
        tag(
            "fieldset",
            tag("legend", "Resource"),
            _stage(USUAL, "The one that is ready-made", usual.indicator, checked=not own),
            _stage(OWN, "One that you made in the Console", "Fill in the fields below.", checked=own),
        ),
        field("Resource ID", "resource_id", value=given.get("resource_id"), autocomplete="off"),
        field("Resource indicator", "indicator", value=given.get("indicator"), autocomplete="off"),
        field("Scopes", "scopes", value=given.get("scopes"), hint="With spaces between.", autocomplete="off"),
        field("Proxy client ID", "proxy_client_id", autocomplete="off"),
        field(
            "Proxy client secret",
            "proxy_client_secret",
            type="password",
            hint="It goes to the playground's service, and does not come back.",
            autocomplete="off",
        ),
    ]


def _stage(value: str, label: str, hint: str, *, checked: bool) -> Html:
    place = f"stage-{value}"
    return tag(
        "div",
        tag(
            "input",
            type="radio",
            name="stage",
            id=place,
            value=value,
            checked=checked,
            aria_describedby=f"{place}-hint",
        ),
        tag("label", label, for_=place),
        tag("span", hint, id=f"{place}-hint", class_="hint"),
        class_="choice",
    )


def _step(walk: Walk, number: int, step: Step, token: str) -> Html:
    """A step that is done, is next, or comes later."""
    stopped = walk.halted is not None and number == walk.done + 1
    if number > walk.done and not stopped and number != walk.next_step:
        return tag("li", _heading(number, step, None), class_="later", id=f"step-{number}")
    happened = [
        *[tag("p", remark) for at, remark in walk.remarks if at == number],
        *[_exhibit(each, shut=number < walk.done) for each in walk.exhibits if each.step == number],
        *[_decoded(each, shut=number < walk.done) for each in walk.decoded if each.step == number],
    ]
    if stopped:
        again = form("/walk/again", token, button("Ask the user again", class_="plain"))
        more = [complaint(walk.halted), again if number == USERS_STEP else None]
        mark = tag("span", "stopped", class_="mark bad")
        return tag("li", _heading(number, step, mark), happened, more, class_="refused", id=f"step-{number}")
    if number <= walk.done:
        mark = tag("span", "done", class_="mark good")
        return tag("li", _heading(number, step, mark), happened, class_="done", id=f"step-{number}")
    todo = _users_turn(walk, token) if number == USERS_STEP else _turn(number, token)
    return tag(
        "li", _heading(number, step, None), tag("p", step.what), todo, class_="next", id=f"step-{number}"
    )


def _heading(number: int, step: Step, mark: Html | None) -> Html:
    return tag("h2", f"{number}. {step.title}", mark)


def _turn(number: int, token: str) -> Html:
    chosen = tag("input", type="hidden", name="step", value=number)
    return form("/walk/next", token, chosen, button(f"Make step {number}"))


def _users_turn(walk: Walk, token: str) -> list[Child]:
    """A link, because the content security policy allows forms only to this site."""
    return [
        tag("pre", tag("code", _sentences(walk.redactor.redacted(walk.authorization_url)))),
        tag(
            "p",
            "If the gateway keeps you on a page of its own, come back here: an agent that is Pending has to "
            "be approved in the Console, and then the user is asked again.",
            class_="hint",
        ),
        tag(
            "div",
            tag("a", "Sign in at the gateway", href=walk.authorization_url, class_="button"),
            form("/walk/again", token, button("Make a fresh authorization request", class_="plain")),
            class_="row",
        ),
    ]


def _exhibit(exhibit: Exhibit, *, shut: bool) -> Html:
    """A request and its answer as text, and a list of what was redacted."""
    kept = dict.fromkeys(each for each in (*exhibit.request, *exhibit.answer) if isinstance(each, Hidden))
    status = f", {exhibit.status}" if exhibit.status is not None else ", still open"
    return tag(
        "details",
        tag("summary", f"{exhibit.title}: {exhibit.sender} to {exhibit.receiver}{status}"),
        _message("Request", exhibit.request),
        _message("Answer", exhibit.answer),
        tag("p", "Not shown in the browser:", class_="soft") if kept else None,
        values([(each.what, each.why) for each in kept]) if kept else None,
        class_="exchange",
        open=not shut,
    )


def _message(name: str, text: Shown) -> list[Child]:
    return [tag("h3", name), tag("pre", tag("code", _sentences(text)))] if text else []


def _sentences(text: Shown) -> list[Child]:
    return [
        tag("span", f"[{each.what}]", class_="withheld") if isinstance(each, Hidden) else each
        for each in text
    ]


def _decoded(decoded: Decoded, *, shut: bool) -> Html:
    return tag(
        "details",
        tag("summary", f"{decoded.what}, decoded"),
        tag("h3", "Header"),
        tag("pre", code(json.dumps(decoded.header, indent=2))),
        tag("h3", "Claims"),
        tag("pre", code(json.dumps(decoded.claims, indent=2))),
        class_="exchange",
        open=not shut,
    )
