"""The results of rules that failed in a check of another rule."""

from __future__ import annotations

AS_A_STEP = "as_a_step"


def as_a_step(rule: str) -> str:
    """The ID under which a failed step of this rule is reported, in whichever check it failed."""
    return f"{rule}/{AS_A_STEP}"


_PRECONDITION = "a precondition does not hold: "


def unmet(said: str, owner: str = "") -> str:
    """The message of a check whose precondition does not hold; `owner` is the rule whose step failed."""
    return f"{_PRECONDITION}{said}" + (_blamed(owner) if owner else "")


def claim_of(message: str, owner: str) -> str:
    """The text that `unmet` got."""
    return message.removeprefix(_PRECONDITION).removesuffix(_blamed(owner))


def _blamed(rule: str) -> str:
    return f"; this is a failure of {rule}"


def is_a_step(check_id: str) -> bool:
    """True for an ID that `as_a_step` made."""
    return check_id.endswith(f"/{AS_A_STEP}")
