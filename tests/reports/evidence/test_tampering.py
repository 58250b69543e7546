"""Nothing in the folder of a run can be changed unseen: the first thing that is wrong is named."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateproof.reports import seal
from gateproof.reports.chain import encode
from gateproof.reports.findings import Concern
from gateproof.reports.record import FILE
from gateproof.reports.signing import KeyProblem, SigningKey, envelope, public_pem
from gateproof.reports.verify import verify

pytestmark = pytest.mark.attack

ALL = (FILE, *seal.FILES, "report.json", "notes.txt", "notes/verdict.txt")
LINES = 12
JWT = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJzdWJfMSJ9.c2lnbmF0dXJl"


def another_key() -> SigningKey:
    return SigningKey(private=Ed25519PrivateKey.generate(), ephemeral=False)


@pytest.mark.parametrize("given", [True, False])
def test_untouched_folder_is_verified(kit: Any, given: bool) -> None:
    found = kit.bundle().verify(given=given)
    assert found.findings == ()
    assert ("shows integrity, not identity" in found.signer) is not given
    assert found.result is not None


def test_run_without_exchanges_or_rules_is_verified_too(kit: Any) -> None:
    assert kit.bundle("none", planned=(), checks=()).first() == ""
    assert kit.bundle("unreachable", checks=(), cut_short="the target is unreachable").first() == ""


def changed(raw: bytes, place: int) -> bytes:
    return raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "first byte": lambda raw: changed(raw, 0),
    "a byte in the middle": lambda raw: changed(raw, len(raw) // 2),
    "last byte but one": lambda raw: changed(raw, len(raw) - 2),
    "last byte": lambda raw: changed(raw, len(raw) - 1),
    "a byte more": lambda raw: raw + b"\n",
    "a byte less": lambda raw: raw[:-1],
    "half": lambda raw: raw[: len(raw) // 2],
    "nothing left": lambda _: b"",
    "a space within": lambda raw: raw.replace(b" ", b"  ", 1) if b" " in raw else b" " + raw,
}


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ALL)
def test_changed_byte_is_found_in_every_file(kit: Any, name: str, change: str, given: bool) -> None:
    bundle = kit.bundle()
    path = bundle.folder / name
    path.write_bytes(CHANGES[change](path.read_bytes()))
    first = bundle.first(given=given)
    # Without a key of one's own, a changed key in the folder shows as a signature that does not fit it.
    allowed = ALL[1:4] if name == seal.PUBLIC_KEY and not given else (name,)
    assert first.startswith(allowed), first


@pytest.mark.parametrize("name", ALL)
def test_every_single_byte_counts(kit: Any, name: str) -> None:
    bundle = kit.bundle(
        planned=kit.plan((("DISC-01", "spec", ("kept", "kept_too")),)), checks=kit.checks()[:1]
    )
    path = bundle.folder / name
    raw = path.read_bytes()
    for place in range(0, len(raw), max(1, len(raw) // 40)):
        path.write_bytes(changed(raw, place))
        assert bundle.verify().findings, f"byte {place} of {name} was changed unseen"


@pytest.mark.parametrize("name", ALL)
def test_removed_file_is_named(kit: Any, name: str) -> None:
    bundle = kit.bundle()
    (bundle.folder / name).unlink()
    assert bundle.first().startswith(f"{name}: ")


@pytest.mark.parametrize("line", range(LINES))
@pytest.mark.parametrize("change", ["dropped", "doubled", "swapped", "truncated", "changed", "emptied"])
def test_change_of_any_line_names_its_place(kit: Any, change: str, line: int) -> None:
    bundle = kit.bundle()
    lines = bundle.lines()
    assert len(lines) == LINES
    match change:
        case "dropped":
            del lines[line]
        case "doubled":
            lines.insert(line, lines[line])
        case "swapped":
            other = (line + 1) % LINES
            lines[line], lines[other] = lines[other], lines[line]
        case "truncated":
            lines[line] = lines[line][: len(lines[line]) // 2]
        case "changed":
            for old, new in ((b"acme", b"asme"), (b"true", b"false"), (b"POST", b"HEAD"), (b"3.5", b"3.6")):
                lines[line] = lines[line].replace(old, new)
        case "emptied":
            lines[line] = b"\n"
    bundle.put(lines)
    found = bundle.verify()
    assert found.first.file == FILE
    # The footer is chained to nothing: that it is gone shows as such, and where it stood is the end.
    near = {line, line + 1, line + 2, 1, LINES - 1, None}
    assert found.first.line in near, found.first.sentence
    assert len({finding.concern for finding in found.findings} & {Concern.SEAL, Concern.RECORD}) > 0


def edit(number: int, **changes: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    def change(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        lines[number] = {**lines[number], **changes}
        return lines

    return change


def drop(number: int) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    return lambda lines: [line for place, line in enumerate(lines) if place != number]


COUNTS = {
    "passed": 7, "failed": 0, "not-testable": 0, "not-applicable": 0, "observed": 0, "error": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit(-1, counts=COUNTS), "12: the footer says counts"),
        (edit(-1, verdict="conformant"), '12: the footer says verdict "conformant", the lines give'),
        (edit(-1, reason="all is well"), "12: the footer says reason"),
        (edit(-1, planned=6), "12: the footer says planned 6, the lines give 7"),
        (edit(-1, executed=6), "12: the footer says executed 6, the lines give 7"),
        (edit(-1, extra=1), "12: footer.extra: unknown key"),
        (edit(4, verdict="passed"), "12: the footer says counts"),
        (edit(4, verdict="fine"), "5: check.verdict: found a text, expected one of passed"),
        (edit(4, exchanges=[2]), "4: no check names this exchange of REDEEM-05/broken"),
        (edit(4, exchanges=[2, 2]), "5: REDEEM-05/broken names line 3, which is not one of its exchanges"),
        (edit(4, exchanges=[2, 6]), "5: REDEEM-05/broken names line 7"),
        (edit(4, level="rfc"), "5: REDEEM-05/broken has another level or section"),
        (edit(1, id="DISC-01/other"), "2: DISC-01/other was not planned"),
        (edit(1, type="note"), "2: the line is neither"),
        (drop(9), "11: the footer says executed 7, the lines give 6"),
        (drop(11), "11: incomplete: the run was killed"),
        (lambda lines: [*lines, lines[1]], "13: a line follows the footer"),
        (lambda lines: [*lines[:3], lines[0], *lines[3:]], "4: a second header"),
    ],
)
def test_record_that_was_chained_again_does_not_add_up(
    kit: Any, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]], said: str
) -> None:
    """Whoever signs can chain and seal what they like: what does not add up shows all the same."""
    bundle = kit.bundle()
    bundle.forge(change)
    bundle.draw()
    assert bundle.first().startswith(f"{FILE}:{said}"), bundle.first()


def test_check_that_did_not_run_leaves_planned_and_executed_apart(kit: Any) -> None:
    bundle = kit.bundle(checks=kit.checks()[1:])
    assert bundle.first() == f"{FILE}:11: 7 checks were planned and 6 executed"
    told = kit.bundle("told", checks=kit.checks()[1:], cut_short="--fail-fast stopped the run")
    assert told.first() == ""


def test_record_that_adds_up_and_is_another_is_told_from_the_sealed_one(kit: Any) -> None:
    bundle, other = kit.bundle(), kit.bundle("other", run_id="deadbeef")
    bundle.evidence.write_bytes(other.evidence.read_bytes())
    first = bundle.first()
    assert first.startswith(f"{FILE}: its SHA-256 is ")
    assert first.endswith("which is not the one in seal.test-result.dsse.json")


def test_record_of_another_run_with_its_projections_is_found(kit: Any) -> None:
    bundle, other = kit.bundle(), kit.bundle("other", run_id="deadbeef")
    for name in (FILE, "report.json", "notes.txt"):
        (bundle.folder / name).write_bytes((other.folder / name).read_bytes())
    assert bundle.first().startswith(f"{FILE}: its SHA-256 is ")


def test_wrong_key_is_named(kit: Any) -> None:
    bundle = replace(kit.bundle(), key=another_key())
    found = bundle.verify()
    assert found.first.sentence == "seal.pub.pem: is not the key that was given"
    assert found.signer == "no valid signature"
    bundle.folder.joinpath(seal.PUBLIC_KEY).write_bytes(bundle.pem)
    assert bundle.first() == "seal.test-result.dsse.json: is signed by another key"
    assert bundle.first(given=False) == "seal.test-result.dsse.json: is signed by another key"


def test_folder_sealed_again_by_somebody_else_fails_against_the_right_key(kit: Any) -> None:
    bundle = kit.bundle()
    forger = replace(bundle, key=another_key())
    forger.forge(edit(-1, duration_s=1.0))
    forger.draw()
    assert forger.verify(given=False).findings == ()
    assert bundle.first() == "seal.pub.pem: is not the key that was given"


@pytest.mark.parametrize(
    "key", [b"", b"nonsense", b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"]
)
def test_key_that_is_none_is_refused(kit: Any, key: bytes) -> None:
    bundle = kit.bundle()
    with pytest.raises(KeyProblem, match="the key that was given: found no public key; expected an Ed25519"):
        verify(bundle.folder, key)


def reseal(bundle: Any, name: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Signs another statement than the one that follows from the record."""
    path = bundle.folder / name
    payload = json.loads(base64.b64decode(json.loads(path.read_bytes())["payload"]))
    change(payload)
    path.write_bytes(envelope(encode(payload), bundle.key))


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        (seal.TEST_RESULT, lambda s: s["predicate"].update(result="PASSED"), "predicate: result"),
        (seal.TEST_RESULT, lambda s: s["predicate"]["failedTests"].pop(), "predicate: failedTests"),
        (seal.TEST_RESULT, lambda s: s.update(predicateType="urn:other"), "predicateType"),
        (seal.VERDICTS, lambda s: s["predicate"]["rules"][0].update(verdict="failed"), "predicate: rules"),
        (seal.VERDICTS, lambda s: s["predicate"].update(complete=False), "predicate: complete"),
        (
            seal.VERDICTS,
            lambda s: s["predicate"]["files"][0]["digest"].update(sha256="0"),
            "predicate: files",
        ),
        (seal.VERDICTS, lambda s: s["predicate"].update(files=7), "predicate: files"),
        (seal.VERDICTS, lambda s: s["predicate"].update(files=[{"name": []}]), "predicate: files"),
        (seal.VERDICTS, lambda s: s["predicate"]["signer"].update(kind="the king"), "predicate: signer"),
        (seal.VERDICTS, lambda s: s.update(predicate=None), "predicate"),
    ],
)
def test_signed_statement_that_does_not_follow_from_the_record_is_named(
    kit: Any, name: str, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    bundle = kit.bundle()
    reseal(bundle, name, change)
    assert bundle.first() == f"{name}: its {said} does not match the record and the files generated from it"


@pytest.mark.parametrize("payload", [b"", b"[]", b"not json", b"[" * 50_000])
def test_signed_nonsense_is_named(kit: Any, payload: bytes) -> None:
    bundle = kit.bundle()
    (bundle.folder / seal.VERDICTS).write_bytes(envelope(payload, bundle.key))
    assert FILE in bundle.first()
    assert seal.VERDICTS in bundle.first()


def test_changed_line_of_a_projection_is_named(kit: Any) -> None:
    bundle = kit.bundle()
    path = bundle.folder / "notes.txt"
    path.write_bytes(path.read_bytes().replace(b"not-conformant", b"conformant"))
    assert bundle.first().startswith("notes.txt:2: differs from what the record gives")


def test_projection_that_was_drawn_later_is_no_fault(kit: Any) -> None:
    bundle = kit.bundle()
    for path in (bundle.folder / "notes").iterdir():
        path.unlink()
    (bundle.folder / "notes").rmdir()
    (bundle.folder / "notes.txt").unlink()
    result = bundle.draw(["json"])
    assert bundle.first() == ""
    drawn = kit.render("notes", result)
    (bundle.folder / "notes.txt").write_bytes(drawn["notes.txt"])
    assert bundle.first() == ""
    (bundle.folder / "notes.txt").write_bytes(drawn["notes.txt"] + b"\n")
    assert bundle.first().startswith("notes.txt:3: differs from what the record gives")


def test_sealed_format_that_is_not_known_here_is_named(kit: Any) -> None:
    first = kit.bundle().first(formats=("json",))
    assert first.startswith("seal.verdicts.dsse.json: its predicate: files")


@pytest.mark.parametrize("name", ["extra.txt", "notes/extra.txt", "deep/er/report.json"])
def test_file_that_nobody_listed_is_named(kit: Any, name: str) -> None:
    bundle = kit.bundle()
    path = bundle.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("hello")
    assert bundle.first().startswith(f"{name}: is not part of this folder")


@pytest.mark.parametrize("kind", ["link", "linked folder", "pipe"])
def test_what_is_no_plain_file_is_named(kit: Any, tmp_path: Path, kind: str) -> None:
    bundle = kit.bundle()
    path = bundle.folder / "strange"
    match kind:
        case "link":
            path.symlink_to(bundle.folder / "report.json")
        case "linked folder":
            path.symlink_to(tmp_path)
        case "pipe":
            os.mkfifo(path)
    assert bundle.first() == "strange: is not a regular file, and not part of this folder"


LEAKS = {
    "JWT": JWT,
    "private key": "-----BEGIN PRIVATE KEY-----",
    "private key in a JWK": '{"kty":"OKP","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}',
    "basic credential": "Authorization: Basic cHJveHlfMTpodXNoLWh1c2g=",
    "bearer token": "Authorization: Bearer wJ8vQ2mZ0pXk4TgL7rNc1sYb",
}


@pytest.mark.parametrize("kind", LEAKS)
@pytest.mark.parametrize("name", ["report.json", "notes.txt", "extra.txt"])
def test_added_secret_is_named_by_its_kind_and_not_shown(kit: Any, name: str, kind: str) -> None:
    bundle = kit.bundle()
    path = bundle.folder / name
    before = path.read_text() if path.exists() else ""
    path.write_text(f"{before}one\n{LEAKS[kind]}\n")
    found = [finding for finding in bundle.verify().findings if finding.concern is Concern.LEAK]
    line = before.count("\n") + 2
    assert [finding.sentence for finding in found] == [f"{name}:{line}: contains what looks like a {kind}"]


@pytest.mark.parametrize(
    "changes",
    [
        {"message": "got wJ8vQ2mZ0pXk4TgL7rNc1sYb"},
        {"observations": {"nested": [{"token": "wJ8vQ2mZ0pXk4TgL7rNc1sYb"}]}},
        {"got": JWT},
        {"exchange": {"answer_body": "wJ8vQ2mZ0pXk4TgL7rNc1sYb"}},
        {"exchange": {"request_headers": (("Cookie", "wJ8vQ2mZ0pXk4TgL7rNc1sYb"),)}},
        {"public": ()},
    ],
)
def test_secret_that_was_sealed_with_everything_else_is_found(kit: Any, changes: dict[str, Any]) -> None:
    """The harness itself may have let it through: the record is honest, and still not fit to be shown."""
    checks = list(kit.checks())
    inner = changes.pop("exchange", None)
    if inner is not None:
        changes["exchanges"] = (kit.exchange(**inner),)
    checks[1] = replace(checks[1], **changes)
    bundle = kit.bundle(checks=checks)
    found = bundle.verify()
    assert {finding.concern for finding in found.findings} == {Concern.LEAK}
    assert found.first.file == FILE
    assert "wJ8v" not in found.first.sentence


def test_killed_run_is_called_incomplete_before_anything_else(kit: Any) -> None:
    path = kit.record(ended=False)
    bundle = replace(kit.bundle("sealed"), folder=path.parent)
    assert bundle.first() == f"{FILE}:11: incomplete: the run was killed or crashed: its record has no footer"
    path.write_bytes(path.read_bytes()[:-20])
    found = bundle.verify()
    assert [finding.concern for finding in found.findings[:2]] == [Concern.INCOMPLETE, Concern.RECORD]
    assert found.result is not None
    assert found.result.run["complete"] is False


def test_interrupted_run_that_was_sealed_is_still_incomplete(kit: Any) -> None:
    bundle = kit.bundle(ended=False)
    found = bundle.verify()
    assert [finding.concern for finding in found.findings] == [Concern.INCOMPLETE]


def test_unsealed_run_says_that_it_is_not_sealed(kit: Any) -> None:
    bundle = kit.bundle()
    for name in seal.FILES:
        (bundle.folder / name).unlink()
    assert bundle.first() == "seal.test-result.dsse.json: is missing: the folder is not sealed"


def test_every_sentence_names_its_file(kit: Any) -> None:
    bundle = kit.bundle()
    (bundle.folder / seal.PUBLIC_KEY).write_bytes(public_pem(another_key().public))
    for finding in bundle.verify(given=False).findings:
        assert finding.sentence.startswith(finding.file)
        assert "\n" not in finding.sentence
