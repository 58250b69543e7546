"""What the hidden fields and addresses of forms say decides nothing: anybody can change it."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.checks.gateway._submitted_forms import (
    form_count,
    users_with_two_passwords,
    with_changes,
)
from gateproof.conformance.checks.gateway._tokens import sub_of
from gateproof.conformance.checks.gateway._visits import was_answered
from gateproof.conformance.checks.gateway.authz_pending import require_held
from gateproof.conformance.kit.gateway.approvals import require_approved
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require

PLACES = {"hidden-fields": False, "addresses": True}


@check("AUTHZ-06", needs=["sign-in:browser"], cases=PLACES)
def redirect_uri_in_a_form_is_not_believed(gateway: Gateway, world: World, case: bool) -> None:
    """If a form repeats the redirect URI, no browser is sent to another value there.

    It may be in a hidden field or in the form's address, as it is, percent-encoded or in base64. The request
    itself is right, and the user goes on after that form. A gateway may ignore such a value, or refuse it.
    """
    other = f"{CALLBACK}/gateproof-unregistered"
    left_out: list[LeftOut] = []
    acts = form_count(gateway, world)
    for act in range(1, acts + 1):
        what, attempt = f"form {act} of {acts}, with another redirect URI in it", world.attempt()
        changes = {attempt.parameters["redirect_uri"]: other}
        try:
            visit = with_changes(gateway, act, attempt, changes, what, in_address=case, goes_on=True)
        except LeftOut as nothing:
            left_out.append(nothing)
            continue
        was_answered(visit, what)
        expect.that(
            not (visit.sent_to or "").startswith(other),
            what,
            expected="a browser that is sent to the registered redirect URI, or nowhere",
            got="one that is sent to the other",
        )
    if len(left_out) == acts:
        raise left_out[0]


@check("AUTHZ-20", needs=["sign-in:browser", "users:2"])
def user_in_a_hidden_field_is_not_believed(gateway: Gateway, world: World) -> None:
    """If the last form repeats the user, another user's name there gives no code of that user."""
    user, other = users_with_two_passwords(world)
    acts, agent = form_count(gateway, world), world.agents.new()
    own, theirs = (sub_of(world, world.grant(agent=agent, user=each)) for each in (user, other))
    require.that(own != theirs, "sub of the second user", expected="another than the first's", got="the same")
    attempt = world.attempt(user=user)
    what = "the last form, with another user in a hidden field"
    changes = {user.login: other.login, own: theirs}
    visit = with_changes(gateway, acts, attempt, changes, what)

    was_answered(visit, what)
    codes = [world.authorization_of(attempt, code) for code in visit.codes()]
    subs = [sub_of(world, world.grant_of(code, attempt)) for code in codes]
    expect.that(theirs not in subs, what, expected="no code of the other user", got="one")


@check("AUTHZ-07", needs=["control:approve_agent", "sign-in:browser"])
def client_id_in_a_hidden_field_is_not_believed(gateway: Gateway, world: World) -> None:
    """If the last form repeats the client ID in a hidden field, a Pending agent's there gets it no code.

    The request itself is one of an approved agent of the same Project.
    """
    resource = world.projects.holding_resource()
    twin, approved, held = (world.agents.new() for _ in range(3))
    for agent in (twin, approved, held):
        require_held(world, agent, resource)
    for agent in (twin, approved):
        world.projects.approve_agent(agent, resource)
    before = require_approved(world, twin, resource)
    attempt = world.attempt(approved, resource=resource)
    what = "the last form, with a Pending agent's client ID in a hidden field"
    changes = {approved.client_id: held.client_id}
    visit = with_changes(gateway, before.acts or 0, attempt, changes, what)

    other = world.attempt(held, resource=resource, verifier=attempt.verifier.reveal())
    for code in visit.codes():
        no_tokens(gateway.exchange(world.authorization_of(other, code)), "a code for a Pending agent")
    expect.that(True, what, expected="no code for the Pending agent", got="none")
