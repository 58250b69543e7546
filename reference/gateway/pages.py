"""The gateway's few pages: plain HTML without scripts, styles or anything from elsewhere."""

from __future__ import annotations

from html import escape

from reference.gateway.records import Agent, Person, Resource

LAYOUT = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title></head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""

APPROVE = """<p>You are signed in as <strong>{user}</strong>.</p>
<p><strong>{name}</strong>, an agent at {domain}, asks to act for you with: {scopes}.</p>
<form method="post" action="{action}">
<input type="hidden" name="ticket" value="{ticket}">
<button type="submit" name="decision" value="approve">Approve</button>
<button type="submit" name="decision" value="deny">Deny</button>
</form>
"""

SWITCH = """<form method="post" action="{action}">
<input type="hidden" name="ticket" value="{ticket}">
<button type="submit" name="decision" value="switch">Use another account</button>
</form>
"""


def approve_page(
    *,
    agent: Agent,
    domain: str,
    person: Person,
    resource: Resource,
    scopes: tuple[str, ...],
    action: str,
    ticket: str,
    may_switch: bool,
) -> str:
    """The user is asked about this agent; the ticket binds the answer to this sign-in."""
    values = {
        "user": person.preferred_username,
        "name": agent.name,
        "domain": domain,
        "scopes": ", ".join(scope for scope in scopes if scope in resource.scopes),
        "action": action,
        "ticket": ticket,
    }
    escaped = {name: escape(value) for name, value in values.items()}
    forms = APPROVE + (SWITCH if may_switch else "")
    return _page("Approve this agent?", forms.format(**escaped))


def pending_page(agent: Agent) -> str:
    return _page(
        "The agent is waiting",
        f"<p>You are signed in. <strong>{escape(agent.name)}</strong> "
        "has yet to be approved by the operator. Start again from the agent once it is.</p>",
    )


def error_page(what: str) -> str:
    return _page("This did not work", f"<p>{escape(what)}</p>")


def _page(title: str, body: str) -> str:
    return LAYOUT.format(title=title, body=body)
