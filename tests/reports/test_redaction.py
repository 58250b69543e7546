"""Nothing that could be used as a credential survives redaction, and what a reader needs does."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable
from string import ascii_letters, digits
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gateproof.reports import leaks, redacted_parts
from gateproof.reports.redaction import Redactor, runs

SECRET = "s3cr3t/Value+with=odd&chars"


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PRIVATE KEY-----",
        "it said -----BEGIN EC PRIVATE KEY-----\nMHcCAQ\n-----END EC PRIVATE KEY----- and more",
        "Authorization: Basic dXNlcjpwYXNz",
        "use basic dTpwYXNzd28= here",
    ],
)
def test_what_says_of_itself_that_it_is_a_secret_is_masked_however_short(text: str) -> None:
    shown = Redactor(secrets={}, public=()).text(text)

    assert leaks.credential_kind(text) is not None
    assert leaks.credential_kind(shown) is None
    assert Redactor(secrets={}, public=()).text(shown) == shown
    assert Redactor(secrets={}, public=()).text("a basic question") == "a basic question"


def redactor(*public: str) -> Redactor:
    return Redactor(secrets={SECRET: "⟨proxy_token#1⟩"}, public=public)


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET, safe=""),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
    ],
)
def test_known_secret_becomes_its_label_in_every_form(form: str) -> None:
    assert redactor().text(f"before {form} after") == "before ⟨proxy_token#1⟩ after"


def test_longer_secret_is_not_shown_through_a_shorter_one_in_it() -> None:
    both = Redactor(secrets={"abcdef": "⟨a#1⟩", "abcdef-and-more": "⟨b#1⟩"}, public=())
    assert both.text("abcdef-and-more") == "⟨b#1⟩"
    quoted = Redactor(secrets={"abcdef": "⟨a#1⟩", 'abcdef"ghi': "⟨b#1⟩"}, public=())
    assert quoted.text('{"p": "abcdef\\"ghi", "q": "abcdef"}') == '{"p": "⟨b#1⟩", "q": "⟨a#1⟩"}'


def test_short_secret_is_hidden_where_it_is_a_value() -> None:
    short = Redactor(secrets={"tiny": "⟨proxy_client_secret#1⟩"}, public=())
    for shown in ('{"a": "tiny"}', "a=tiny&b=c", "X-Debug: tiny", "<b>tiny</b>", "tiny", "a:tiny"):
        assert short.text(shown) == shown.replace("tiny", "⟨proxy_client_secret#1⟩")
    assert short.value("tiny") == "⟨proxy_client_secret#1⟩"
    assert short.text("a tiny little thing, tinyurl=x") == "a tiny little thing, tinyurl=x"


# A short secret and a long one, with everything in them that JSON or HTML writes in another way.
QUOTED = ('a"<\\é', 'Tr"oub<4>dor\\&/é\U0001f511')


@pytest.mark.parametrize("secret", [*QUOTED, "tiny"], ids=("short", "long", "plain"))
@pytest.mark.parametrize(
    "escape",
    [
        lambda text: json.dumps(text)[1:-1],
        lambda text: json.dumps(text, ensure_ascii=False)[1:-1].replace("/", "\\/"),
        lambda text: json.dumps(text)[1:-1].replace("<", "\\u003C").replace("&", "\\u0026"),
        html.escape,
        lambda text: html.escape(text).replace("&quot;", "&#34;").replace("é", "&eacute;"),
        lambda text: "".join(char if char.isalnum() else f"&#x{ord(char):04X};" for char in text),
        lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
        lambda text: html.escape(json.dumps(text)[1:-1]),
    ],
    ids=("JSON", "PHP's", ".NET's", "HTML", "Go's", "numbers", "JSON in JSON", "JSON in HTML"),
)
def test_secret_is_hidden_however_json_or_html_writes_it(secret: str, escape: Callable[[str], str]) -> None:
    hiding = Redactor(secrets={secret: "⟨password#1⟩"}, public=())
    before = f'a <b>&amp;</b> \\n {{"user": "{escape("<a>")}", "pass": "'
    after = '"} &amp; \\"more'

    assert hiding.text(f"{before}{escape(secret)}{after}") == f"{before}⟨password#1⟩{after}"


@pytest.mark.parametrize("secret", [*QUOTED, "tiny"], ids=("short", "long", "plain"))
def test_secret_is_hidden_in_a_document_that_was_escaped_as_a_whole(secret: str) -> None:
    hiding = Redactor(secrets={secret: "⟨password#1⟩"}, public=())
    document = json.dumps({"said": f'<input value="{html.escape(secret)}">', "other": "a tiny little thing"})
    for written in (document, json.dumps(document), html.escape(document)):
        shown = hiding.text(written)
        before, _, after = shown.partition("⟨password#1⟩")
        assert written.startswith(before)
        assert after
        assert written.endswith(after)
        assert "a tiny little thing" in after


# Escapes, parts of them, and what only looks like one.
ESCAPES = (
    *("\\", "&", "amp;", "&quot;", "&#0;", "&#1;", "&NotEqualTilde;", "&#x41;"),
    *("\\ud83d", "\\udd11", "u0041", " "),
)


@given(*[st.lists(st.sampled_from(ESCAPES), max_size=12).map("".join)] * 2)
def test_what_is_around_a_secret_stays_as_it_was_written(before: str, after: str) -> None:
    hiding = Redactor(secrets={"s3cret-val": "⟨a#1⟩"}, public=())
    shown = hiding.text(f"{before} s3cret-val {after}")
    # Enough of them in a row read like a credential themselves.
    assume("opaque" not in shown)
    assert shown == f"{before} ⟨a#1⟩ {after}"


def test_what_is_no_secret_stays_as_it_was_escaped() -> None:
    hiding = Redactor(secrets={"tiny": "⟨a#1⟩", "ab&cde": "⟨b#1⟩"}, public=())
    text = r"a &lt;tiny little&gt; thing, \"and\" &unknown; \u0041 &amp;tinyurl=x ab&amp;cd \q &"
    assert hiding.text(text) == text


@pytest.mark.parametrize(
    "unknown",
    [
        "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJzdWJfMSJ9.c2lnbmF0dXJl",
        "f3a9c1d2e4b5a6978812f3a9c1d2e4b5",
        "Zm9vYmFyYmF6cXV4MTIzNDU2",
        "0d9f8a7b-1c2d-4e3f-8a9b-0c1d2e3f4a5b",
    ],
)
def test_unknown_credentials_are_masked_and_told_apart(unknown: str) -> None:
    shown = redactor().text(f"x {unknown} y {unknown} z {unknown[::-1]}")
    assert unknown not in shown
    assert unknown[::-1] not in shown
    assert shown.count("~1⟩") == 2


def test_words_addresses_and_public_names_stay_readable() -> None:
    text = "token_endpoint_auth_methods_supported at https://127.0.0.1:8443/res_1/oauth2/auth, 1790000000"
    assert redactor().text(text) == text
    name = "agent_9f8e7d6c5b4a39281706f5e4d3c2b1a0"
    assert redactor(name).text(f"client_id={name}") == f"client_id={name}"
    assert name not in redactor().text(f"client_id={name}")


@given(st.text(alphabet=ascii_letters + digits + "-_", min_size=22, max_size=80))
def test_no_generated_secret_survives(value: str) -> None:
    hiding = Redactor(secrets={value: "⟨code#1⟩"}, public=())
    assert value not in hiding.text(f'{{"code": "{value}", "again": "{value}"}}')


@pytest.mark.parametrize(
    "value",
    ["fCdDRE0/gTMPAx4s.t~.4Lz1c~hzIrg", "0d9f8a7b-1c2d-4e3f-8a9b-0c1d2e3f4a5b"],
)
def test_value_of_short_pieces_is_hidden_as_a_whole(value: str) -> None:
    shown = redactor().value(value)
    assert shown.startswith("⟨opaque~")
    assert not any(piece in shown for piece in re.split(r"\W", value) if len(piece) > 2)


@pytest.mark.parametrize(
    "value",
    [
        "2026-11-21T06:34:04.123Z",
        "client_secret_post",
        "https://api.merchant.example/v1/orders",
        "openid orders:read ext_token:read",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "alice@merchant.example",
    ],
)
def test_value_that_everybody_may_see_is_shown(value: str) -> None:
    assert redactor().value(value) == value


# A code of one piece, of many, a much longer one, and a JWT; the last value is hidden after each of them.
CODES = (
    "kV3tQ9zLw8Rb2Np5Xc7Yd1Mf4",
    "kV3tQ9zLw8Rb2Np5.Xc7Yd1Mf4hJ6sG0uT/e3Ka8Vz2Wq5Bn9Pr7",
    "Z9y8" * 300,
    "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJzdWJfMSJ9.c2lnbmF0dXJl",
)


@pytest.mark.parametrize(
    "shape",
    ["https://a.test/callback?code={}&state={}", "code={}&ticket={}", '{{"code": "{}", "ticket": "{}"}}'],
    ids=["address", "form", "JSON"],
)
def test_a_mark_tells_neither_how_long_nor_of_what_its_value_is(shape: str) -> None:
    seen = set()
    for code in CODES:
        hiding, text = Redactor(secrets={}, public=()), shape.format(code, "f3a9c1d2e4b5a6978812f3a9c1d2e4b5")
        seen.add(
            redacted_parts.url(text, hiding)
            if text.startswith("https")
            else redacted_parts.body(text, hiding)
        )
    assert len(seen) == 1
    assert seen.pop().count("⟨opaque~") == 2


def test_half_of_a_character_in_a_secret_is_no_reason_to_show_it() -> None:
    hiding = Redactor(secrets={"s3cret-\ud800-value": "⟨a#1⟩"}, public=())
    assert hiding.text('"s3cret-\ud800-value"') == '"⟨a#1⟩"'


def test_long_run_without_a_dot_is_read_once() -> None:
    """Looked for from every place in it, the beginning of a token takes hours in a few megabytes."""
    assert "⟨opaque" in Redactor(secrets={}, public=()).text("aZ3_" * 250_000)


def test_text_that_comes_again_is_shown_the_same_way() -> None:
    hiding = Redactor(secrets={"s3cret-value-0123456789": "⟨code#1⟩"}, public=())
    texts = (
        "code=s3cret-value-0123456789",
        "f3a9c1d2e4b5a6978812f3a9c1d2e4b5",
        "0d9f8a7b1c2d4e3f8a9b0c1d2e3f4a5b",
    )
    shown = [(hiding.text(text), hiding.value(text)) for text in texts]
    assert [(hiding.text(text), hiding.value(text)) for text in reversed(texts)] == shown[::-1]
    assert [text for text, _ in shown] == ["code=⟨code#1⟩", "⟨opaque~2⟩", "⟨opaque~3⟩"]


@pytest.mark.parametrize("secret", ["pw", "tiny5", "sixsix", "seven77"])
def test_secret_in_a_text_that_is_hardly_longer_is_hidden(secret: str) -> None:
    hiding = Redactor(secrets={secret: "⟨password#1⟩"}, public=())
    assert hiding.text(secret) == "⟨password#1⟩"
    assert hiding.value(f"pin={secret}") == "pin=⟨password#1⟩"


def test_shortest_basic_credentials_are_hidden() -> None:
    assert redactor().text("basic YTpiY2Q6") == "basic ⟨name and password⟩"


def test_runs_are_found_in_texts_with_labels_and_percent_escapes() -> None:
    name, other = "agent_9f8e7d6c5b4a3928", "sixteen+chars_ab"
    found = runs([f"⟨code#1⟩{name}⟨b⟩", "agent_id%5Fabcdefgh", other, "too_short", "⟨a_label_of_a_run_1⟩"])
    assert found == {name, "agent_id_abcdefgh", other}
