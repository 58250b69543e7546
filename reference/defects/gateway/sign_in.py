"""Gateways with errors in approval, sign-in, codes or the headers of pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from secrets import randbelow, token_hex
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from starlette.types import ASGIApp

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policies import PAGE_HEADERS, Pairs
from gateproof.reference.gateway.policy import authorization as honest
from gateproof.reference.gateway.policy import sign_in
from gateproof.reference.gateway.policy.authorization import ConsentFacts
from gateproof.reference.gateway.records import Person, Project, SignIn, Standing
from gateproof.reference.ids import Ids


def headers(*dropped: str, **changed: str) -> Mapping[str, str]:
    kept = {name: value for name, value in PAGE_HEADERS.items() if name not in dropped}
    return MappingProxyType(kept | {name.replace("_", "-"): value for name, value in changed.items()})


def linking_elsewhere(_asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """Pages have a link to another host."""
    if not answered.header("content-type").startswith("text/html"):
        return answered
    link = b'<a href="https://help.example/agents">Help</a></main>'
    return replace(answered, body=answered.body.replace(b"</main>", link))


def held_once(recorded: Standing | None, project: Project) -> Standing:
    return "pending" if recorded is None and project.agent_policy == "hold" else "approved"


def held_for_good(recorded: Standing | None, project: Project) -> Standing:
    return "pending" if project.agent_policy == "hold" else recorded or "approved"


def approved_if(good: Callable[[ConsentFacts], bool]) -> Callable[[ConsentFacts], Standing | None]:
    """Approves without asking the user if this is true and the agent is not Pending."""

    def consent(facts: ConsentFacts) -> Standing | None:
        return "approved" if facts.standing == "approved" and good(facts) else honest.consent(facts)

    return consent


def denied_with_a_code(uri: str, error: str, description: str, state: str, issuer: str) -> str:
    location = honest.error_redirect(uri, error, description, state, issuer)
    return location + f"&code={token_hex(24)}" if error == "access_denied" else location


def last_person() -> Callable[[Person | None, float], Person | None]:
    """Treats every browser without a user as signed in as the last known user."""
    last: list[Person] = []

    def remembered(person: Person | None, now: float) -> Person | None:
        if person is not None:
            last[:] = [person]
        return sign_in.remembered(last[0] if last else None, now)

    return remembered


def numbered(first: int, step: int, form: str) -> Callable[[Ids], str]:
    """Predictable codes from a counter."""
    counter = count(first)
    return lambda _ids: format((next(counter) * step) % (1 << 128), form)


def without_a_cookie_anywhere(found: SignIn, browser: str | None) -> bool:
    return browser is None or sign_in.same_browser(found, browser)


def for_whoever_is_signed_in() -> dict[str, Any]:
    """The approve form requires a signed-in browser, but not the one that started the sign-in."""
    held: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        held[:] = [gateway]
        return app

    def same(found: SignIn, browser: str | None) -> bool:
        signed_in = bool(browser and held[0].store.browsers.get(browser))
        return (found.person is not None and signed_in) or sign_in.same_browser(found, browser)

    return {"around": around, "same_browser": same}


def yes_in_the_address() -> dict[str, Any]:
    """Reads query and form as one, so a link can approve the agent as the button does."""
    said = False

    def read(pairs: Pairs) -> Pairs:
        nonlocal said
        said = ("decision", "approve") in pairs
        return honest.as_it_came(pairs)

    return {"read_query": read, "consent": approved_if(lambda facts: facts.was_signed_in and said)}


STANDINGS = (
    defect(
        "agents-never-held (AUTHZ-07 ROBUST-04): The gateway ignores an agent policy that holds new agents.",
        agent_standing=lambda recorded, _project: recorded or "approved",
    ),
    defect(
        "agents-held-once (AUTHZ-07 ROBUST-04): An agent is Pending at its first sign-in and approved at "
        "the next one.",
        agent_standing=held_once,
    ),
    defect(
        "approval-of-one-agent-is-for-all (AUTHZ-07 ROBUST-04): The approval of one agent approves all "
        "agents in the Project.",
        standing_key=lambda project_id, _agent_id: (project_id, ""),
    ),
    defect(
        "approval-in-one-project-is-for-all (AUTHZ-30 ROBUST-04): The approval of an agent in one Project "
        "approves it in all Projects.",
        standing_key=lambda _project_id, agent_id: ("", agent_id),
    ),
    defect(
        "approval-without-effect (AUTHZ-08 ROBUST-04): An approved agent stays Pending as long as its "
        "Project holds new agents.",
        agent_standing=held_for_good,
    ),
    defect(
        "rejection-ends-the-sign-in (AUTHZ-10 ROBUST-04): The sign-in fails if the merchant rejects the "
        "gateway.",
        continues_sign_in=lambda verdict: verdict != "rejected",
    ),
    defect(
        "sign-in-needs-a-merchant-token (AUTHZ-10 VAULT-10 ROBUST-04): The sign-in fails if the gateway "
        "gets no merchant token.",
        continues_sign_in=lambda verdict: verdict == "accepted",
    ),
)

CODES = (
    defect(
        "codes-of-six-digits (AUTHZ-12): A code consists of six digits.",
        new_code=lambda _: f"{randbelow(10**6):06}",
    ),
    defect("codes-that-count (AUTHZ-12): Codes are consecutive numbers.", new_code=numbered(1000, 1, "032x")),
    defect(
        "codes-that-count-in-disguise (AUTHZ-12): Codes are consecutive multiples of a large odd number.",
        new_code=numbered(1, 0x9E3779B97F4A7C15F39CC0605CEDC835, "032x"),
    ),
    defect(
        "codes-from-the-clock (AUTHZ-12): A code is the current time and four random digits.",
        new_code=lambda _: f"{time.time_ns():020}{randbelow(10**4):04}",
    ),
    defect("codes-of-122-bits (AUTHZ-12): A code is a random UUID.", new_code=lambda _: str(uuid4())),
    defect("codes-of-64-bits (AUTHZ-12): A code has 64 random bits.", new_code=lambda _: token_hex(8)),
    defect(
        "code-in-a-cookie (AUTHZ-12): The gateway also puts the code in a cookie.",
        code_headers=lambda code: {"set-cookie": f"last_code={code}; Path=/; HttpOnly"},
    ),
)

PAGES = (
    defect(
        "pages-without-protection (AUTHZ-15): Pages have neither Content-Security-Policy nor "
        "X-Frame-Options.",
        page_headers=headers("content-security-policy", "x-frame-options"),
    ),
    defect(
        "pages-framed-by-anybody (AUTHZ-15): Pages have frame-ancestors *, which allows all hosts and "
        "overrides X-Frame-Options.",
        page_headers=headers(content_security_policy="default-src 'none'; frame-ancestors *"),
    ),
    defect(
        "pages-with-an-obsolete-option (AUTHZ-15): Pages have X-Frame-Options: ALLOW-FROM, which browsers "
        "ignore.",
        page_headers=headers("content-security-policy", x_frame_options="ALLOW-FROM https://agent.example"),
    ),
    defect(
        "pages-that-only-report-framing (AUTHZ-15): Pages have frame-ancestors only in a "
        "Content-Security-Policy-Report-Only header.",
        page_headers=headers(
            "content-security-policy",
            "x-frame-options",
            content_security_policy_report_only="frame-ancestors 'none'",
        ),
    ),
    defect(
        "pages-tell-their-address (AUTHZ-15): Pages have the referrer policy unsafe-url.",
        page_headers=headers(referrer_policy="unsafe-url"),
    ),
    defect(
        "pages-without-referrer-policy (AUTHZ-15): Pages link to another host and have no Referrer-Policy.",
        page_headers=headers("referrer-policy"),
        around=altering_answers(linking_elsewhere),
    ),
)

ACTS = (
    defect(
        "no-means-yes (AUTHZ-16 ROBUST-04): The button to decline approves the agent.",
        decided=lambda pressed: "switch" if pressed == "switch" else "approve",
    ),
    defect(
        "no-comes-with-a-code (AUTHZ-16 ROBUST-04): The redirect after the user has declined has a code in "
        "addition to the error.",
        error_redirect=denied_with_a_code,
    ),
    defect(
        "signed-in-is-approved (AUTHZ-17): A user who is already signed in is not asked to approve another "
        "agent.",
        consent=approved_if(lambda facts: facts.was_signed_in),
    ),
    defect(
        "asked-once-is-approved (AUTHZ-17): An agent about which the user was asked before is approved, "
        "even if the user declined.",
        consent=approved_if(lambda facts: facts.login_id in facts.answers),
    ),
    defect(
        "approved-by-anybody (AUTHZ-17): An agent that one user has approved is approved for all users.",
        consent=approved_if(lambda facts: "approve" in facts.answers.values()),
    ),
    defect(
        "last-user-signed-in-everywhere (AUTHZ-17 AUTHZ-16 AUTHZ-19 AUTHZ-20 CLAIM-03 REDEEM-01 REDEEM-12 "
        "VAULT-09): The gateway treats every unknown browser as signed in as the user who signed in last, "
        "and does not ask for approval.",
        remembered=last_person(),
        consent=approved_if(lambda facts: facts.was_signed_in),
    ),
    defect(
        "yes-in-the-address (AUTHZ-17): For a signed-in user, the query parameter decision=approve in an "
        "authorization request approves the agent.",
        **yes_in_the_address(),
    ),
    defect(
        "forms-work-in-any-browser (AUTHZ-19): Forms and callbacks work in any browser, not only in the one "
        "that started the sign-in.",
        same_browser=lambda _found, _browser: True,
    ),
    defect(
        "approve-form-works-in-any-browser (AUTHZ-19): The approve form works in any browser, not only in "
        "the one that started the sign-in.",
        same_browser=lambda found, browser: found.person is not None or sign_in.same_browser(found, browser),
    ),
    defect(
        "approve-form-works-where-anybody-is-signed-in (AUTHZ-19): The approve form works in every browser "
        "that has a signed-in user.",
        **for_whoever_is_signed_in(),
    ),
    defect(
        "callback-works-in-any-browser (AUTHZ-19): The callback from the merchant works in any browser, not "
        "only in the one that started the sign-in.",
        same_browser=lambda found, browser: found.person is None or sign_in.same_browser(found, browser),
    ),
    defect(
        "forms-work-without-a-cookie (AUTHZ-19): Forms and callbacks work in a browser that sends no cookie.",
        same_browser=without_a_cookie_anywhere,
    ),
)

DEFECTS = (*STANDINGS, *CODES, *PAGES, *ACTS)
