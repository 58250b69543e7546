"""The keys that the gateway publishes, and their rotation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.worker_state import WorkerState
from gateproof.conformance.suite.claims import Unmet, require
from gateproof.conformance.suite.parties import Project, Resource
from gateproof.conformance.targets import actions
from gateproof.conformance.targets.connect import control_for
from gateproof.conformance.targets.control import ControlPlane
from gateproof.conformance.wire.jose import keys_of


def discovery_document(gateway: Gateway, resource: Resource) -> dict[str, Any]:
    """The Resource's discovery document."""
    return require(require(gateway.discovery(resource)).status(200)).json_object()


@dataclass(frozen=True, kw_only=True, slots=True)
class Keys:
    """Reads key sets; private members that a set has by mistake are hidden from reports."""

    gateway: Gateway
    worker_state: WorkerState
    home: Callable[[], Project]
    control: ControlPlane | None

    def core(self, resource: Resource) -> list[dict[str, Any]]:
        jwks_uri = require.text(
            discovery_document(self.gateway, resource).get("jwks_uri"), "jwks_uri in the discovery document"
        )
        keys = self.at(jwks_uri, "core key set")
        self.worker_state.note_keys(keys)
        return keys

    def at(self, jwks_uri: str, step: str) -> list[dict[str, Any]]:
        """The keys of a JWK Set that has some."""
        answer = require(self.gateway.fetch(self.gateway.reachable(jwks_uri), step)).status(200)
        keys = keys_of(answer.json())
        require.that(bool(keys), step, expected="a JWK Set with keys", got="no key")
        self.gateway.keyring.public(*(str(key["kid"]) for key in keys if "kid" in key))
        self._hide_private(keys)
        return keys

    def rotate(self) -> None:
        """A new core signing key; those of before are noted first, as they may soon leave the key set."""
        with suppress(Unmet):
            # A set that an earlier rotation spoilt is for KEYS-04 to find.
            self.core(self.home().resource)
        actions.rotate_keys(control_for(self.control, "rotate_keys"))

    def _hide_private(self, keys: Iterable[Mapping[str, Any]]) -> None:
        for key in keys:
            for name in ("d", "p", "q", "dp", "dq", "qi", "k", "priv"):
                if isinstance(key.get(name), str):
                    self.gateway.keyring.secret("private_key", key[name])
