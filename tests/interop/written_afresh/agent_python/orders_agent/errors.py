"""How a run can fail. Texts are fixed: none quotes an answer, an address's query or a credential."""

from __future__ import annotations


class AgentError(Exception):
    """The run cannot go on; the text is for the user."""


class Unreachable(AgentError):
    """A party did not answer, or not in a way that can be used."""


class CodeRefused(AgentError):
    """The token endpoint answered invalid_grant."""


class ClientRejected(AgentError):
    """The token endpoint does not know this agent's client."""
