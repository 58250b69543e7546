"""Claims of tokens that several agents get at the same moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateproof.conformance.checks.gateway._second_resource import of_one_merchant
from gateproof.conformance.checks.gateway._tokens import agent_in, names_the_agent
from gateproof.conformance.kit.gateway import concurrent, console
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Agent, Attempt, Resource
from gateproof.conformance.suite.races import FEW, Races, require_answers
from gateproof.conformance.wire.documents import strings_in
from gateproof.conformance.wire.exchange import Exchange


@check("CLAIM-07", rounds=4)
def agent_is_the_tokens_own_when_others_get_tokens_too(world: World, races: Races) -> None:
    """Of four agents that exchange their codes at once, each gets a token that names itself and no other."""
    home = world.projects.home().resource
    agents = [world.agents.new() for _ in range(FEW)]
    for attempt, claims in _got_at_once(world, [(agent, home) for agent in agents], races):
        found = agent_in(_ext(claims))
        names_the_agent(found, attempt.agent)
        foreign = {agent.client_id for agent in agents} - {attempt.agent.client_id}
        expect.that(
            not any(client_id in text for client_id in foreign for text in strings_in(found)),
            "ext.agent of a token that was got beside others",
            expected="its own agent alone",
            got="another agent, which got a token at the same moment",
        )


@check("CLAIM-08", needs=["two-projects"], rounds=4)
def project_is_the_tokens_own_when_others_get_tokens_too(world: World, races: Races) -> None:
    """Agents that exchange codes of two Projects at once get tokens that name their own Project."""
    projects = world.projects.home(), world.projects.another()
    resources = of_one_merchant(world, [project.resource for project in projects])
    for attempt, claims in _got_at_once(world, _two_agents_at_each(world, resources), races):
        said = _ext(claims).get("project_id")
        expect.equal(
            said, attempt.resource.project_id, "ext.project_id of a token that was got beside others"
        )


@check("CLAIM-02", needs=["resources:2"], rounds=4)
def audience_is_the_tokens_own_when_others_get_tokens_too(world: World, races: Races) -> None:
    """Agents that exchange codes of two Resources at once get tokens for their own Resource only."""
    resources = of_one_merchant(world, console.siblings(world))
    for attempt, claims in _got_at_once(world, _two_agents_at_each(world, resources), races):
        audience = claims.get("aud")
        own, foreign = (
            {each.indicator for each in resources if (each.id == attempt.resource.id) is mine}
            for mine in (True, False)
        )
        named = set(strings_in([audience]))
        expect.that(
            own <= named and not foreign & named,
            "aud of a token that was got beside others",
            expected=f"{attempt.resource.indicator}, and not the indicator of the other Resource",
            got=audience,
        )


def _two_agents_at_each(world: World, resources: Sequence[Resource]) -> list[tuple[Agent, Resource]]:
    """Agents of their own, because a gateway may let an agent into one Project only."""
    return [(world.agents.new(), resource) for resource in resources for _ in range(FEW // 2)]


def _got_at_once(
    world: World, wanted: Sequence[tuple[Agent, Resource]], races: Races
) -> Iterator[tuple[Attempt, Mapping[str, Any]]]:
    """The attempts and access token claims of codes exchanged one after the other, and then all at once."""
    world = world.in_one_browser()
    for agent, resource in wanted:
        grant = world.grant(agent=agent, resource=resource)
        yield world.attempt(agent, resource=resource), _claims(world, grant.answer)
    for _ in races.each():
        attempts = [world.attempt(agent, resource=resource) for agent, resource in wanted]
        codes = [world.code_for(attempt) for attempt in attempts]
        answers = concurrent.exchanges(world.gateway, codes)
        require_answers(answers)
        got = [each for each in zip(attempts, answers, strict=True) if each[1].status == 200]
        if len(got) < len(wanted):
            # CODE-01 tests whether codes live so long, and whether all of them give tokens.
            raise LeftOut(
                f"{len(wanted) - len(got)} of {len(wanted)} codes gave no tokens at the same moment"
            )
        for attempt, answer in got:
            yield attempt, _claims(world, answer)


def _claims(world: World, answer: Exchange) -> Mapping[str, Any]:
    step = require.step_of("code exchange")
    token = step.text(answer.member("access_token"), "access_token of the code exchange")
    return world.jwt(world.gateway.keyring.secret("access_token", token), "gateway access token").claims


def _ext(claims: Mapping[str, Any]) -> Mapping[str, Any]:
    ext = claims.get("ext")
    return ext if isinstance(ext, dict) else {}
