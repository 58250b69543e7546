"""Gateways that send the browser back wrongly, or turn away whom they should not."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import quote, unquote_plus

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.authorization import code_redirect
from gateproof.reference.gateway.records import AuthorizationRequest, Project, Standing

# What a program escapes that takes the state for a whole address.
RESERVED = ";,/?:@&=+$#!*'()"


def sent_back(
    change: Callable[[AuthorizationRequest], AuthorizationRequest],
) -> Callable[[AuthorizationRequest, str, str], str]:
    """The honest redirect for a request that was changed on the way."""
    return lambda request, code, issuer: code_redirect(change(request), code, issuer)


def with_state(change: Callable[[str], str]) -> Callable[[AuthorizationRequest, str, str], str]:
    return sent_back(lambda request: replace(request, state=change(request.state)))


def state_unescaped(request: AuthorizationRequest, code: str, issuer: str) -> str:
    uri, _, query = code_redirect(replace(request, state=""), code, issuer).partition("?")
    return f"{uri}?state={quote(request.state, safe=RESERVED)}&{query.replace('&state=', '', 1)}"


def second_time_lucky(recorded: Standing | None, _project: Project) -> Standing:
    """An agent that is met for the first time is approved too late for that time."""
    return "pending" if recorded is None else "approved"


DEFECTS = (
    defect(
        "code-in-the-fragment (AUTHZ-01 AUTHZ-02 AUTHZ-09): The code is put behind a # instead of a ?.",
        code_redirect=lambda request, code, issuer: code_redirect(request, code, issuer).replace("?", "#", 1),
    ),
    defect(
        "redirect-without-the-uris-own-query (AUTHZ-01): The redirect drops the query that the registered "
        "URI has of its own.",
        code_redirect=sent_back(
            lambda request: replace(request, redirect_uri=request.redirect_uri.partition("?")[0])
        ),
    ),
    defect(
        "redirect-to-the-agents-front-page (AUTHZ-01 AUTHZ-02 AUTHZ-09): The browser is sent to the origin "
        "of the redirect URI, without its path.",
        code_redirect=sent_back(
            lambda request: replace(request, redirect_uri="/".join(request.redirect_uri.split("/")[:3]) + "/")
        ),
    ),
    defect(
        "state-unquoted-twice (AUTHZ-02): state is percent-decoded once too often.",
        code_redirect=with_state(unquote_plus),
    ),
    defect(
        "state-unescaped (AUTHZ-02): state is put in front of the code as it came, reserved characters and "
        "all.",
        code_redirect=state_unescaped,
    ),
    defect(
        "state-cut-off (AUTHZ-02): state is cut off at 255 characters.",
        code_redirect=with_state(lambda s: s[:255]),
    ),
    defect(
        "state-html-escaped (AUTHZ-02): state is escaped as if for HTML.",
        code_redirect=with_state(html.escape),
    ),
    defect(
        "state-stripped-of-zeros (AUTHZ-02): A state of digits is taken for a number.",
        code_redirect=with_state(lambda state: str(int(state)) if state.isdecimal() else state),
    ),
    defect(
        "new-agents-held-by-default (AUTHZ-09 AUTHZ-01 AUTHZ-02): Every Project holds new agents.",
        agent_standing=lambda recorded, _project: recorded or "pending",
    ),
    defect(
        "approved-from-the-second-time-on (AUTHZ-09 AUTHZ-01 AUTHZ-02 AUTHZ-07): An agent is approved after "
        "its first authorization, not before.",
        agent_standing=second_time_lucky,
    ),
)
