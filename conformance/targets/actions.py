"""One function for each control action; each validates the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gateproof.conformance.targets.control import ControlFailed, ControlPlane, Described, Unsupported
from gateproof.conformance.wire.secret import Secret

if TYPE_CHECKING:
    from gateproof.conformance.targets.model import AgentPolicy

Answer = Mapping[str, Any]


def describe(control: ControlPlane) -> Described:
    """The control's description of itself; empty if it has none: then each action has to be tried."""
    try:
        answer = control.call("describe")
    except Unsupported:
        return Described(name="", version="", actions=None, clock_offset_s=0.0)
    actions = answer.get("actions")
    if actions is not None:
        listed = isinstance(actions, list) and all(isinstance(name, str) for name in actions)
        if not listed:
            raise ControlFailed("describe", "actions is not an array of strings")
        actions = frozenset(actions)
    return Described(
        name=_optional_string("describe", answer, "name"),
        version=_optional_string("describe", answer, "version"),
        actions=actions,
        clock_offset_s=_seconds(answer),
    )


def create_project(control: ControlPlane, name: str, agent_policy: AgentPolicy | None = None) -> str:
    """The ID of a new Project; without a policy it gets the Project's default."""
    policy = {} if agent_policy is None else {"agent_policy": agent_policy}
    return _string("create_project", control.call("create_project", name=name, **policy), "project_id")


def delete_project(control: ControlPlane, project_id: str) -> None:
    control.call("delete_project", project_id=project_id)


def set_agent_policy(control: ControlPlane, project_id: str, agent_policy: AgentPolicy) -> None:
    control.call("set_agent_policy", project_id=project_id, agent_policy=agent_policy)


def create_resource(
    control: ControlPlane,
    project_id: str,
    *,
    indicator: str,
    scopes: Sequence[str],
    merchant: Mapping[str, Any],
) -> tuple[str, str]:
    """The ID and the JWKS URI of a new Resource."""
    answer = control.call(
        "create_resource",
        project_id=project_id,
        indicator=indicator,
        scopes=list(scopes),
        merchant=dict(merchant),
    )
    return _string("create_resource", answer, "resource_id"), _string("create_resource", answer, "jwks_uri")


def create_proxy_client(control: ControlPlane, project_id: str) -> tuple[str, Secret]:
    """The ID and the secret of a new Proxy client."""
    answer = control.call("create_proxy_client", project_id=project_id)
    client_id = _string("create_proxy_client", answer, "client_id")
    return client_id, Secret("proxy_client_secret", _string("create_proxy_client", answer, "client_secret"))


def revoke_proxy_client(control: ControlPlane, project_id: str, client_id: str) -> None:
    control.call("revoke_proxy_client", project_id=project_id, client_id=client_id)


def approve_agent(control: ControlPlane, project_id: str, client_id: str) -> None:
    control.call("approve_agent", project_id=project_id, client_id=client_id)


def withhold_redemption_scope(control: ControlPlane, client_id: str) -> None:
    control.call("withhold_redemption_scope", client_id=client_id)


def advance_clock(control: ControlPlane, seconds: float) -> None:
    control.call("advance_clock", seconds=seconds)


def rotate_keys(control: ControlPlane) -> None:
    control.call("rotate_keys")


def sign_in(
    control: ControlPlane,
    *,
    authorization_url: str,
    redirect_uri: str,
    user: Mapping[str, str],
    approve: bool,
) -> str | None:
    """The URL to which the browser would have been redirected; None if the flow ended on a page."""
    answer = control.call(
        "sign_in",
        authorization_url=authorization_url,
        redirect_uri=redirect_uri,
        user=dict(user),
        approve=approve,
    )
    where = answer.get("redirected_to", "")
    if where is None or (isinstance(where, str) and where):
        return where
    raise ControlFailed("sign_in", "the answer has no redirected_to that is a URL or null")


def resource_metadata(control: ControlPlane, project_id: str, resource_id: str) -> str:
    """The protected resource metadata file of a Resource, as the Console offers it for download."""
    answer = control.call("resource_metadata", project_id=project_id, resource_id=resource_id)
    text = answer.get("document")
    if not isinstance(text, str):
        raise ControlFailed("resource_metadata", "the answer has no string document")
    return text


def logs(control: ControlPlane) -> str:
    """What was logged since the last call."""
    text = control.call("logs").get("text")
    if not isinstance(text, str):
        raise ControlFailed("logs", "the answer has no string text")
    return text


def _string(action: str, answer: Answer, name: str) -> str:
    value = answer.get(name)
    if not isinstance(value, str) or not value:
        raise ControlFailed(action, f"the answer has no string {name}")
    return value


def _optional_string(action: str, answer: Answer, name: str) -> str:
    value = answer.get(name, "")
    if not isinstance(value, str):
        raise ControlFailed(action, f"{name} is not a string")
    return value


# A hundred years: a larger offset is an error.
_LONGEST_S = 100 * 365 * 24 * 3600


def _seconds(answer: Answer) -> float:
    value = answer.get("clock_offset_s")
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LONGEST_S:
        raise ControlFailed("describe", "clock_offset_s is not a number of seconds")
    return float(value)
