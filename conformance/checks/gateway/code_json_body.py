"""Code exchanges in JSON, at gateways that take JSON beside forms: the same must be right in both.

A JSON body has values that a form cannot have: a database may take an object for an operator, and a
comparison may take `true` for equal to any text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.conformance.checks.gateway._json_token_request import (
    agent_that_may_send_json,
    no_tokens_in_json,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.parties import Agent

WRONG: Mapping[str, object] = {
    "another-text": "gateproof-wrong-" + "0" * 43,
    "not-equal": {"$ne": ""},
    "greater": {"$gt": ""},
    "true": True,
    "empty-list": [],
}
EMPTY: Mapping[str, object] = {"null": None, "empty-text": ""}


@check("CODE-04", cases=WRONG)
def wrong_verifier_in_json_gets_no_tokens(world: World, case: object) -> None:
    """A code exchange in JSON with a wrong code_verifier gives no tokens, whatever its type."""
    fields = _fields(world, agent_that_may_send_json(world))

    no_tokens_in_json(world, {**fields, "code_verifier": case}, "a wrong code_verifier")


@check("CODE-05")
def other_redirect_uri_in_json_gets_no_tokens(world: World) -> None:
    """A code exchange in JSON with another redirect_uri than the one used gives no tokens."""
    fields = _fields(world, agent_that_may_send_json(world))

    other = {**fields, "redirect_uri": f"{fields['redirect_uri']}/other"}
    no_tokens_in_json(world, other, "another redirect_uri")


@check("CODE-06", cases=("code_verifier", "redirect_uri"))
def missing_member_in_json_gets_no_tokens(world: World, case: str) -> None:
    """A code exchange in JSON gives no tokens if one of these members is missing, null or empty."""
    agent = agent_that_may_send_json(world)
    for value in (None, *EMPTY):
        fields = _fields(world, agent)
        if value is None:
            del fields[case]
        else:
            fields[case] = EMPTY[value]
        no_tokens_in_json(world, fields, f"{value or 'no'} {case}")


@check("CODE-07", cases=WRONG)
def wrong_secret_in_json_gets_no_tokens(world: World, case: object) -> None:
    """A code exchange in JSON with a wrong client_secret gives no tokens, whatever its type."""
    fields = _fields(world, agent_that_may_send_json(world))

    no_tokens_in_json(world, {**fields, "client_secret": case}, "a wrong client_secret")


@check("CODE-08")
def code_of_another_agent_in_json_gets_no_tokens(world: World) -> None:
    """A code exchange in JSON gives no tokens to an agent that the code was not issued to."""
    agent, other = agent_that_may_send_json(world), world.agents.new()
    fields = _fields(world, agent)

    own = {"client_id": other.client_id, "client_secret": other.client_secret.reveal()}
    no_tokens_in_json(world, {**fields, **own}, "the code of another agent")


def _fields(world: World, agent: Agent) -> dict[str, Any]:
    """The fields of a correct exchange of a new code."""
    return dict(world.gateway.exchange_fields(world.code_for(world.attempt(agent))))
