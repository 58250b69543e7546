"""Gateways whose approve form repeats the request in hidden fields."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import parse_qs

from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.ids import fingerprint

_TICKET = re.compile(rb'<input type="hidden" name="ticket" value="([^"]+)">')
# The answer to the form, where a field of it is believed.
Believing = Callable[[str, Answered, Gateway], Answered]


def request_in_the_form(**believed: Believing) -> dict[str, Any]:
    """The form has client_id and redirect_uri; `believed` says what the value of one of them changes."""

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        if found := _TICKET.search(answered.body):
            return replace(answered, body=_TICKET.sub(_with(_fields(gateway, found[1])), answered.body))
        if asked.path.endswith("/decision"):
            sent = parse_qs(asked.body.decode())
            for name, believing in believed.items():
                answered = believing(sent.get(name, [""])[0], answered, gateway)
        return answered

    return {"around": altering_answers(change)}


def _with(fields: bytes) -> Callable[[re.Match[bytes]], bytes]:
    return lambda ticket: ticket[0] + fields


def _fields(gateway: Gateway, ticket: bytes) -> bytes:
    sign_in = gateway.store.sign_ins.get(fingerprint(ticket.decode()))
    if sign_in is None:
        return b""
    values = {"client_id": sign_in.request.client_id, "redirect_uri": sign_in.request.redirect_uri}
    fields = (f'<input type="hidden" name="{name}" value="{escape(text)}">' for name, text in values.items())
    return "".join(fields).encode()


def sent_to_the_uri(uri: str, answered: Answered, _gateway: Gateway) -> Answered:
    """The browser is sent to this redirect URI."""
    query = answered.header("location").partition("?")[2]
    headers = tuple(
        (name, f"{uri}?{query}" if name == "location" and uri else value) for name, value in answered.headers
    )
    return replace(answered, headers=headers)


def given_to_the_client(client_id: str, answered: Answered, gateway: Gateway) -> Answered:
    """The code is this agent's."""
    sent = parse_qs(answered.header("location").partition("?")[2])
    key = fingerprint(sent.get("code", [""])[0])
    record = gateway.store.codes.get(key)
    if record is not None and client_id in gateway.store.agents:
        gateway.store.codes.change(key, replace(record, agent_id=client_id))
    return answered
