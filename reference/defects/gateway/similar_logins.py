"""Gateways that give two similar logins one identity, or one new user two."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.defects.gateway.vault_ownership import keyed_by_login_form
from gateproof.reference.gateway.policy import sign_in
from gateproof.reference.gateway.policy.sign_in import IdTokenFacts
from gateproof.reference.gateway.policy.token_claims import subject
from gateproof.reference.gateway.records import Person
from gateproof.reference.ids import Ids

Subject = Callable[[Mapping[tuple[str, str], str], str, str, Ids], str]
# The time for which other processes do not see a new user: longer than two sign-ins on a slow machine.
BEHIND_S = 4.0


def composed(login: str) -> str:
    return unicodedata.normalize("NFC", login)


def as_a_database_compares(login: str) -> str:
    """Ignores case, accents, character widths, invisible characters and trailing spaces."""
    letters = unicodedata.normalize("NFKD", login).casefold().rstrip(" ")
    return "".join(letter for letter in letters if unicodedata.category(letter) not in ("Mn", "Cf"))


def as_a_mailbox(login: str) -> str:
    """Removes full stops, and a plus sign with all that follows, before the @."""
    local, at, domain = login.partition("@")
    return local.partition("+")[0].replace(".", "") + at + domain


def without_blanks(login: str) -> str:
    return re.sub(r"\s", "", login)


def local_part(login: str) -> str:
    return login.partition("@")[0]


def subject_by(form: Callable[[str], str]) -> Subject:
    """Users whose logins have the same form get the same subject."""

    def chosen(known: Mapping[tuple[str, str], str], project_id: str, login_id: str, ids: Ids) -> str:
        mine = (project_id, form(login_id))
        same = (sub for (project, login), sub in known.items() if (project, form(login)) == mine)
        return next(same, "") or subject(known, project_id, login_id, ids)

    return chosen


def account_by_email() -> Callable[[IdTokenFacts], Person | None]:
    """Signs in the first user that had this e-mail address."""
    accounts: dict[str, Person] = {}

    def named(facts: IdTokenFacts) -> Person | None:
        person = sign_in.person_named(facts)
        if person is None or person.email is None:
            return person
        account = accounts.setdefault(f"{facts.merchant.client_id} {person.email}", person)
        return replace(account, signed_in_at=person.signed_in_at)

    return named


def new_users_from_a_replica() -> Subject:
    """One `sub` for a user in all Projects; other processes see a new user only after some time."""
    seen: dict[str, float] = {}

    def chosen(known: Mapping[tuple[str, str], str], project_id: str, login_id: str, ids: Ids) -> str:
        now = time.monotonic()
        if now - seen.setdefault(login_id, now) < BEHIND_S:
            return ids.identifier("sub_")
        return next((sub for (_, login), sub in known.items() if login == login_id), "") or subject(
            known, project_id, login_id, ids
        )

    return chosen


DEFECTS = (
    defect(
        "vault-keyed-by-the-login-in-small-letters (REDEEM-12): The vault is keyed by the login in lower "
        "case.",
        vault_key=keyed_by_login_form(str.lower),
    ),
    defect(
        "vault-keyed-by-a-trimmed-login (REDEEM-12): The vault is keyed by the login without whitespace "
        "around it.",
        vault_key=keyed_by_login_form(str.strip),
    ),
    defect(
        "vault-keyed-by-a-login-without-blanks (REDEEM-12): The vault is keyed by the login without any "
        "whitespace.",
        vault_key=keyed_by_login_form(without_blanks),
    ),
    defect(
        "vault-keyed-by-a-composed-login (REDEEM-12): The vault is keyed by the login in Unicode form NFC.",
        vault_key=keyed_by_login_form(composed),
    ),
    defect(
        "vault-keyed-as-a-database-compares (REDEEM-12): The vault is keyed by the login, in a column whose "
        "collation ignores case, accents and trailing spaces.",
        vault_key=keyed_by_login_form(as_a_database_compares),
    ),
    defect(
        "vault-keyed-by-the-mailbox (REDEEM-12): The vault is keyed by the login without full stops and "
        "+tags before the @.",
        vault_key=keyed_by_login_form(as_a_mailbox),
    ),
    defect(
        "sub-of-the-login-in-small-letters (CLAIM-03): Logins that differ only in case get the same `sub`.",
        subject=subject_by(str.lower),
    ),
    defect(
        "sub-of-the-local-part (CLAIM-03): Logins that are equal before the @ get the same `sub`.",
        subject=subject_by(local_part),
    ),
    defect(
        "sub-as-a-database-compares (CLAIM-03): Logins that are equal for a database collation without case "
        "and accents get the same `sub`.",
        subject=subject_by(as_a_database_compares),
    ),
    defect(
        "sub-of-a-trimmed-login (CLAIM-03): Logins that differ only in whitespace around them get the same "
        "`sub`.",
        subject=subject_by(str.strip),
    ),
    defect(
        "account-by-email (REDEEM-12): Users with the same e-mail address are one user, even if the "
        "merchant has not verified it.",
        person_named=account_by_email(),
    ),
    defect(
        "new-users-from-a-replica (CLAIM-03 ROBUST-04): A new user who signs in twice at the same time gets "
        "two subjects.",
        subject=new_users_from_a_replica(),
    ),
)
