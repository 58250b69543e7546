"""The model allows what the specification leaves open, and nothing that it settles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateproof.conformance.histories.model import in_words, judge
from gateproof.conformance.histories.observation import MerchantCall, MerchantToken, Seen
from gateproof.conformance.histories.state import Judged, State, TargetFacts
from gateproof.conformance.histories.steps import (
    Approve,
    AskProxyToken,
    Authorize,
    Exchange,
    Forward,
    History,
    Merchant,
    NewProject,
    Redeem,
    Register,
    Revoke,
    Step,
)

LIFE_S, SIGNED_IN, LATER = 60.0, 1000.0, 1070.0
GOOD = MerchantToken(owned=True, until=5000.0)


def seen(came: str, at: float = SIGNED_IN, *heard: MerchantCall, token: MerchantToken | None = None) -> Seen:
    return Seen(came=came, said=came, at=at, heard=heard, until=at + 3600, token=token)


def merchant(grant: str, result: str, at: float = SIGNED_IN) -> MerchantCall:
    return MerchantCall(grant=grant, result=result, project=0, user=0, at=at)  # type: ignore[arg-type]


def after(*taken: tuple[Step, Seen], life_s: float = LIFE_S) -> State:
    """The state after steps that all came to what they may."""
    state = State(facts=TargetFacts(hears=True, life_s=life_s))
    for step, what in taken:
        judged = judge(state, step, what)
        assert judged.state is not None, (step, in_words(judged.allowed))
        state = judged.state
    return state


def signed_in(*heard: MerchantCall, policy: str = "approve") -> list[tuple[Step, Seen]]:
    accepted = heard or (merchant("provisioning", "accepted"),)
    return [
        (NewProject(policy=policy), seen("done")),  # type: ignore[arg-type]
        (Register(), seen("201")),
        (Authorize(agent=0, project=0), seen("code", SIGNED_IN, *accepted)),
        (Exchange(code=0), seen("tokens")),
        (AskProxyToken(client=0), seen("Proxy token")),
    ]


REDEEM = Redeem(code=0, token=0)


def redeemed(state: State, came: str, at: float, *heard: MerchantCall, token: MerchantToken = GOOD) -> Judged:
    return judge(state, REDEEM, seen(came, at, *heard, token=token if came == "200" else None))


def allowed(state: State, step: Step, at: float = SIGNED_IN, *heard: MerchantCall) -> set[str]:
    return set(judge(state, step, seen("nothing like it", at, *heard)).allowed)


def test_good_token_is_redeemed_and_nothing_else() -> None:
    assert allowed(after(*signed_in()), REDEEM, SIGNED_IN) == {"200"}


def test_merchant_token_of_somebody_else_or_expired_is_none() -> None:
    state = after(*signed_in())
    assert redeemed(state, "200", SIGNED_IN).state is not None
    for wrong in (replace(GOOD, owned=False), replace(GOOD, until=SIGNED_IN - 10)):
        assert redeemed(state, "200", SIGNED_IN, token=wrong).state is None


def test_rejected_sign_in_leaves_nothing() -> None:
    state = after(*signed_in(merchant("provisioning", "rejected")))
    assert allowed(state, REDEEM) == {"404"}


def test_sign_in_while_the_merchant_accepts_leaves_a_token_though_nobody_heard_of_it() -> None:
    unheard = [*signed_in()[:2], (Authorize(agent=0, project=0), seen("code")), *signed_in()[3:]]
    assert allowed(after(*unheard), REDEEM) == {"200"}


def test_rejected_sign_in_may_leave_an_older_token_or_take_it_away() -> None:
    again = (
        Authorize(agent=0, project=0),
        seen("code", SIGNED_IN + 1, merchant("provisioning", "rejected")),
    )
    assert allowed(after(*signed_in(), again), REDEEM) == {"200", "404"}


def test_expired_token_has_to_be_refreshed() -> None:
    state = after(*signed_in())
    accepted = merchant("refresh", "accepted", LATER)
    assert redeemed(state, "200", LATER, accepted).state is not None
    expired = replace(GOOD, until=SIGNED_IN + LIFE_S)
    assert redeemed(state, "200", LATER, token=expired).state is None
    for wrong in ("404", "410", "5xx"):
        assert redeemed(state, wrong, LATER).state is None


def test_rejected_refresh_is_410_for_good_until_the_user_signs_in() -> None:
    rejected = merchant("refresh", "rejected", LATER)
    state = after(*signed_in(), (REDEEM, seen("410", LATER, rejected)))
    assert allowed(state, REDEEM, LATER) == {"410"}
    mended = (
        Authorize(agent=0, project=0),
        seen("code", LATER, merchant("provisioning", "accepted", LATER)),
    )
    assert redeemed(after(*signed_in(), (REDEEM, seen("410", LATER, rejected)), mended), "200", LATER).state


def test_user_of_another_agent_may_share_a_mended_token_or_not() -> None:
    """Agents of one user share a merchant token or have one each: what came before tells which."""
    history = [
        *signed_in(),
        (REDEEM, seen("410", LATER, merchant("refresh", "rejected", LATER))),
        (Register(), seen("201", LATER)),
        (
            Authorize(agent=1, project=0),
            seen("code", LATER, merchant("provisioning", "accepted", LATER)),
        ),
    ]
    state = after(*history)
    assert allowed(state, REDEEM, LATER) == {"200", "410"}
    shared = after(*history, (REDEEM, seen("200", LATER, token=GOOD)))
    assert allowed(shared, REDEEM, LATER) == {"200"}
    apart = after(*history, (REDEEM, seen("410", LATER)))
    assert allowed(apart, REDEEM, LATER) == {"410"}


def test_merchant_in_trouble_is_no_rejection() -> None:
    state = after(*signed_in())
    failed = merchant("refresh", "failed", LATER)
    assert redeemed(state, "5xx", LATER, failed).state is not None
    for wrong in ("404", "410"):
        assert redeemed(state, wrong, LATER, failed).state is None


def test_refresh_token_that_the_merchant_replaced_is_the_gateways_fault_unless_the_answer_was_lost() -> None:
    reused = merchant("refresh", "reused", LATER)
    assert redeemed(after(*signed_in()), "410", LATER, reused).state is None
    lost = (REDEEM, seen("5xx", LATER, merchant("refresh", "lost", LATER)))
    assert redeemed(after(*signed_in(), lost), "410", LATER, reused).state is not None


def test_without_a_refresh_token_the_end_is_410() -> None:
    none = Merchant(project=0, manner="gives no refresh token")
    history = signed_in()
    state = after(*history[:2], (none, seen("done")), *history[2:])
    assert allowed(state, REDEEM, LATER) == {"410"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ([(Revoke(client=0), seen("done"))], {"401"}),
        ([(Exchange(code=0), seen("invalid_grant"))], {"200", "4xx"}),
    ],
)
def test_credentials_decide_first(more: list[tuple[Step, Seen]], words: set[str]) -> None:
    assert allowed(after(*signed_in(), *more), REDEEM) == words


def test_tokens_that_are_over_are_refused_and_nobody_says_how() -> None:
    assert allowed(after(*signed_in(), life_s=36_000.0), REDEEM, SIGNED_IN + 4000) == {"4xx"}


def test_tokens_may_be_taken_for_five_minutes_after_their_end() -> None:
    assert allowed(after(*signed_in(), life_s=36_000.0), REDEEM, SIGNED_IN + 3900) == {"200", "4xx"}


def test_pending_agent_gets_no_code_until_it_is_approved() -> None:
    held: History = (NewProject(policy="hold"), Register())
    state = after((held[0], seen("done")), (held[1], seen("201")))
    authorize = Authorize(agent=0, project=0)
    assert allowed(state, authorize) == {"no code"}
    state = after((held[0], seen("done")), (held[1], seen("201")), (authorize, seen("no code")))
    assert (0, 0) in state.pending
    assert allowed(judge(state, Approve(agent=0, project=0), seen("done")).state or state, authorize) == {
        "code"
    }


def test_whoever_declines_gives_no_code_unless_nobody_asked() -> None:
    state = after(*signed_in())
    declines = Authorize(agent=0, project=0, approves=False)
    assert judge(state, declines, seen("no code")).state is not None
    assert judge(state, declines, seen("code")).state is None
    assert judge(state, declines, seen("code unasked")).state is not None


def test_code_that_a_clock_went_past_may_be_over() -> None:
    waits = signed_in()[:3]
    assert allowed(after(*waits), Exchange(code=0)) == {"tokens"}
    aged = after(*waits, (Forward(past="merchant token"), seen("done", LATER)))
    for came in ("tokens", "invalid_grant"):
        assert judge(aged, Exchange(code=0), seen(came, LATER)).state is not None


def test_code_may_be_over_when_it_has_outlived_its_time_on_a_slow_walk() -> None:
    state = after(
        *signed_in()[:2], (Authorize(agent=0, project=0), replace(seen("code"), until=SIGNED_IN + 10))
    )
    early, late = (seen("invalid_grant", SIGNED_IN + passed) for passed in (9, 11))
    assert judge(state, Exchange(code=0), early).state is None
    assert judge(state, Exchange(code=0), late).state is not None
    assert judge(state, Exchange(code=0), seen("tokens", SIGNED_IN + 11)).state is not None


def test_code_may_be_over_once_a_newer_one_of_its_user_came() -> None:
    waits = signed_in()[:3]
    again = (Authorize(agent=0, project=0), seen("code"))
    both = after(*waits, again)
    for came in ("tokens", "invalid_grant"):
        assert judge(both, Exchange(code=0), seen(came)).state is not None
    assert allowed(both, Exchange(code=1)) == {"tokens"}
    declined = after(*waits, (Authorize(agent=0, project=0, approves=False), seen("no code")))
    assert allowed(declined, Exchange(code=0)) == {"tokens"}


def test_agent_may_belong_to_one_project() -> None:
    two = [(NewProject(policy="approve"), seen("done")), *signed_in()]
    assert allowed(after(*two), Authorize(agent=0, project=1)) == {"code", "no code"}
    assert allowed(after(*two), Authorize(agent=0, project=0)) == {"code"}
    refused = (Authorize(agent=0, project=1), seen("no code"))
    assert allowed(after(*two, refused), REDEEM) == {"200"}


def test_reused_code_may_end_all_that_this_agent_has_for_this_user() -> None:
    """A gateway may take both sign-ins for one authorization; other users and agents are unaffected."""
    provisioned = merchant("provisioning", "accepted")
    second = [
        (Authorize(agent=0, project=0), seen("code", SIGNED_IN, provisioned)),
        (Exchange(code=1), seen("tokens")),
        (Authorize(agent=0, project=0), seen("code", SIGNED_IN, provisioned)),
        (Authorize(agent=0, project=0, user=1), seen("code", SIGNED_IN, replace(provisioned, user=1))),
        (Exchange(code=3), seen("tokens")),
    ]
    before = after(*signed_in(), *second)
    reused = after(*signed_in(), *second, (Exchange(code=0), seen("invalid_grant")))

    assert allowed(before, Redeem(code=1, token=0)) == {"200"}
    assert allowed(reused, Redeem(code=1, token=0)) == {"200", "401"}
    for came in ("tokens", "invalid_grant"):
        assert judge(reused, Exchange(code=2), seen(came)).state is not None
    assert allowed(reused, Redeem(code=3, token=0)) == {"200"}
