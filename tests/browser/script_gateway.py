"""`python script_gateway.py …` serves the reference, whose page is empty until scripts have filled it.

The question and its buttons are made by script, a moment after the page has loaded. The user's answer goes
out by script too, and comes back as JSON that says where to go. Without scripts there is nothing to press.
"""

from __future__ import annotations

import json
import os
import ssl
import sys
from dataclasses import replace
from types import MappingProxyType

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.server import ServerState

from gateproof.reference.gateway.command import main as serve_gateway
from gateproof.reference.gateway.pages import ApprovePageFacts
from gateproof.reference.gateway.policies import PAGE_HEADERS, Policies
from gateproof.reference.serving import Listener, Origin, listen

# Nothing wrong by default; "nothing" to press, or a page that anybody may have "framed".
SHOWS = os.environ.get("SCRIPT_GATEWAY_SHOWS", "")
CSP = (
    "default-src 'none'; script-src 'unsafe-inline'; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
SHELL = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>One moment</title></head>
<body><main id="app"></main>
<script type="application/json" id="facts">%s</script>
<script>
const facts = JSON.parse(document.getElementById('facts').textContent);
const app = document.getElementById('app');
const answer = async (decision) => {
  app.replaceChildren('One moment, please');
  const response = await fetch(facts.action, {
    method: 'POST', credentials: 'same-origin', headers: {Accept: 'application/json'},
    body: new URLSearchParams({ticket: facts.ticket, decision}),
  });
  const said = response.ok ? await response.json() : {};
  if (said.location) location.assign(said.location);
  else app.replaceChildren('This did not work');
};
setTimeout(() => {
  document.title = 'Approve this agent?';
  const question = document.createElement('p');
  question.textContent =
    `${facts.user}, may ${facts.name} of ${facts.domain} act for you with: ${facts.scopes}?`;
  const buttons = [['approve', 'Allow access'], ['deny', 'No, thanks']].map(([decision, text]) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = text;
    button.addEventListener('click', () => answer(decision));
    return button;
  });
  app.replaceChildren(question, ...buttons);
}, 60);
</script></body></html>
"""


def page_of_scripts(facts: ApprovePageFacts) -> str:
    """Nothing for a reader; what is asked is in there as data."""
    told = {
        "user": facts.person.preferred_username,
        "name": facts.agent.name,
        "domain": facts.domain,
        "scopes": ", ".join(scope for scope in facts.scopes if scope in facts.resource.scopes),
        "action": facts.action,
        "ticket": facts.ticket,
    }
    page = SHELL % json.dumps(told).replace("<", "\\u003c")
    # A page on which a user sticks: it says who is asked for what, and has nothing to press.
    return page.replace("...buttons", "") if SHOWS == "nothing" else page


def redirects_as_json(app: ASGIApp) -> ASGIApp:
    """A script cannot read where a redirect to another site leads: whoever accepts JSON is told in a body."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        told = dict(scope["headers"]).get(b"accept") if scope["type"] == "http" else None
        if told != b"application/json":
            await app(scope, receive, send)
            return
        body = b""

        async def sending(message: Message) -> None:
            nonlocal body
            if message["type"] == "http.response.start" and message["status"] in {302, 303}:
                headers = [
                    pair for pair in message["headers"] if pair[0] not in {b"location", b"content-length"}
                ]
                body = json.dumps({"location": dict(message["headers"])[b"location"].decode()}).encode()
                headers += [
                    (b"content-type", b"application/json"),
                    (b"content-length", str(len(body)).encode()),
                ]
                message = {**message, "status": 200, "headers": headers}
            elif message["type"] == "http.response.body" and body:
                message = {**message, "body": body}
            await send(message)

        await app(scope, receive, sending)

    return answer


async def listen_for_scripts(origin: Origin, tls: ssl.SSLContext | None, state: ServerState) -> Listener:
    return await listen(replace(origin, app=redirects_as_json(origin.app)), tls, state)


if __name__ == "__main__":
    headers = {**PAGE_HEADERS, "content-security-policy": CSP}
    if SHOWS == "framed":
        without = CSP.replace("frame-ancestors 'none'; ", "")
        headers = {"content-security-policy": without, "referrer-policy": "unsafe-url"}
    policies = replace(
        Policies(),
        approve_page=page_of_scripts,
        page_headers=MappingProxyType(headers),
        listen=listen_for_scripts,
    )
    sys.exit(serve_gateway(sys.argv[1:], policies))
