"""The bench for checks of a gateway: one worker's connections, and the record of the current check."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from gateproof.conformance.faults.intercept.interceptor import Trust
from gateproof.conformance.faults.intercept.kept import Kept
from gateproof.conformance.kit.gateway.clock import Clock
from gateproof.conformance.kit.gateway.control_costs import ControlCosts
from gateproof.conformance.kit.gateway.gateway import Gateway, Visit
from gateproof.conformance.kit.gateway.misplaced_tokens import MisplacedTokens
from gateproof.conformance.kit.gateway.project_pool import ControlledProjects, ProjectPool
from gateproof.conformance.kit.gateway.projects import Projects
from gateproof.conformance.kit.gateway.received import Received, RunTotals
from gateproof.conformance.kit.gateway.recent_secrets import MOST, MOST_IN_A_CAMPAIGN
from gateproof.conformance.kit.gateway.static_projects import StaticProjects
from gateproof.conformance.kit.gateway.worker_state import WorkerState
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.run.bench import SendingBench
from gateproof.conformance.run.context.gateway import GatewayContext
from gateproof.conformance.run.gateway.browsing import KeptBrowser, visit_of
from gateproof.conformance.run.gateway.own_instance import OwnInstance
from gateproof.conformance.run.gateway.recording_control import RecordingControl
from gateproof.conformance.run.gateway.screenshots import Screenshots
from gateproof.conformance.run.prepare.capabilities import makes_projects
from gateproof.conformance.run.prepare.further_origins import further_places
from gateproof.conformance.run.prepare.gateway import target_place
from gateproof.conformance.signin.factory import make as make_sign_in
from gateproof.conformance.signin.page_loop import PageSignIn
from gateproof.conformance.signin.sign_in_result import ClosableSignIn, SignInRequest, SignInResult
from gateproof.conformance.suite.claims import Unavailable
from gateproof.conformance.suite.parties import User
from gateproof.conformance.suite.time_limits import BREAKER_S, PAGE_S, SIGN_IN_S
from gateproof.conformance.targets.connect import connect_control
from gateproof.conformance.targets.control import Unsupported
from gateproof.conformance.wire.backend import Spelling
from gateproof.conformance.wire.client import Wire
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.secret import Secret
from gateproof.reports.redaction import Redactor

# Set in a process that is one of several workers.
_WORKER = "PYTEST_XDIST_WORKER"


class GatewayBench(SendingBench):
    """Keeps state over all checks of a worker; each check gets an empty record and a new keyring."""

    context: GatewayContext

    def __init__(self, context: GatewayContext, *, beside: GatewayBench | None = None) -> None:
        """A bench for a target. `beside` is the bench whose checks use this one for a further instance.

        Then exchanges with that instance are recorded, and searched for secrets, by the bench `beside`.
        """
        super().__init__(context)
        self.context = context
        self._beside = beside
        if beside is not None:
            self.tracing = beside.tracing
        self._instance: OwnInstance | None = None
        target, merchant = context.target, context.merchant
        self.screenshots = Screenshots()
        self._admin = merchant.admin() if merchant is not None else None
        self.received = self._received()
        self._wire = Wire(
            (
                replace(target_place(target), pace=context.pace, tracing=self.tracing),
                *further_places(target.reach),
                *([merchant.place] if merchant is not None else []),
            ),
            timeout_s=target.limits.request_timeout_s,
            record=self._record,
        )
        self.costs: ControlCosts = beside.costs if beside is not None else ControlCosts()
        self._control = (
            RecordingControl(connect_control(target.control), self.received.meet_client, self.costs)
            if target.control is not None
            else None
        )
        self._clock = Clock(
            offset_s=context.clock_offset_s,
            control=self._control,
            merchant=self._admin,
            offered="control:advance_clock" in context.capabilities,
        )
        self._standing = WorkerState(
            shares_merchant=_WORKER in os.environ,
            merchant_failed_before=context.merchant_failed_at or float("-inf"),
            registrations=context.registrations,
            misplaced=MisplacedTokens(context.misplaced),
        )
        self._spelling = Spelling()
        self._pool = self._make_pool()
        self._sign_in = make_sign_in(
            target,
            send=self._send_page,
            may_visit=self._wire.may_reach,
            control=self._control,
            picturing=self.screenshots.picturing(lambda: self._keyring),
        )
        self.intercept = Kept(self._proxy_trust())
        self._keyring = self._fresh_keyring()
        self.gateway, self.world = self._fresh()

    def begin(self, check_id: str) -> None:
        """Starts a check: clears the record of the last one, except what has to be searched for secrets."""
        self.note_begin(check_id)
        self.received.begin(check_id)
        self.screenshots.begin(check_id)
        self.anew()

    def merchant_failed_at(self) -> float | None:
        """When a check last made the merchant fail towards the target; None if none did."""
        at = self._standing.merchant_failed_at
        return at if at > float("-inf") else None

    def registrations(self) -> int:
        """The number of usual registrations that the gateway has accepted in this process."""
        return self._standing.registrations - self.context.registrations

    def misplaced(self) -> list[str]:
        """Digests of the tokens that the suite sent in a URL or a cookie."""
        return self._standing.misplaced.digests()

    def anew(self) -> World:
        """Starts a new record; earlier exchanges are searched for secrets, but not shown."""
        self.received.meet_names(self._keyring.names)
        self.forget()
        self._keyring = self._fresh_keyring()
        self._pool.begin()
        self._wire.begin()
        self.gateway, self.world = self._fresh()
        return self.world

    def close_connections(self) -> None:
        """Closes all connections after a restart of the target: they belong to the old process."""
        self._wire.close_connections()

    def close(self) -> None:
        if self._instance is not None:
            self._instance.close()
        self.clean_up()
        if isinstance(self._sign_in, ClosableSignIn):
            self._sign_in.close()
        self.intercept.close()
        self._wire.close()
        if self._control is not None:
            self._control.close()
        if self._admin is not None:
            self._admin.close()

    def clean_up(self) -> None:
        """Deletes what the checks created in a target that keeps running."""
        if self.context.target.launch is None:
            with suppress(Unsupported):
                self._pool.clean_up()

    def whereabouts(self) -> Iterator[tuple[str, str]]:
        target, merchant = self.context.target, self.context.merchant
        yield "BASE_URL", target.base_url
        yield "CORE_URL", target.core_url
        if target.control is not None and target.control.url is not None:
            yield "CONTROL_URL", target.control.url
        if merchant is not None:
            yield "MERCHANT_URL", merchant.endpoints["issuer"]
        if target.reach.ca_file is not None:
            yield "CA_FILE", str(target.reach.ca_file)
        if self._instance is not None:
            yield "RESTARTED_BASE_URL", self._instance.target.base_url
            yield "RESTARTED_CORE_URL", self._instance.target.core_url

    def owns_steps(self) -> bool:
        """False after the gateway's clock was moved, if the merchant is no fake: its clock has not moved."""
        return self._admin is not None or not self._clock.offset_s

    def redactor(self) -> Redactor:
        return self._keyring.redactor()

    def survey(self) -> RunTotals:
        return self.received.survey()

    @property
    def keyring(self) -> Keyring:
        """The secrets and names of the check that is running."""
        return self._keyring

    def note(self, exchange: Exchange) -> None:
        """Records an exchange of the check with another instance."""
        self._record(exchange)

    def _record(self, exchange: Exchange) -> None:
        if self._beside is not None:
            self._beside.note(exchange)
            return
        super()._record(exchange)
        self.received.note(exchange)
        self._standing.misplaced.note(exchange)

    def _send_page(self, request: Request) -> Exchange:
        # A sign-in may wait for a merchant that is failing (VAULT-10).
        waits_s = SIGN_IN_S if time.monotonic() < self._standing.merchant_failed_at + BREAKER_S else 0.0
        return self._wire.send("browser", replace(request, longer_s=PAGE_S + waits_s))

    def _visit(self, url: str, redirect_uri: str, user: User, *, approve: bool) -> Visit:
        request = SignInRequest(authorization_url=url, redirect_uri=redirect_uri, user=user, approve=approve)
        landing = self._sign_in.sign_in(request)
        self._landed(landing)
        return visit_of(landing, request)

    def _landed(self, landing: SignInResult) -> None:
        """Searches the final URL for secrets if the redirect to it was not recorded as an exchange."""
        if landing.sent_to is not None and self.context.target.sign_in.kind != "forms":
            self.received.landed(landing.sent_to)

    def _new_browser(self) -> KeptBrowser:
        if not isinstance(self._sign_in, PageSignIn):
            raise Unavailable("sign-in:browser", "this sign-in method uses no browser of the harness")
        return KeptBrowser(self._sign_in, self._landed)

    def _proxy_trust(self) -> Trust | None:
        """The TLS files of a proxy in front of the merchant; None if the gateway trusts another CA."""
        context = self.context
        if context.merchant is None or context.merchant.ca_file not in {None, context.ca_file}:
            return None
        certificate, key = map(Path, context.service_certificate)
        return Trust(certificate=certificate, key=key, ca_file=Path(context.ca_file))

    def _make_pool(self) -> ProjectPool:
        context, merchant = self.context, self.context.merchant
        if self._control and self._admin and merchant and makes_projects(context.capabilities):
            return ControlledProjects(
                self._control,
                self._admin,
                merchant.endpoints,
                merchant.ca_file,
                context.run_id,
                may_reach=self._wire.may_reach,
                only_given_users=context.target.names_users or context.target.sign_in.kind == "manual",
            )
        return StaticProjects(context.target.projects, self._control)

    def _received(self) -> Received:
        context = self.context
        if self._beside is not None:
            self._beside.received.meet_target(context.target)
            return self._beside.received
        return Received(
            context.target,
            self._admin,
            minted_before=context.minted_before,
            most=MOST if context.campaign is None else MOST_IN_A_CAMPAIGN,
        )

    def _own_instance(self) -> OwnInstance:
        """The instance that this worker may kill; started on first use."""
        if self._instance is not None and self._instance.discarded:
            self._instance.close()
            self._instance = None
        if self._instance is None:
            self._instance = OwnInstance(self.context, partial(GatewayBench, beside=self))
        return self._instance

    def _fresh_keyring(self) -> Keyring:
        if self._beside is not None:
            return self._beside.keyring
        target = self.context.target
        secrets = [user.password for user in self.context.users]
        secrets += [client.secret for project in target.projects for client in project.proxy_clients]
        secrets += [target.control.token] if target.control is not None and target.control.token else []
        secrets += [Secret("target_header", value) for value in target.reach.headers.values()]
        return Keyring(secrets=secrets)

    def _fresh(self) -> tuple[Gateway, World]:
        context = self.context
        gateway = Gateway(
            base_url=context.target.base_url,
            core_url=context.target.core_url,
            wire=self._wire,
            keyring=self._keyring,
            sign_in=self._visit,
            spelling=self._spelling,
            new_browser=self._new_browser if isinstance(self._sign_in, PageSignIn) else None,
        )
        world = World(
            gateway=gateway,
            projects=Projects(pool=self._pool, keyring=self._keyring, control=self._control),
            users=context.users,
            extra_scopes=context.target.sign_in.extra_scopes,
            control=self._control,
            merchant=self._admin,
            merchant_api=context.merchant.endpoints["api_url"] if context.merchant is not None else None,
            merchant_ca_file=context.merchant.ca_file if context.merchant is not None else None,
            ca_file=context.ca_file,
            service_certificate=context.service_certificate,
            seen=self.exchanges,
            clock=self._clock,
            capabilities=context.capabilities,
            worker_state=self._standing,
            instance=self._own_instance,
            code_lifetime_s=context.target.limits.code_lifetime_s,
        )
        return gateway, world
