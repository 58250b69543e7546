"""The bench for checks of a service: one worker's connections, and the record of the current check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gateproof.conformance.kit.gateway.received import RunTotals
from gateproof.conformance.kit.service.received import ServiceReceived
from gateproof.conformance.kit.service.recovery import wait_until_recovered
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.run.bench import SendingBench
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.prepare.further_origins import further_places
from gateproof.conformance.run.prepare.service import metadata_url, service_place
from gateproof.conformance.run.service.sessions import OpenSessions
from gateproof.conformance.suite.time_limits import SERVICE_ANSWER_S
from gateproof.conformance.wire.client import Wire
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.secret import Secret
from gateproof.reports.redaction import Redactor

# Added to the time limit that a rule sets for calls during a failure, so that the check can measure it.
_MOMENT_S = 3.0
# A file in the run's folder, by which workers learn what the instances of others have shown.
_DISCOVERY_IS_KEPT = "discovery-is-kept"


class ServiceBench(SendingBench):
    """Keeps state over all checks of a worker; each check gets an empty record and a new keyring."""

    context: ServiceContext

    def __init__(self, context: ServiceContext) -> None:
        super().__init__(context)
        self.context = context
        if context.copied_from is not None and context.folder is not None:
            context.world.service_state.discovery_is_kept = context.folder / _DISCOVERY_IS_KEPT
        self.received = ServiceReceived(context.world)
        self._sessions = OpenSessions(context.world)
        target = context.target
        usual_s = target.limits.request_timeout_s
        longest_s = (target.limits.longest_call_s or SERVICE_ANSWER_S) + _MOMENT_S
        places = (
            replace(service_place(target), pace=context.pace, tracing=self.tracing),
            *further_places(target.reach),
        )
        self._wire = Wire(places, timeout_s=usual_s, record=self._record)
        self._patient = Wire(places, timeout_s=max(usual_s, longest_s), record=self._record)
        self._keyring = Keyring()
        self.service = self._fresh()

    @property
    def world(self) -> ServiceWorld:
        return self.context.world

    def begin(self, check_id: str) -> None:
        """Starts a check: resets the world, waits until the service has recovered, and clears the record."""
        self.world.gateway.script.clear()
        # A failed check may have invalidated the Proxy token that the service holds.
        self.world.gateway.revive_proxy_tokens()
        self._sessions.end(self._wire.send_once, self._keyring)
        self._wire.begin()
        self._patient.begin()
        self.service = self._fresh()
        wait_until_recovered(self.service, self.world)
        self.note_begin(check_id)
        # Secrets in responses up to here belong to the last check.
        self.received.begin(check_id)
        self.forget()

    def whereabouts(self) -> Iterator[tuple[str, str]]:
        target, addresses = self.context.target, self.world.gateway.addresses
        yield "SERVICE_URL", target.service_url
        yield "BASE_URL", addresses.base_url
        yield "CORE_URL", addresses.core_url
        yield "MERCHANT_API_URL", addresses.merchant_api_url
        if target.reach.ca_file is not None:
            yield "CA_FILE", str(target.reach.ca_file)

    def close(self) -> None:
        self._wire.close()
        self._patient.close()

    def redactor(self) -> Redactor:
        for kind, values in self.received.secrets().items():
            for value in values:
                self._keyring.add(Secret(kind, value))
        return self._keyring.redactor()

    def survey(self) -> RunTotals:
        return self.received.survey()

    def _record(self, exchange: Exchange) -> None:
        super()._record(exchange)
        if exchange.status is None or exchange.status >= 500:
            self.world.service_state.failed = True
        self.received.note(exchange)
        self._sessions.note(exchange)

    def _fresh(self) -> Service:
        target, setup = self.context.target, self.world.gateway.setup
        headers = [Secret("target_header", value) for value in target.reach.headers.values()]
        self._keyring = Keyring(
            secrets=headers, public=(setup.resource_id, setup.indicator, setup.project_id)
        )
        return Service(
            service_url=target.service_url,
            metadata_url=metadata_url(target),
            operation=target.operation,
            wire=self._wire,
            patient=self._patient,
            keyring=self._keyring,
            first_metadata=self.context.first_metadata,
            algorithms=self.world.algorithms,
        )
