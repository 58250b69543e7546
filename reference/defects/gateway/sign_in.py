"""Gateways that ask the wrong browser, the wrong user, or nobody at all."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import count
from secrets import randbelow, token_hex
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from starlette.types import ASGIApp

from gateproof.reference.defects.gateway.row import defect
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


def held_once(recorded: Standing | None, project: Project) -> Standing:
    return "pending" if recorded is None and project.agent_policy == "hold" else "approved"


def held_for_good(recorded: Standing | None, project: Project) -> Standing:
    return "pending" if project.agent_policy == "hold" else recorded or "approved"


def approved_if(good: Callable[[ConsentFacts], bool]) -> Callable[[ConsentFacts], Standing | None]:
    """Nobody is asked where this holds."""

    def consent(facts: ConsentFacts) -> Standing | None:
        return "approved" if facts.standing == "approved" and good(facts) else honest.consent(facts)

    return consent


def denied_with_a_code(uri: str, error: str, description: str, state: str, issuer: str) -> str:
    location = honest.error_redirect(uri, error, description, state, issuer)
    return location + f"&code={token_hex(24)}" if error == "access_denied" else location


def last_person() -> Callable[[Person | None, float], Person | None]:
    """Whoever signed in last is signed in everywhere."""
    last: list[Person] = []

    def remembered(person: Person | None, now: float) -> Person | None:
        if person is not None:
            last[:] = [person]
        return sign_in.remembered(last[0] if last else None, now)

    return remembered


def numbered(first: int, step: int, form: str) -> Callable[[Ids], str]:
    """Codes that count, however they are written."""
    counter = count(first)
    return lambda _ids: format((next(counter) * step) % (1 << 128), form)


def without_a_cookie_anywhere(found: SignIn, browser: str | None) -> bool:
    return browser is None or sign_in.same_browser(found, browser)


def for_whoever_is_signed_in() -> dict[str, Any]:
    """The approve form asks for a session, as every page does, and not for that of its own user."""
    held: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        held[:] = [gateway]
        return app

    def same(found: SignIn, browser: str | None) -> bool:
        signed_in = bool(browser and held[0].store.browsers.get(browser))
        return (found.person is not None and signed_in) or sign_in.same_browser(found, browser)

    return {"around": around, "same_browser": same}


def yes_in_the_address() -> dict[str, Any]:
    """Query and form are read as one, and so a link says what the button says."""
    said = False

    def read(pairs: Pairs) -> Pairs:
        nonlocal said
        said = ("decision", "approve") in pairs
        return honest.as_it_came(pairs)

    return {"read_query": read, "consent": approved_if(lambda facts: facts.was_signed_in and said)}


STANDINGS = (
    defect(
        "agents-never-held (AUTHZ-07 ROBUST-04): A Project's policy to hold agents is ignored.",
        agent_standing=lambda recorded, _project: recorded or "approved",
    ),
    defect(
        "agents-held-once (AUTHZ-07 ROBUST-04): A held agent is let in when it comes again.",
        agent_standing=held_once,
    ),
    defect(
        "approval-of-one-agent-is-for-all (AUTHZ-07 ROBUST-04): An approved agent opens the Project to "
        "every agent.",
        standing_key=lambda project_id, _agent_id: (project_id, ""),
    ),
    defect(
        "approval-in-one-project-is-for-all (AUTHZ-30 ROBUST-04): An agent that was approved in one Project "
        "is approved in every Project.",
        standing_key=lambda _project_id, agent_id: ("", agent_id),
    ),
    defect(
        "approval-without-effect (AUTHZ-08 ROBUST-04): An agent that was approved stays Pending as long as "
        "its Project holds agents.",
        agent_standing=held_for_good,
    ),
    defect(
        "rejection-ends-the-sign-in (AUTHZ-10 ROBUST-04): When the merchant rejects the gateway, the user "
        "cannot sign in.",
        sign_in_goes_on=lambda verdict: verdict != "rejected",
    ),
    defect(
        "sign-in-needs-a-merchant-token (AUTHZ-10 VAULT-10 ROBUST-04): The user can sign in only when the "
        "merchant gave a token.",
        sign_in_goes_on=lambda verdict: verdict == "accepted",
    ),
)

CODES = (
    defect(
        "codes-of-six-digits (AUTHZ-12): A code has six digits.",
        new_code=lambda _: f"{randbelow(10**6):06}",
    ),
    defect(
        "codes-that-count (AUTHZ-12): Codes count up behind a prefix.", new_code=numbered(1000, 1, "032x")
    ),
    defect(
        "codes-that-count-in-disguise (AUTHZ-12): Codes are multiples of a large odd number.",
        new_code=numbered(1, 0x9E3779B97F4A7C15F39CC0605CEDC835, "032x"),
    ),
    defect(
        "codes-from-the-clock (AUTHZ-12): A code is the time, and a few random digits.",
        new_code=lambda _: f"{time.time_ns():020}{randbelow(10**4):04}",
    ),
    defect("codes-of-122-bits (AUTHZ-12): A code is a random UUID.", new_code=lambda _: str(uuid4())),
    defect("codes-of-64-bits (AUTHZ-12): A code has 64 random bits.", new_code=lambda _: token_hex(8)),
    defect(
        "code-in-a-cookie (AUTHZ-12): The code is left in a cookie, too.",
        code_headers=lambda code: {"set-cookie": f"last_code={code}; Path=/; HttpOnly"},
    ),
)

PAGES = (
    defect(
        "pages-without-protection (AUTHZ-15): Pages carry no header about framing.",
        page_headers=headers("content-security-policy", "x-frame-options"),
    ),
    defect(
        "pages-framed-by-anybody (AUTHZ-15): frame-ancestors lets everybody in, and X-Frame-Options is not "
        "asked then.",
        page_headers=headers(content_security_policy="default-src 'none'; frame-ancestors *"),
    ),
    defect(
        "pages-with-an-obsolete-option (AUTHZ-15): X-Frame-Options says ALLOW-FROM, which browsers ignore.",
        page_headers=headers("content-security-policy", x_frame_options="ALLOW-FROM https://agent.example"),
    ),
    defect(
        "pages-that-only-report-framing (AUTHZ-15): The policy about framing is one that is only reported.",
        page_headers=headers(
            "content-security-policy",
            "x-frame-options",
            content_security_policy_report_only="frame-ancestors 'none'",
        ),
    ),
    defect(
        "pages-tell-their-address (AUTHZ-15): The referrer policy is unsafe-url.",
        page_headers=headers(referrer_policy="unsafe-url"),
    ),
    defect(
        "pages-without-referrer-policy (AUTHZ-15): Pages say nothing about the Referer.",
        page_headers=headers("referrer-policy"),
    ),
)

ACTS = (
    defect(
        "no-means-yes (AUTHZ-16 ROBUST-04): Whatever button is pressed, the agent is approved.",
        decided=lambda pressed: "switch" if pressed == "switch" else "approve",
    ),
    defect(
        "no-comes-with-a-code (AUTHZ-16 ROBUST-04): The redirect after a refusal has a code beside its "
        "error.",
        error_redirect=denied_with_a_code,
    ),
    defect(
        "signed-in-is-approved (AUTHZ-17): Whoever is signed in is not asked about another agent.",
        consent=approved_if(lambda facts: facts.was_signed_in),
    ),
    defect(
        "asked-once-is-approved (AUTHZ-17): An agent that the user was asked about once is approved, "
        "whatever the user said.",
        consent=approved_if(lambda facts: facts.login_id in facts.answers),
    ),
    defect(
        "approved-by-anybody (AUTHZ-17): An agent that any user approved is approved for all of them.",
        consent=approved_if(lambda facts: "approve" in facts.answers.values()),
    ),
    defect(
        "last-user-signed-in-everywhere (AUTHZ-17 AUTHZ-16 AUTHZ-19 AUTHZ-20 CLAIM-03 REDEEM-01 REDEEM-12 "
        "VAULT-09): A browser that nobody knows is that of the user who signed in last, and nobody is asked.",
        remembered=last_person(),
        consent=approved_if(lambda facts: facts.was_signed_in),
    ),
    defect(
        "yes-in-the-address (AUTHZ-17): What the approve button says counts as well when it stands in the "
        "address of the request.",
        **yes_in_the_address(),
    ),
    defect(
        "forms-work-in-any-browser (AUTHZ-19): No form and no callback asks which browser it comes from.",
        same_browser=lambda _found, _browser: True,
    ),
    defect(
        "approve-form-works-in-any-browser (AUTHZ-19): The approve form does not ask which browser it comes "
        "from.",
        same_browser=lambda found, browser: found.person is not None or sign_in.same_browser(found, browser),
    ),
    defect(
        "approve-form-works-where-anybody-is-signed-in (AUTHZ-19): The approve form works in every browser "
        "in which somebody is signed in.",
        **for_whoever_is_signed_in(),
    ),
    defect(
        "callback-works-in-any-browser (AUTHZ-19): The way back from the merchant does not ask which "
        "browser takes it.",
        same_browser=lambda found, browser: found.person is None or sign_in.same_browser(found, browser),
    ),
    defect(
        "forms-work-without-a-cookie (AUTHZ-19): A browser is asked to be the right one only if it sends a "
        "cookie.",
        same_browser=without_a_cookie_anywhere,
    ),
)

DEFECTS = (*STANDINGS, *CODES, *PAGES, *ACTS)
