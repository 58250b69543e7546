"""Tries every control action of a gateway, and tests whether it has the effect that the contract states."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.approvals import require_approved
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.run.context.gateway import GatewayContext
from gateproof.conformance.run.gateway.bench import GatewayBench
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.suite.claims import Broken, LeftOut, Unavailable, require, tallying
from gateproof.conformance.suite.parties import Agent, Attempt
from gateproof.conformance.targets import actions
from gateproof.conformance.targets.connect import control_for
from gateproof.conformance.targets.control import ControlFailed, Refused, Unsupported
from gateproof.conformance.wire.client import RateLimited, TargetSilent

# Longer than the lifetime of a Proxy token.
_OVER_AN_HOUR_S = 3700


class Outcome(StrEnum):
    """The outcome of one action."""

    WORKS = "works"
    UNSUPPORTED = "not supported"
    REFUSED = "refused"
    WRONG = "wrong"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, kw_only=True, slots=True)
class Tried:
    """One action, its outcome, and a sentence about what was seen."""

    action: str
    outcome: Outcome
    said: str


def try_actions(context: GatewayContext) -> Iterator[Tried]:
    """Tries each action with valid arguments; what it creates is deleted afterwards, as far as possible."""
    bench = GatewayBench(context)
    try:
        for action, probe in _PROBES.items():
            bench.begin(f"control:{action}")
            with tallying():
                outcome, said = _outcome(action, probe, bench.world)
            yield Tried(action=action, outcome=outcome, said=bench.redactor().text(said))
        bench.clean_up()
    finally:
        bench.close()


def _outcome(action: str, probe: Callable[[World], str], world: World) -> tuple[Outcome, str]:
    try:
        return Outcome.WORKS, probe(world)
    except (
        *(Unsupported, Unavailable, LeftOut, ControlFailed, Broken),
        *(SignInFailed, RateLimited, TargetSilent),
    ) as problem:
        return _meaning(action, problem)


def _meaning(action: str, problem: Exception) -> tuple[Outcome, str]:
    """The outcome of an action; a problem before the action itself means that it was not tried."""
    match problem:
        case Unsupported(action=of) if of == action:
            found = Outcome.UNSUPPORTED, "answered 501, or exit code 64"
        case Unavailable(need=need) if need == f"control:{action}":
            found = Outcome.UNSUPPORTED, "answered 501, or exit code 64"
        case Refused(action=of, why=why) if of == action:
            found = Outcome.REFUSED, why
        case ControlFailed(action=of, what=what) if of == action:
            found = Outcome.WRONG, what
        case Broken():
            found = Outcome.WRONG, f"{problem.what}: expected {problem.expected}, got {problem.got}"
        case _:
            found = Outcome.NOT_TRIED, str(problem)
    return found


def _describe(world: World) -> str:
    described = actions.describe(control_for(world.control, "describe"))
    if described.actions is None:
        return "answers without a list of actions: each has to be tried in every run"
    unknown = sorted(described.actions - {*_PROBES, "describe"})
    near = difflib.get_close_matches(unknown[0], _PROBES, n=1) if unknown else []
    hint = f" (did you mean {near[0]}?)" if near else ""
    require.that(
        not unknown,
        "the list of actions",
        expected="names of the contract",
        got=f"{', '.join(unknown)}{hint}",
    )
    return f"{described.name or 'no name'} {described.version}, {len(described.actions)} actions".strip()


def _create_project(world: World) -> str:
    control = control_for(world.control, "create_project")
    one, other = (actions.create_project(control, f"gateproof {world.unique()}") for _ in range(2))
    require.that(one != other, "two Projects", expected="two project_id", got="the same one twice")
    return "two Projects have two IDs"


def _create_resource(world: World) -> str:
    resource = world.projects.new().resource
    document = world.discovery(resource)
    keys = world.keys.at(resource.jwks_uri, "key set of the Resource")
    require.text(document.get("authorization_endpoint"), "authorization_endpoint of the new Resource")
    return f"its discovery document answers, and jwks_uri has {len(keys)} keys"


def _create_proxy_client(world: World) -> str:
    world.backend.proxy_token(world.projects.new())
    return "its ID and secret give a Proxy token"


def _revoke_proxy_client(world: World) -> str:
    project = world.projects.new()
    client = console.new_proxy_client(world, project)
    require(world.gateway.proxy_token(client)).status(200)
    console.revoke(world, client)
    refused = world.gateway.proxy_token(client)
    require.that(
        refused.status == 401,
        "a Proxy token for the revoked client",
        expected="status 401",
        got=refused.outcome(),
    )
    require(world.gateway.proxy_token(project.proxy_client)).status(200)
    return "the client gets 401 right after it; the Project's other client gets its token"


def _set_agent_policy(world: World) -> str:
    project = world.projects.new(agent_policy=None)
    world.projects.set_agent_policy(project, "hold")
    _no_code(world, world.attempt(resource=project.resource), "an agent that the policy holds")
    world.projects.set_agent_policy(project, "approve")
    world.new_code(resource=project.resource)
    return "hold: a new agent gets no code; approve: the next new agent gets one"


def _approve_agent(world: World) -> str:
    resource = world.projects.holding_resource()
    agent = world.agents.new()
    _no_code(world, world.attempt(agent, resource=resource), "a Pending agent")
    world.projects.approve_agent(agent, resource)
    require_approved(world, agent, resource)
    return "a Pending agent gets its code when the authorization starts again"


def _withhold_redemption_scope(world: World) -> str:
    agent: Agent = world.agents.new()
    console.withhold_redemption_scope(world, agent)
    grant = world.grant(agent=agent)
    answer = world.backend.redeem_once_provisioned(grant, world.backend.proxy_token())
    require.that(
        answer.status == 401,
        "a redemption with a token that lacks the scope",
        expected="status 401",
        got=answer.outcome(),
    )
    return "a token that the agent gets afterwards is refused at redemption with 401"


def _sign_in(world: World) -> str:
    control = control_for(world.control, "sign_in")
    for approve in (True, False):
        attempt = world.attempt()
        where = actions.sign_in(
            control,
            authorization_url=world.gateway.authorization_url(attempt),
            redirect_uri=attempt.parameters["redirect_uri"],
            user={
                "name": attempt.user.name,
                "login": attempt.user.login,
                "password": attempt.user.password.reveal(),
            },
            approve=approve,
        )
        came = "code=" in (where or "")
        what = f"sign_in of {attempt.user.name} with approve = {str(approve).lower()}"
        expected = "a redirected_to with a code" if approve else "a redirected_to without a code, or null"
        require.that(came is approve, what, expected=expected, got="a code" if came else "no code")
    return "a code where the user approves, and none where not"


def _logs(world: World) -> str:
    text = actions.logs(control_for(world.control, "logs"))
    return f"{len(text)} characters since the start"


def _resource_metadata(world: World) -> str:
    text = console.resource_metadata(world, world.projects.home().resource)
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    require.that(
        isinstance(document, dict),
        "document of resource_metadata",
        expected="the text of a JSON object",
        got="something else",
    )
    return "the file is a JSON object"


def _rotate_keys(world: World) -> str:
    resource = world.projects.home().resource
    before = world.keys.core(resource)
    actions.rotate_keys(control_for(world.control, "rotate_keys"))
    token = world.grant().access_token
    after = world.keys.core_for(token, resource)
    new = [key for key in after if key not in before]
    require.that(bool(new), "core key set after a rotation", expected="a new key", got="the same keys")
    return "the core key set has a new key"


def _advance_clock(world: World) -> str:
    project = world.projects.home()
    grant, token = world.grant(), world.backend.proxy_token(project)
    world.backend.require_redeemed(grant, token)
    world.clock.advance(_OVER_AN_HOUR_S)
    again = world.grant(agent=grant.agent)
    late = world.gateway.redeem(again.access_token, token, again.resource.indicator)
    require.that(
        late.status == 401,
        "a redemption with a Proxy token of more than an hour before",
        expected="status 401",
        got=late.outcome(),
    )
    return "a Proxy token has expired an hour later"


def _delete_project(world: World) -> str:
    control = control_for(world.control, "delete_project")
    project_id = actions.create_project(control, f"gateproof {world.unique()}")
    actions.delete_project(control, project_id)
    return "a Project that was just created can be deleted"


def _no_code(world: World, attempt: Attempt, who: str) -> None:
    visit = world.gateway.visit(attempt)
    require.that(not visit.codes(), f"the sign-in of {who}", expected="no code", got="a code")


# Actions that change the whole target come last.
_PROBES: dict[str, Callable[[World], str]] = {
    "describe": _describe,
    "create_project": _create_project,
    "create_resource": _create_resource,
    "create_proxy_client": _create_proxy_client,
    "revoke_proxy_client": _revoke_proxy_client,
    "set_agent_policy": _set_agent_policy,
    "approve_agent": _approve_agent,
    "withhold_redemption_scope": _withhold_redemption_scope,
    "sign_in": _sign_in,
    "resource_metadata": _resource_metadata,
    "delete_project": _delete_project,
    "logs": _logs,
    "rotate_keys": _rotate_keys,
    "advance_clock": _advance_clock,
}
