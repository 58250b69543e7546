"""Gateways whose approve form repeats the request in hidden fields."""

from __future__ import annotations

import base64
import json
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
_ENCODED = "request"
# The answer to the form, where a field of it is believed.
Believing = Callable[[str, Answered, Gateway], Answered]


def request_in_the_form(*, encoded: bool = False, **believed: Believing) -> dict[str, Any]:
    """The form has client_id, redirect_uri and login; `believed` says what the value of one of them changes.

    If `encoded`, they are one field: an object in base64.
    """

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        if found := _TICKET.search(answered.body):
            fields = _fields(gateway, found[1], encoded=encoded)
            return replace(answered, body=_TICKET.sub(_with(fields), answered.body))
        if asked.path.endswith("/decision"):
            sent = parse_qs(asked.body.decode())
            if encoded:
                sent = {name: [text] for name, text in _decoded(sent.get(_ENCODED, [""])[0]).items()}
            for name, believing in believed.items():
                answered = believing(sent.get(name, [""])[0], answered, gateway)
        return answered

    return {"around": altering_answers(change)}


def _with(fields: bytes) -> Callable[[re.Match[bytes]], bytes]:
    return lambda ticket: ticket[0] + fields


def _decoded(text: str) -> dict[str, str]:
    try:
        found = json.loads(base64.b64decode(text))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _fields(gateway: Gateway, ticket: bytes, *, encoded: bool) -> bytes:
    sign_in = gateway.store.sign_ins.get(fingerprint(ticket.decode()))
    if sign_in is None:
        return b""
    values = {"client_id": sign_in.request.client_id, "redirect_uri": sign_in.request.redirect_uri}
    if sign_in.person is not None:
        values["login"] = sign_in.person.login_id
    if encoded:
        values = {_ENCODED: base64.b64encode(json.dumps(values).encode()).decode()}
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


def given_to_the_user(login: str, answered: Answered, gateway: Gateway) -> Answered:
    """The code is for this user, if the gateway knows one of this login."""
    sent = parse_qs(answered.header("location").partition("?")[2])
    record = gateway.store.codes.get(fingerprint(sent.get("code", [""])[0]))
    theirs = next((each for each in gateway.store.grants.values() if each.person.login_id == login), None)
    grant = gateway.store.grants.get(record.grant_id) if record is not None else None
    if grant is not None and theirs is not None:
        gateway.store.grants.change(grant.id, replace(grant, person=theirs.person, sub=theirs.sub))
    return answered
