"""Every decision of the agent in one value. A defect replaces one of them."""

from __future__ import annotations

import secrets
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateproof.reference.agent.browser import open_browser
from gateproof.reference.agent.callback import AFTER_BROWSER_S, CLOSE
from gateproof.reference.agent.policy import authorization, discovery, exchange, operation, registration
from gateproof.reference.agent.policy.authorization import Attempt, Octets, Query
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing, Patience, followed, may_ask, trusted


@dataclass(frozen=True, kw_only=True)
class Policies:
    """The correct decisions, one for each field."""

    # Discovery
    metadata_url: Callable[[Sequence[str], str], str] = discovery.metadata_url
    is_about: Callable[[Mapping[str, Any], str], bool] = discovery.is_about
    authorization_server: Callable[[Mapping[str, Any]], str] = discovery.authorization_server
    discovery_url: Callable[[str], str] = discovery.discovery_url
    endpoints: Callable[[str, Mapping[str, Any]], Endpoints] = discovery.endpoints

    # Registration
    registration_record: Callable[[Settings], dict[str, Any]] = registration.registration_record
    registration_request: Callable[[Endpoints, dict[str, Any]], Outgoing] = registration.registration_request
    registered: Callable[[Answer], Client] = registration.registered
    # An install has one client for each authorization server.
    client_of: Callable[[Endpoints], str] = lambda endpoints: endpoints.authorization_server
    keeps_client: bool = True

    # Authorization
    octets: Octets = secrets.token_bytes
    fresh_attempt: Callable[[Octets], Attempt] = authorization.fresh_attempt
    authorization_parameters: Callable[[Settings, Client, Attempt], dict[str, str]] = (
        authorization.authorization_parameters
    )
    authorization_url: Callable[[Endpoints, Mapping[str, str]], str] = authorization.authorization_url
    may_open: Callable[[str], bool] = authorization.may_open
    open_browser: Callable[[str | None, str, Callable[[str], None]], Callable[[], bool]] = open_browser
    # Whether the callback listens before the browser is opened, or only after that.
    listens_first: bool = True
    is_ours: Callable[[Query, Attempt], bool] = authorization.is_ours
    code_in: Callable[[Query, Endpoints], str] = authorization.code_in
    # Whether a redirect that is not ours is ignored, or ends the run.
    waits_for_ours: bool = False
    user_patience_s: float = 20
    # How long to wait for the redirect once the browser command has ended.
    after_browser_s: float = AFTER_BROWSER_S
    # How many authorizations may end without a code: if the agent is held or declined, the run ends.
    authorizations_without_code: int = 1

    # Exchange
    token_request: Callable[[exchange.ExchangeFacts], Outgoing] = exchange.token_request
    tokens_in: Callable[[Answer], dict[str, Any] | None] = exchange.tokens_in
    starts_over: Callable[[Answer], bool] = exchange.starts_over
    # The request to repeat after a refused code: none.
    sent_again: Callable[[Outgoing, Answer], Outgoing | None] = lambda _asked, _answer: None
    exchanges_refused: int = 3

    # The operation
    operate: Callable[[Settings, operation.Ask, Mapping[str, str]], Answer] = operation.operate
    bearer: Callable[[operation.Tokens | None], dict[str, str]] = operation.bearer
    orders_in: Callable[[Answer], list[Any] | None] = operation.orders_in
    worth_keeping: Callable[[operation.Tokens], dict[str, Any]] = operation.worth_keeping
    keeps_tokens: bool = True
    # How a refused stored token is renewed, before the user is asked: not at all.
    renewed: Callable[[operation.Ask, Endpoints, Client, operation.Tokens], dict[str, Any] | None] = (
        lambda _ask, _endpoints, _client, _tokens: None
    )
    # How many fresh tokens a service may refuse before the run fails.
    fresh_tokens: int = 2
    exit_code_of_failure: int = 1

    # Output
    report: Callable[[Sequence[Any]], str] = operation.report
    told: Callable[[str, Mapping[str, Any]], str | None] = lambda _step, _facts: None
    # The page after the redirect; None closes the connection without an answer.
    page: Callable[[], str | None] = lambda: CLOSE
    # More headers of that page: none.
    page_headers: Callable[[], Mapping[str, str]] = dict

    # Requests
    patience: Patience = field(default_factory=Patience)
    may_ask: Callable[[str], bool] = may_ask
    followed: Callable[[Outgoing, Answer], Outgoing | None] = followed
    trusted: Callable[[str, ssl.SSLContext], ssl.SSLContext] = trusted
    around: Callable[[Callable[[], int]], int] = lambda run: run()
