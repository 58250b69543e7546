"""Other legal ways for an agent to register."""

from __future__ import annotations

from typing import Any

from gateproof.reference.agent.policy import registration
from gateproof.reference.agent.settings import Settings
from gateproof.reference.variants.variant import variant

_DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
_NAMED = ("grant_types", "response_types")


def _names_no_grant(settings: Settings) -> dict[str, Any]:
    record = registration.registration_record(settings)
    return {name: value for name, value in record.items() if name not in _NAMED}


def _names_null(settings: Settings) -> dict[str, Any]:
    """As a serializer writes a list that nobody has set."""
    return registration.registration_record(settings) | dict.fromkeys(_NAMED)


def _names_other_grants(settings: Settings) -> dict[str, Any]:
    grants = [_DEVICE, "refresh_token", "authorization_code"]
    return registration.registration_record(settings) | {"grant_types": grants}


VARIANTS = (
    variant(
        "names-no-grant: the registration leaves grants and response types to the gateway",
        registration_record=_names_no_grant,
    ),
    variant(
        "names-null-for-grants: grants and response types are null in the registration",
        registration_record=_names_null,
    ),
    variant(
        "names-other-grants: the registration names an extension grant and refresh_token beside the code's",
        registration_record=_names_other_grants,
    ),
)
