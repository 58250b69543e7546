"""The workplace of a check of a service: its connections, and the record of the check that is running."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.kit.service.received import ServiceReceived
from gateproof.conformance.kit.service.recovery import calm
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.prepare.service import metadata_url, service_place
from gateproof.conformance.run.service.sessions import OpenSessions
from gateproof.conformance.suite.time_limits import SERVICE_ANSWER_S
from gateproof.conformance.wire.client import Wire
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.redacted_view import mention
from gateproof.conformance.wire.redacted_view import show as show_in_full
from gateproof.conformance.wire.secret import Secret
from gateproof.reports.exchanges import Shown
from gateproof.reports.redaction import Redactor

# A service in trouble is given longer than a request: how long it takes is what a rule is about.
_PATIENCE_S = SERVICE_ANSWER_S + 3.0


class ServiceBench:
    """Everything that stays from check to check, and what is new for each: the record and the keyring."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context
        self.received = ServiceReceived(context.world)
        self.seen: list[Exchange] = []
        self._sessions = OpenSessions(context.world)
        target = context.target
        usual_s = target.limits.request_timeout_s
        place = (replace(service_place(target), pace=context.pace),)
        self._wire = Wire(place, timeout_s=usual_s, record=self._record)
        self._patient = Wire(place, timeout_s=max(usual_s, _PATIENCE_S), record=self._record)
        self._keyring = Keyring()
        self.service = self._fresh()

    @property
    def world(self) -> ServiceWorld:
        return self.context.world

    def begin(self, check_id: str) -> None:
        """A new check: the world is honest again, the service over its trouble, and nothing written down."""
        self.world.gateway.script.clear()
        # A check that failed half-way leaves the service with a Proxy token that it took away.
        self.world.gateway.revive_proxy_tokens()
        self._sessions.end(self._wire.send_once, self._keyring)
        self._wire.begin()
        self._patient.begin()
        self.service = self._fresh()
        calm(self.service, self.world)
        # What an answer until here has in it is the last check's doing.
        self.received.begin(check_id)
        self.seen.clear()

    def close(self) -> None:
        self._wire.close()
        self._patient.close()

    def forget(self) -> None:
        """Lets go of what was sent so far in this check; it is searched for secrets all the same."""
        self.seen.clear()

    def redactor(self) -> Redactor:
        for kind, values in self.received.secrets().items():
            for value in values:
                self._keyring.add(Secret(kind, value))
        return self._keyring.redactor()

    def shown(self, redactor: Redactor, /, *, in_full: bool) -> tuple[Shown, ...]:
        """What the check sent and received, as it may be shown: in full, or just that it was."""
        if not self.context.shows_exchanges:
            return ()
        show = show_in_full if in_full else mention
        return tuple(show(exchange, redactor) for exchange in self.seen)

    def place_of(self, exchange: Exchange, /) -> int | None:
        """Where the exchange stands among those that are shown."""
        return next((place for place, each in enumerate(self.seen) if each is exchange), None)

    def scenario(self) -> str:
        """A service answers: whoever sends its requests again has done all that was done."""
        return ""

    def _record(self, exchange: Exchange) -> None:
        self.seen.append(exchange)
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
        )
