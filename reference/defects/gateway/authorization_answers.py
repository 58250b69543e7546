"""Gateways whose redirect back to the agent is wrong, or that hold agents which are approved."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import quote, unquote_plus

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.authorization import code_redirect
from gateproof.reference.gateway.records import AuthorizationRequest, Project, Standing

# Characters that are not escaped in a complete URL.
RESERVED = ";,/?:@&=+$#!*'()"


def sent_back(
    change: Callable[[AuthorizationRequest], AuthorizationRequest],
) -> Callable[[AuthorizationRequest, str, str], str]:
    """The correct redirect for a changed request."""
    return lambda request, code, issuer: code_redirect(change(request), code, issuer)


def with_state(change: Callable[[str], str]) -> Callable[[AuthorizationRequest, str, str], str]:
    return sent_back(lambda request: replace(request, state=change(request.state)))


def state_unescaped(request: AuthorizationRequest, code: str, issuer: str) -> str:
    uri, _, query = code_redirect(replace(request, state=""), code, issuer).partition("?")
    return f"{uri}?state={quote(request.state, safe=RESERVED)}&{query.replace('&state=', '', 1)}"


def approved_at_the_second_request(recorded: Standing | None, _project: Project) -> Standing:
    """The approval of a new agent takes effect only at its second request."""
    return "pending" if recorded is None else "approved"


DEFECTS = (
    defect(
        "code-in-the-fragment (AUTHZ-01 AUTHZ-02 AUTHZ-09): The redirect has the code in the fragment "
        "instead of the query.",
        code_redirect=lambda request, code, issuer: code_redirect(request, code, issuer).replace("?", "#", 1),
    ),
    defect(
        "redirect-without-the-uris-own-query (AUTHZ-01): The redirect drops the query of the registered "
        "redirect URI.",
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
        "state-unquoted-twice (AUTHZ-02): The gateway percent-decodes state twice.",
        code_redirect=with_state(unquote_plus),
    ),
    defect(
        "state-unescaped (AUTHZ-02): The redirect has state before the code, with reserved characters such "
        "as & and # not escaped.",
        code_redirect=state_unescaped,
    ),
    defect(
        "state-cut-off (AUTHZ-02): The gateway truncates state to 255 characters.",
        code_redirect=with_state(lambda s: s[:255]),
    ),
    defect(
        "state-html-escaped (AUTHZ-02): The gateway HTML-escapes state in the redirect.",
        code_redirect=with_state(html.escape),
    ),
    defect(
        "state-stripped-of-zeros (AUTHZ-02): The gateway converts a state of digits to a number, which loses "
        "leading zeros.",
        code_redirect=with_state(lambda state: str(int(state)) if state.isdecimal() else state),
    ),
    defect(
        "new-agents-held-by-default (AUTHZ-09 AUTHZ-01 AUTHZ-02): Every Project holds new agents.",
        agent_standing=lambda recorded, _project: recorded or "pending",
    ),
    defect(
        "approved-from-the-second-time-on (AUTHZ-09 AUTHZ-01 AUTHZ-02 AUTHZ-07): An agent is Pending at its "
        "first authorization and approved from the second on, in every Project.",
        agent_standing=approved_at_the_second_request,
    ),
)
