"""Agents that are led to another resource by what they do not compare of its metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from gateproof.reference.agent.policy import discovery, operation
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stopping import wants_more_scopes


def also(accepts: Callable[[Any, str], bool]) -> Callable[[Mapping[str, Any], str], bool]:
    """Accepts metadata if this comparison or the correct one accepts their resource."""

    def is_about(metadata: Mapping[str, Any], service_url: str) -> bool:
        return accepts(metadata.get("resource"), service_url) or discovery.is_about(metadata, service_url)

    return is_about


def is_one_of(resource: Any, service_url: str) -> bool:
    return isinstance(resource, list) and service_url in resource


def begins_the_service(resource: Any, service_url: str) -> bool:
    return isinstance(resource, str) and bool(resource) and service_url.startswith(resource)


def has_the_host(resource: Any, service_url: str) -> bool:
    return isinstance(resource, str) and urlsplit(resource).hostname == urlsplit(service_url).hostname


def as_challenge(answer: Answer) -> Answer:
    """A 403 for a missing scope as a 401, so that its challenge is followed."""
    return replace(answer, status=401) if answer.status == 403 and wants_more_scopes(answer) else answer


def stepping_up_anywhere() -> dict[str, Any]:
    """Follows the challenge of a 403 to metadata of any resource."""
    stepping_up: list[bool] = []

    def operate(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
        answer = operation.operate(settings, ask, given)
        challenge = as_challenge(answer)
        stepping_up[:] = [True] if challenge is not answer else []
        return challenge

    def is_about(metadata: Mapping[str, Any], service_url: str) -> bool:
        return bool(stepping_up) or discovery.is_about(metadata, service_url)

    return {"operate": operate, "is_about": is_about}


DEFECTS = (
    defect(
        "resource-may-be-missing (AGENT-13): The agent accepts metadata without a resource from any host.",
        is_about=also(lambda resource, _: resource is None),
    ),
    defect(
        "resource-in-a-list (AGENT-13): The agent accepts metadata whose resource is a list that contains "
        "the service.",
        is_about=also(is_one_of),
    ),
    defect(
        "resource-that-begins-the-service (AGENT-13): The agent accepts metadata whose resource is any first "
        "part of the service's URL.",
        is_about=also(begins_the_service),
    ),
    defect(
        "resource-with-any-port (AGENT-13): The agent compares the host of the metadata's resource, but not "
        "its port.",
        is_about=also(has_the_host),
    ),
    defect(
        "resource-compared-after-401-alone (AGENT-13): The agent does not compare the resource of metadata "
        "to which a 403 with insufficient_scope points.",
        **stepping_up_anywhere(),
    ),
)
