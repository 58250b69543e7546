"""The false statements (lies) of a hostile merchant."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class LieError(ValueError):
    """The lies are invalid; the text says why."""


@dataclass(kw_only=True, slots=True)
class Lies:
    """All lies of one merchant; an honest merchant has none.

    `discovery` replaces members of the discovery documents. `redirect_iss` is the `iss` of redirects; if it
    is empty, there is none. `sends_browsers_to` is an authorization endpoint to which browsers are redirected
    at once, with `parameters` in place of those of the request. `any_code_for` is a login for which the token
    endpoint accepts any code from any client. `id_token` and `userinfo` replace claims of every user.
    """

    discovery: Mapping[str, Any] = field(default_factory=dict)
    redirect_iss: str | None = None
    sends_browsers_to: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    any_code_for: str | None = None
    id_token: Mapping[str, Any] = field(default_factory=dict)
    userinfo: Mapping[str, Any] = field(default_factory=dict)

    def become(self, told: Mapping[str, Any]) -> None:
        """Replaces all lies; refuses unknown ones and values of a wrong type."""
        known = type(self).__dataclass_fields__
        for name, value in told.items():
            if name not in known:
                near = difflib.get_close_matches(name, list(known), n=1)
                raise LieError(f"unknown lie {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
            text = name in {"redirect_iss", "sends_browsers_to", "any_code_for"}
            if not isinstance(value, str if text else Mapping):
                raise LieError(f"{name}: expected {'a string' if text else 'an object'}")
        honest = type(self)()
        for name in known:
            setattr(self, name, told.get(name, getattr(honest, name)))
