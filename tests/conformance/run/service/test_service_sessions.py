"""Sessions with an MCP server are ended before the next check, with a token that the server still takes."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from gateproof.conformance.kit.service.world import USERS
from gateproof.conformance.run.service.sessions import OpenSessions
from gateproof.conformance.wire import jose, mcp
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.conformance.wire.keyring import Keyring
from gateproof.fakes.gateway.gateway import ScriptedGateway
from gateproof.fakes.gateway.keys import new_key, signed

URL = "https://service.example/mcp"


class Server:
    """Takes the tokens of one key, and answers everybody or nobody."""

    def __init__(self, gateway: ScriptedGateway) -> None:
        self.gateway, self.new = gateway, new_key("ES256")
        self.silent = False
        self.refused: set[str] = set()
        self.asked: list[Request] = []
        self.sessions = OpenSessions(SimpleNamespace(gateway=self.gateway))  # type: ignore[arg-type]

    def begins(self, name: str, token: str) -> None:
        headers = (("Content-Type", "application/json"), ("Mcp-Session-Id", name))
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": mcp.PROTOCOL}}).encode()
        asked = mcp.initialize(URL, (("Authorization", f"Bearer {token}"),))
        answer = Answer(status=200, headers=headers, body=body)
        self.sessions.note(Exchange(step="operation: initialize", request=asked, answer=answer))

    def send(self, step: str, request: Request) -> Exchange:
        self.asked.append(request)
        status = 401 if self.token(request) in self.refused else 204
        return Exchange(step=step, request=request, answer=None if self.silent else Answer(status=status))

    def end(self) -> list[Request]:
        before = len(self.asked)
        self.sessions.end(self.send, Keyring())
        return self.asked[before:]

    @staticmethod
    def token(request: Request) -> str:
        return dict(request.headers)["Authorization"].removeprefix("Bearer ")


@pytest.fixture
def server(scripted_gateway: ScriptedGateway) -> Server:
    return Server(scripted_gateway)


def told(request: Request) -> jose.Jwt:
    token = jose.read(Server.token(request))
    assert token is not None
    return token


def test_session_is_ended_once_with_its_own_token(server: Server) -> None:
    token = server.gateway.access_token(USERS[0])
    server.begins("one", token)

    (ending,) = server.end()

    assert (ending.method, ending.url, Server.token(ending)) == ("DELETE", URL, token)
    assert dict(ending.headers)["Mcp-Session-Id"] == "one"
    assert server.end() == []


def test_session_of_a_key_that_is_gone_is_ended_with_a_token_of_the_same_user(server: Server) -> None:
    """Nobody is made to look for the old key, and the session is not left behind."""
    server.begins("one", server.gateway.access_token(USERS[1], sub="sub_1"))
    server.gateway.core_keys[:] = [server.new]

    (ending,) = server.end()

    said = told(ending)
    assert (said.header["kid"], said.claims["sub"]) == (server.new.kid, "sub_1")
    assert server.gateway.user_of(Server.token(ending)) == USERS[1]
    assert dict(ending.headers)["Mcp-Session-Id"] == "one"


def test_session_whose_token_is_refused_by_now_is_ended_with_another(server: Server) -> None:
    token = server.gateway.access_token(USERS[0], sub="sub_1")
    server.begins("one", token)
    server.refused.add(token)

    first, second = server.end()

    assert Server.token(first) == token != Server.token(second)
    assert told(second).claims["sub"] == "sub_1"


def test_session_that_was_begun_with_no_users_token_is_not_ended_with_a_good_one(server: Server) -> None:
    """The server would learn of a user whom the next check takes for new to it."""
    server.begins("one", "no-token-at-all")
    server.begins("two", signed(server.gateway.claims(USERS[0]), server.new))

    assert server.end() == []


@pytest.mark.parametrize("silent", [True, False])
def test_server_that_never_answers_is_not_told_of_each(server: Server, silent: bool) -> None:
    server.silent = silent
    for name in range(9):
        server.begins(f"session-{name}", server.gateway.access_token(USERS[0]))

    assert len(server.end()) == (3 if silent else 9)
