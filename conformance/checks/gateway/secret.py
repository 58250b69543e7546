"""Who may never see which credential: every byte that the wrong side received is searched for it."""

from __future__ import annotations

from conformance.check import check
from conformance.claims import expect, require
from conformance.run.received import Survey


@check("SECRET-01", whole_run=True)
def merchant_refresh_token_was_nowhere_in_the_run(survey: Survey) -> None:
    """No answer of the whole run, to anybody, had a merchant refresh token in it."""
    _clean(survey, "merchant_refresh_token")


@check("SECRET-02", whole_run=True)
def merchant_access_token_was_in_redemptions_alone(survey: Survey) -> None:
    """No answer of the whole run but a successful redemption had a merchant access token in it."""
    require.that(survey.redeemed > 0, "the run", expected="a redemption that succeeded", got="none")
    _clean(survey, "merchant_access_token")


@check("SECRET-03", whole_run=True)
def proxy_token_was_in_its_own_answer_alone(survey: Survey) -> None:
    """No answer of the whole run but the issuing one had a Proxy token in it."""
    _clean(survey, "proxy_token")


@check("SECRET-04", whole_run=True)
def proxy_client_stayed_in_the_backend(survey: Survey) -> None:
    """No answer of the whole run had a Proxy client's secret in it, nor one to an agent or browser its ID."""
    known = survey.known.get("proxy_token", 0)
    require.that(known > 0, "the run", expected="a Proxy client that was used", got="none")
    _clean(survey, "proxy_client_secret", "proxy_client_id")


def _clean(survey: Survey, *kinds: str) -> None:
    known = sum(survey.known.get(kind, 0) for kind in kinds)
    what = kinds[0].replace("_", " ")
    require.that(known > 0 and survey.answers > 0, "the run", expected=f"a {what} to look for", got="none")
    found = [leak for leak in survey.leaks if leak.kind in kinds]
    places = "; ".join(dict.fromkeys(f"{leak.check}: {leak.said()}" for leak in found[:5]))

    expect.that(
        not found,
        f"{survey.answers} answers of the run, searched for {known} secrets",
        expected=f"no {what} in any of them",
        got=places,
    )
