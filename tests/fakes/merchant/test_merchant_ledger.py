"""The ledger is bounded and says what it forgot."""

from __future__ import annotations

from gateproof.fakes.merchant.ledger import PAGE, Ledger
from gateproof.fakes.merchant.records import MintedToken, named_actors


def mint(ledger: Ledger, value: str, family: int = 1) -> MintedToken:
    return ledger.minted(
        kind="refresh_token",
        form="opaque",
        value=value,
        client_id="c",
        login="l",
        actor=(),
        family=family,
        lifetime_s=None,
    )


def test_forgotten_entries_are_counted() -> None:
    ledger = Ledger(wall=lambda: 0.0, limit=3)
    for number in range(5):
        ledger.belongs_to(ledger.received("token"), "c")
        mint(ledger, f"t{number}", family=number)
    assert ledger.dropped() == {"journal": 2, "tokens": 2}
    entries, lost = ledger.journal(client_id=None, after=0)
    assert ([entry.ordinal for entry in entries], lost) == ([3, 4, 5], 2)
    assert ledger.journal(client_id="c", after=3)[1] == 0
    assert [token.value for token in ledger.tokens(after=4)[0]] == ["t4"]
    assert ledger.find("t0") is None
    ledger.supersede(0, "refresh_token")
    ledger.revoke_family(0)


def test_what_one_client_forgot_is_not_lost_for_another() -> None:
    ledger = Ledger(wall=lambda: 0.0, limit=3)
    assert ledger.last_received == 0
    for client in ("old", "old", "new", "new", "new"):
        ledger.belongs_to(ledger.received("token"), client)
    entries, lost = ledger.journal(client_id="new", after=0)
    assert ([entry.ordinal for entry in entries], lost) == ([3, 4, 5], 0)
    assert ledger.last_received == 5
    assert ledger.journal(client_id="old", after=0) == ([], 2)
    assert ledger.journal(client_id="old", after=1) == ([], 1)
    assert ledger.journal(client_id="old", after=2) == ([], 0)


def test_pages_are_bounded_and_reach_the_end() -> None:
    ledger = Ledger(wall=lambda: 0.0)
    for _ in range(PAGE + 1):
        ledger.received("orders")
    first, _ = ledger.journal(client_id=None, after=0)
    rest, _ = ledger.journal(client_id=None, after=first[-1].ordinal)
    assert (len(first), len(rest)) == (PAGE, 1)
    assert ledger.journal(client_id=None, after=PAGE + 1) == ([], 0)


def test_a_minted_value_is_never_in_a_repr() -> None:
    token = mint(Ledger(wall=lambda: 0.0), "very-secret-value")
    assert "very-secret-value" not in repr(token)
    assert MintedToken.from_json(token.to_json()) == token


def test_actors_are_every_string_whatever_the_depth() -> None:
    assert named_actors({"a": ["b", {"c": "d"}], "e": 1}) == ("b", "d")
    deep: object = "bottom"
    for _ in range(100):
        deep = [deep]
    assert named_actors(deep) == ()


def test_entries_are_found_by_the_client_that_they_turn_out_to_be_of() -> None:
    ledger = Ledger(wall=lambda: 0.0)
    first, second, third = (ledger.received("token") for _ in range(3))
    ledger.belongs_to(third, "a")
    ledger.belongs_to(first, "a")
    ledger.belongs_to(second, "a")
    ledger.belongs_to(second, "b")

    assert ledger.journal(client_id="a", after=0)[0] == [first, third]
    assert ledger.journal(client_id="a", after=first.ordinal)[0] == [third]
    assert ledger.journal(client_id="b", after=0)[0] == [second]
    assert ledger.journal(client_id="c", after=0)[0] == []


def test_entry_that_was_forgotten_before_it_was_understood_is_found_by_nobody() -> None:
    ledger = Ledger(wall=lambda: 0.0, limit=1)
    first, second = (ledger.received("token") for _ in range(2))
    ledger.belongs_to(first, "a")
    ledger.belongs_to(second, "a")
    ledger.received("token")

    assert ledger.journal(client_id="a", after=0)[0] == []


def test_secrets_of_a_kind_are_found_by_it() -> None:
    ledger = Ledger(wall=lambda: 0.0)
    mint(ledger, "one")

    assert ledger.tokens(after=0, kind="refresh_token")[0] == ledger.tokens(after=0)[0]
    assert ledger.tokens(after=0, kind="code")[0] == []
