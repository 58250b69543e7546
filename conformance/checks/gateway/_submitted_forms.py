"""Forms of a sign-in that a browser submits in another way than its user does."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.checks.gateway._visits import approves
from gateproof.conformance.kit.gateway.gateway import BeyondReach, Browsing, Gateway, Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut, require
from gateproof.conformance.suite.parties import Attempt, User


def form_count(gateway: Gateway, world: World) -> int:
    """How many forms an authorization has, for an agent that is new to the user."""
    acts = approves(gateway, world, gateway.browser(), world.agents.new(), world.users[0]).acts or 0
    require.that(acts > 0, "authorization", expected="a form in the flow", got="none")
    return acts


def with_changes(
    gateway: Gateway,
    act: int,
    attempt: Attempt,
    changes: Mapping[str, str],
    what: str,
    *,
    in_address: bool = False,
    goes_on: bool = False,
) -> Visit:
    """The visit of a browser that sends the form with this number with other hidden fields, or elsewhere."""
    url = gateway.authorization_url(attempt)
    try:
        visit = gateway.browser().submit_changed(
            act, url, attempt.user, changes, in_address=in_address, goes_on=goes_on
        )
    except BeyondReach as end:
        visit = end.visit
    return _there(gateway, visit, what)


def sent_from_another_browser(
    gateway: Gateway,
    act: int,
    attempt: Attempt,
    what: str,
    *,
    first: Browsing | None = None,
    to: Browsing | None = None,
) -> Visit:
    """The visit of another browser that sends the form with this number, which the `first` was served."""
    url = gateway.authorization_url(attempt)
    try:
        visit = (first or gateway.browser()).act_in_other_browser(act, url, attempt.user, to=to)
    except BeyondReach as end:
        visit = end.visit
    return _there(gateway, visit, what)


def users_with_two_passwords(world: World) -> tuple[User, User]:
    """Two users; whoever types one's password has not signed in as the other."""
    user, other = world.users[:2]
    if user.password.reveal() == other.password.reveal():
        raise LeftOut("both users have the same password")
    return user, other


def _there(gateway: Gateway, visit: Visit | None, what: str) -> Visit:
    require.that(visit is not None, what, expected="that form", got="fewer forms than before")
    assert visit is not None  # noqa: S101 - required above
    return gateway.record_secrets(visit)
