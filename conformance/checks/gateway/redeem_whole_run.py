"""What all redemptions of a run have in common."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.received import RunTotals, replayed_by
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require

SHOWN = 4


@check("REDEEM-01", whole_run=True)
def every_200_of_the_run_had_a_token(survey: RunTotals) -> None:
    """Each redemption of the run that was answered with 200 and a JSON object gave an access_token."""
    require.that(survey.given > 0, "the run", expected="a redemption that gave a token", got="none")
    replayed_by(survey.empty)
    expect.that(
        not survey.empty,
        f"redemptions of the run that were answered with 200, of which {survey.given} gave a token",
        expected="access_token, a non-empty string, in each",
        got="one without it in " + ", ".join(dict.fromkeys(survey.empty[:SHOWN])),
    )
