"""The keys that the gateway publishes, and their rotation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.worker_state import WorkerState
from gateproof.conformance.suite.claims import Unmet, require
from gateproof.conformance.suite.parties import Project, Resource
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import KEY_SHOWN_S
from gateproof.conformance.targets import actions
from gateproof.conformance.targets.connect import control_for
from gateproof.conformance.targets.control import ControlPlane
from gateproof.conformance.wire.jose import keys_of, verifying
from gateproof.conformance.wire.secret import Secret


def discovery_document(gateway: Gateway, resource: Resource) -> dict[str, Any]:
    """The Resource's discovery document."""
    return require(require(gateway.discovery(resource)).status(200)).json_object()


@dataclass(frozen=True, kw_only=True, slots=True)
class Keys:
    """Reads key sets; hides private members, which a set may contain by mistake, from reports."""

    gateway: Gateway
    worker_state: WorkerState
    home: Callable[[], Project]
    control: ControlPlane | None

    def core(self, resource: Resource) -> list[dict[str, Any]]:
        return self._with_keys(self._core(resource), "core key set")

    def core_for(self, token: Secret, resource: Resource) -> list[dict[str, Any]]:
        """The core key set; it is fetched again for a few seconds until one of its keys verifies the token.

        If several servers serve the set, a new key may appear in it a little later than in tokens.
        """
        deadline = time.monotonic() + KEY_SHOWN_S
        while True:
            keys = self._core(resource)
            if verifying(token.reveal(), keys) or time.monotonic() > deadline:
                return self._with_keys(keys, "core key set")
            wait_for(Cause.KEYS, 0.25)

    def at(self, jwks_uri: str, step: str) -> list[dict[str, Any]]:
        """The keys of a JWK Set; requires at least one."""
        return self._with_keys(self._fetched(jwks_uri, step), step)

    def _core(self, resource: Resource) -> list[dict[str, Any]]:
        jwks_uri = require.text(
            discovery_document(self.gateway, resource).get("jwks_uri"), "jwks_uri in the discovery document"
        )
        keys = self._fetched(jwks_uri, "core key set")
        self.worker_state.note_keys(keys)
        return keys

    def _fetched(self, jwks_uri: str, step: str) -> list[dict[str, Any]]:
        answer = require(self.gateway.fetch(self.gateway.reachable(jwks_uri), step)).status(200)
        keys = keys_of(answer.json())
        self.gateway.keyring.public(*(str(key["kid"]) for key in keys if "kid" in key))
        self._hide_private(keys)
        return keys

    @staticmethod
    def _with_keys(keys: list[dict[str, Any]], step: str) -> list[dict[str, Any]]:
        require.that(bool(keys), step, expected="a JWK Set with keys", got="no key")
        return keys

    def rotate(self) -> None:
        """Rotates the core signing key; records the old keys first, as they may soon leave the key set."""
        with suppress(Unmet):
            # KEYS-01 tests a key set that an earlier rotation has broken.
            self.core(self.home().resource)
        actions.rotate_keys(control_for(self.control, "rotate_keys"))
        # A gateway may withdraw the old key as soon as the tokens that it signed have expired.
        if self.worker_state.renewed is not None:
            self.worker_state.renewed = replace(self.worker_state.renewed, until=-inf)

    def _hide_private(self, keys: Iterable[Mapping[str, Any]]) -> None:
        for key in keys:
            for name in ("d", "p", "q", "dp", "dq", "qi", "k", "priv"):
                if isinstance(key.get(name), str):
                    self.gateway.keyring.secret("private_key", key[name])
