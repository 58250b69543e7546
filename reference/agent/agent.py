"""One run of the agent: call the service, get authorized if it requires that, and call again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gateproof.reference.agent.callback import Callback
from gateproof.reference.agent.policies import Policies
from gateproof.reference.agent.policy.authorization import Query
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.exchange import ExchangeFacts
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.state import State
from gateproof.reference.agent.wire import Answer, Failed, Outgoing

Tokens = dict[str, Any]


class Agent:
    """Reads the user's orders."""

    def __init__(
        self,
        settings: Settings,
        state: State,
        ask: Callable[[Outgoing], Answer],
        say: Callable[[str], None],
        policies: Policies | None = None,
    ) -> None:
        self._settings = settings
        self._state = state
        self._ask = ask
        self._say = say
        self._policies = policies or Policies()
        self._query: Query = {}

    def run(self) -> list[Any]:
        """The orders; raises Failed if the service refuses fresh tokens, too."""
        policies, service = self._policies, self._settings.service_url
        tokens = self._state.tokens(service) if policies.keeps_tokens else None
        answer, fresh = self._operate(tokens), 0
        while answer.status == 401 and fresh < policies.fresh_tokens:
            endpoints = self._discovered(answer)
            tokens = self._renewed(endpoints, tokens) or self._authorized(endpoints)
            fresh += 1
            answer = self._operate(tokens)
        orders = policies.orders_in(answer)
        if orders is None:
            self._state.forget_tokens(service)
            why = "refuses a fresh token" if answer.status == 401 and fresh else "does not serve the orders"
            raise Failed(f"the service {why}: status {answer.status}")
        return orders

    def _operate(self, tokens: Tokens | None) -> Answer:
        self._tell("operation", {"tokens": tokens or {}})
        return self._policies.operate(self._settings, self._ask, self._policies.bearer(tokens))

    def _discovered(self, challenged: Answer) -> Endpoints:
        """Follows the challenge to the metadata, and these to the gateway's discovery document."""
        policies, service = self._policies, self._settings.service_url
        url = policies.metadata_url(challenged.headers_named("www-authenticate"), service)
        metadata = self._document("the service's metadata", url)
        if not policies.is_about(metadata, service):
            raise Failed("the metadata are about another service")
        server = policies.authorization_server(metadata)
        document = self._document("the gateway's discovery document", policies.discovery_url(server))
        return policies.endpoints(server, document)

    def _document(self, what: str, url: str) -> dict[str, Any]:
        answer = self._ask(Outgoing(method="GET", url=url, headers={"Accept": "application/json"}))
        document = answer.document()
        if answer.status != 200 or not document:
            raise Failed(f"{what} cannot be read: status {answer.status}")
        return document

    def _client(self, endpoints: Endpoints) -> Client:
        """The client of this install, which is registered once and stored."""
        policies, owner = self._policies, self._policies.client_of(endpoints)
        kept = self._state.client(owner) if policies.keeps_client else None
        if kept is not None:
            return kept
        record = policies.registration_record(self._settings)
        client = policies.registered(self._ask(policies.registration_request(endpoints, record)))
        self._tell("registration", {"client": client})
        self._state.keep_client(owner, client)
        return client

    def _renewed(self, endpoints: Endpoints, tokens: Tokens | None) -> Tokens | None:
        if tokens is None:
            return None
        renewed = self._policies.renewed(self._ask, endpoints, self._client(endpoints), tokens)
        return self._kept(renewed) if renewed is not None else None

    def _authorized(self, endpoints: Endpoints) -> Tokens:
        """Fresh tokens by an authorization of the user; starts over a few times if a code is refused."""
        policies, client = self._policies, self._client(endpoints)
        answer = Answer(status=0)
        came = partial(self._tell, "redirect")
        log, page, headers = lambda path: came({"path": path}), policies.page, policies.page_headers
        with Callback(self._settings, log, page, headers) as callback:
            if policies.listens_first:
                callback.listen()
            for _ in range(policies.exchanges_refused):
                facts = self._consented(endpoints, client, callback)
                answer = self._exchanged(policies.token_request(facts))
                self._tell("exchange", {"facts": facts, "tokens": answer.document(), "answer": answer})
                tokens = policies.tokens_in(answer)
                if tokens is not None:
                    return self._kept(tokens)
                if not policies.starts_over(answer):
                    break
        raise Failed(f"the gateway gives no token: status {answer.status}")

    def _exchanged(self, asked: Outgoing) -> Answer:
        answer = self._ask(asked)
        again = self._policies.sent_again(asked, answer)
        return self._ask(again) if again is not None else answer

    def _consented(self, endpoints: Endpoints, client: Client, callback: Callback) -> ExchangeFacts:
        """A code from the user's browser, with everything for its exchange."""
        policies = self._policies
        for _ in range(policies.authorizations_without_code):
            attempt = policies.fresh_attempt(policies.octets)
            parameters = policies.authorization_parameters(self._settings, client, attempt)
            url = policies.authorization_url(endpoints, parameters)
            if not policies.may_open(url):
                raise Failed("the address of the authorization is not https, and is not opened")
            self._tell("authorization", {"url": url, "attempt": attempt})
            is_done = policies.open_browser(self._settings.browser, url, self._say)
            callback.listen()
            comes = partial(callback.next, is_done, policies.user_patience_s, policies.after_browser_s)
            query = comes()
            while query is not None and not policies.is_ours(query, attempt):
                if not policies.waits_for_ours:
                    raise Failed("the redirect does not answer this agent's request")
                query = comes()
            if query is not None:
                return ExchangeFacts(
                    settings=self._settings,
                    endpoints=endpoints,
                    client=client,
                    attempt=attempt,
                    code=policies.code_in(query, endpoints),
                    query=query,
                )
        raise Failed(
            "received no code: sign in and approve; if an operator has to approve the agent, try again later"
        )

    def _kept(self, tokens: Tokens) -> Tokens:
        if self._policies.keeps_tokens:
            self._state.keep_tokens(self._settings.service_url, self._policies.worth_keeping(tokens))
        return tokens

    def _tell(self, step: str, facts: Mapping[str, Any]) -> None:
        line = self._policies.told(step, facts)
        if line is not None:
            self._say(line)
