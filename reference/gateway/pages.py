"""The gateway's pages: plain HTML without scripts, styles and external content."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from gateproof.reference.gateway.records import Agent, Person, Resource

LAYOUT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""

APPROVE = """<p>You are signed in as <strong>{user}</strong>.</p>
<p><strong>{name}</strong>, an agent at {domain}, asks to act for you with: {scopes}.</p>
<form method="post" action="{action}">
<input type="hidden" name="ticket" value="{ticket}">
<p><button type="submit" name="decision" value="approve">Approve</button></p>
<p><button type="submit" name="decision" value="deny">Deny</button></p>
</form>
"""

SWITCH = """<form method="post" action="{action}">
<input type="hidden" name="ticket" value="{ticket}">
<button type="submit" name="decision" value="switch">Use another account</button>
</form>
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class ApprovePageFacts:
    """The content of the approve page; the ticket binds the decision to this sign-in."""

    agent: Agent
    domain: str
    person: Person
    resource: Resource
    scopes: tuple[str, ...]
    action: str
    ticket: str = field(repr=False)
    may_switch: bool

    def escaped(self) -> dict[str, str]:
        """The values, escaped for HTML."""
        values = {
            "user": self.person.preferred_username,
            "name": self.agent.name,
            "domain": self.domain,
            "scopes": ", ".join(scope for scope in self.scopes if scope in self.resource.scopes),
            "action": self.action,
            "ticket": self.ticket,
        }
        return {name: escape(value) for name, value in values.items()}


def approve_page(facts: ApprovePageFacts) -> str:
    """The page on which the user approves or denies an agent."""
    escaped = facts.escaped()
    forms = APPROVE + (SWITCH if facts.may_switch else "")
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
