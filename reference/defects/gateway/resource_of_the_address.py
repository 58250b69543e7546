"""Gateways that do not compare the Resource of an address with the one for which a sign-in was begun."""

from __future__ import annotations

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import sign_in
from gateproof.reference.gateway.records import Resource


def any_callback(page: Resource, begun: Resource, signed_in: bool) -> Resource | None:
    """Any callback continues the sign-in; the merchant is that of the address."""
    return sign_in.resource_of_the_page(page, begun, signed_in) if signed_in else begun


def where_the_form_was_sent(page: Resource, begun: Resource, signed_in: bool) -> Resource | None:
    """A decision counts for the Resource of the address to which the form was sent."""
    return page if signed_in else sign_in.resource_of_the_page(page, begun, signed_in)


DEFECTS = (
    defect(
        "callback-of-any-resource (AUTHZ-29): A sign-in that was begun for one Resource can be completed at "
        "the callback of another one, with a code of the other merchant.",
        resource_of_the_page=any_callback,
    ),
    defect(
        "decision-at-any-resource (AUTHZ-22): A decision counts for the Resource in the address "
        "of the form, whatever Resource the user signed in for.",
        resource_of_the_page=where_the_form_was_sent,
    ),
)
