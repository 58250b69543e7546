"""The workplace of a check of a service: its connections, and the record of the check that is running."""

from __future__ import annotations

from dataclasses import replace

from conformance.run.prepare_service import metadata_url, service_place
from conformance.run.recovery import calm
from conformance.run.service_context import ServiceContext
from conformance.run.service_received import ServiceReceived
from conformance.run.service_world import ServiceWorld
from conformance.service import Service
from conformance.wire import jose, mcp
from conformance.wire.client import Wire
from conformance.wire.exchange import Exchange, Request
from conformance.wire.keyring import Keyring
from conformance.wire.secret import Secret
from conformance.wire.show import mention
from conformance.wire.show import show as show_in_full
from reports.exchanges import Shown
from reports.redaction import Redactor

# A service in trouble is given longer than a request: how long it takes is what a rule is about.
_PATIENCE_S = 63.0
# A server may have room for so many sessions at a time, and calls them too many when it has no more.
_MOST_SESSIONS = 8
# A connection may have been lost meanwhile; so many in a row were not.
_MOST_UNENDED = 3


class ServiceBench:
    """Everything that stays from check to check, and what is new for each: the record and the keyring."""

    def __init__(self, context: ServiceContext) -> None:
        self.context = context
        self.received = ServiceReceived(context.world)
        self.seen: list[Exchange] = []
        self._sessions: list[Request] = []
        self._unended = 0
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
        self.received.begin(check_id)
        self.world.gateway.script.clear()
        # A check that failed half-way leaves the service with a Proxy token that it took away.
        self.world.gateway.revive_proxy_tokens()
        if len(self._sessions) > _MOST_SESSIONS:
            self._end_sessions()
        self._wire.begin()
        self._patient.begin()
        self.service = self._fresh()
        calm(self.service, self.world)
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
        if (ending := mcp.ending(exchange)) is not None:
            self._sessions.append(ending)

    def _end_sessions(self) -> None:
        """Ends what checks began; for a token whose key is gone, the service would look for that again."""
        known = {key.kid for key in self.world.gateway.core_keys}
        endings = [each for each in self._sessions if _kid(each) in known]
        self._sessions.clear()
        for each in endings:
            # Who never answers that is not asked again: each time would cost a time-out.
            if self._unended < _MOST_UNENDED:
                ended = self._wire.send_once("end of a session", each)
                self._unended = self._unended + 1 if ended.answer is None else 0

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


def _kid(request: Request) -> str | None:
    """The key that the token of a request names."""
    token = jose.read(next((value for _, value in request.headers), "").rpartition(" ")[2])
    return token.header.get("kid") if token is not None else None
