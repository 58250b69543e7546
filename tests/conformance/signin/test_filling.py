"""Filling: which input gets the login, which button is pressed by whom."""

import pytest

from gateproof.conformance.signin.filling import choose_button, choose_form, fill, link_forms, reading_of
from gateproof.conformance.signin.markup import read_page
from gateproof.conformance.signin.submission import submit
from gateproof.conformance.suite.parties import User
from gateproof.conformance.wire.exchange import Answer
from gateproof.conformance.wire.secret import Secret

ALICE = User(name="alice", login="alice@merchant.example", password=Secret("password", "pw"))


def page(html):
    return read_page(
        "https://gw.example/",
        Answer(status=200, headers=(("Content-Type", "text/html"),), body=html.encode()),
    )


def form(controls):
    return page(f"<form>{controls}</form>").forms[0]


@pytest.mark.parametrize(
    ("controls", "filled"),
    [
        ("<input name=username><input type=password name=password>", {"username", "password"}),
        ("<input type=email name=e><input type=password name=p>", {"e", "p"}),
        ("<input name=q><input name=x><input type=password name=p>", {"x", "p"}),
        ("<input name=tenant><input name=a autocomplete='section-x username'>", {"a"}),
        ("<label for=i>Your login</label><input id=i name=j>", {"j"}),
        ("<label>E-mail <input name=k></label>", {"k"}),
        ("<input name=l placeholder='User name'>", {"l"}),
        ("<input name=username readonly value=x><input type=password name=p>", {"p"}),
        ("<input name=otp>", set()),
        ("<input type=hidden name=username><input type=checkbox name=user>", set()),
    ],
)
def test_login_and_password_go_where_they_are_asked_for(controls, filled):
    done = fill(form(controls), ALICE)

    assert {f.name for f in done.fields if f.value in {ALICE.login, "pw"}} == filled
    assert all(f.value == "pw" for f in done.fields if f.kind == "password")


def test_what_is_required_is_given():
    done = fill(
        form(
            "<input type=checkbox name=terms required><input type=checkbox name=spam>"
            "<input type=radio name=r value=1 required><input type=radio name=r value=2 required>"
            "<select name=s required><option value=''>Choose<option>x</select>"
        ),
        ALICE,
    )

    assert [(f.name, f.values()) for f in done.fields] == [
        ("terms", ("on",)),
        ("spam", ()),
        ("r", ("1",)),
        ("r", ()),
        ("s", ("x",)),
    ]


@pytest.mark.parametrize(
    ("button", "reading"),
    [
        ("<button>Approve</button>", "approve"),
        ("<button>Yes, allow access</button>", "approve"),
        ("<input type=submit value=Accept>", "approve"),
        ("<button>Don't allow</button>", "deny"),
        ("<button>Don\u2019t allow</button>", "deny"),
        ("<button>No</button>", "deny"),
        ("<button>Not now</button>", "deny"),
        ("<button>Cancel</button>", "deny"),
        ("<button>I do not agree</button>", "deny"),
        ("<button>Approve <small>You can cancel at any time</small></button>", "approve"),
        ("<button>Cancel, and allow nothing</button>", "deny"),
        ("<button>Connect</button>", "approve"),
        ("<button>Back</button>", "deny"),
        ("<button>Continue</button>", "go"),
        ("<button>Sign in</button>", "go"),
        ("<button>Log-in</button>", "go"),
        ("<button>Nothing known</button>", ""),
        ("<button>Norway</button>", ""),
        ("<button value=deny>\u2718</button>", "deny"),
        ("<button name=approve>\u2714</button>", "approve"),
        ("<button id=btnApproveAccess>\u2714</button>", "approve"),
        ("<button aria-label=Approve></button>", "approve"),
        ("<input type=image alt=Allow>", "approve"),
        ("<button name=allow value=0>\u2718</button><button name=allow value=1>\u2714</button>", ""),
    ],
)
def test_buttons_are_read_as_people_read_them(button, reading):
    found = form(button)

    assert reading_of(found.buttons[0], found) == reading


@pytest.mark.parametrize(
    ("controls", "approving", "declining"),
    [
        ("<button>Deny</button><button>Approve</button>", "Approve", "Deny"),
        ("<button>Cancel</button><button>Continue</button>", "Continue", "Cancel"),
        ("<button>Continue</button><button>Allow</button><button>No</button>", "Allow", "No"),
        ("<button>Nein</button><button>Cancel</button>", "Nein", "Cancel"),
        ("<button>Ja</button>", "Ja", "Ja"),
        ("<button>Continue</button>", "Continue", "Continue"),
        ("<button>Allow</button>", "Allow", None),
        ("<button>Deny</button>", None, "Deny"),
        ("<input type=password><button>Cancel</button><button>Sign in</button>", "Sign in", "Sign in"),
        (
            "<input type=password><button>Sign in</button><button>Allow</button><button>Deny</button>",
            "Sign in",
            "Deny",
        ),
        ("<input type=password><button>Help</button><button>Log in</button>", "Log in", "Log in"),
        ("<input type=hidden name=x>", None, None),
    ],
)
def test_each_user_presses_what_they_mean(controls, approving, declining):
    found = form(controls)
    pressed = [choose_button(found, approve=approve) for approve in (True, False)]

    assert [button.text if button else None for button in pressed] == [approving, declining]


@pytest.mark.parametrize(
    ("html", "approve"),
    [
        ("<form><button>Go</button></form><form><input name=user><button>Sign in</button></form>", True),
        ("<form><input type=hidden name=x></form>", False),
        ("<form><input type=hidden name=x></form><form><button>Sign out</button></form>", True),
    ],
    ids=["the-first-of-two", "without-a-button", "a-script-would-send-it"],
)
def test_the_first_form_is_submitted(html, approve):
    shown = page(html)
    form, button = choose_form(shown, approve=approve)

    assert (form, button) == (shown.forms[0], next(iter(shown.forms[0].buttons), None))


@pytest.mark.parametrize(
    ("header", "main", "pressed"),
    [
        ("<button>Sign out</button>", "<button>Continue</button><button>Cancel</button>", "Continue"),
        ("<input type=search name=q><button>Search</button>", "<input name=user><button>Next", "Next"),
        ("<button>Go</button>", "<input name=u><input type=password name=p><button>Sign in", "Sign in"),
        ("<select name=lang><option>en</select>", "<button>Allow</button>", "Allow"),
        ("<select name=lang><option>en</select>", "<button>Weiter</button>", "Weiter"),
    ],
)
def test_a_form_in_the_head_of_a_page_is_not_what_it_is_about(header, main, pressed):
    shown = page(f"<form>{header}</form><form>{main}</form>")

    form, button = choose_form(shown, approve=True)
    assert (form, button.text) == (shown.forms[1], pressed)


def test_a_link_stands_for_a_form_where_it_alone_says_what_is_meant():
    shown = page("<a href='/in?txn=1'>Sign in with the merchant</a><a href=/help>Help</a>")
    (form,) = link_forms(shown, approve=True, leads_on=True)

    assert submit(form, form.buttons[0]).url == "https://gw.example/in?txn=1"
    assert link_forms(shown, approve=True, leads_on=False) == ()
    answers = page("<a href=/yes>Approve</a><a href=/no>Deny</a>")
    assert [link_forms(answers, approve=yes, leads_on=False)[0].action for yes in (True, False)] == [
        "https://gw.example/yes",
        "https://gw.example/no",
    ]
    assert link_forms(page("<a href=/1>Allow</a><a href=/2>Allow</a>"), approve=True, leads_on=True) == ()


@pytest.mark.parametrize(
    ("link", "pressed"),
    [
        ("<a href=/no>[ Cancel ]</a>", "[ Cancel ]"),
        ("<a href=/other>Not you?</a>", "Allow"),
        ("<a href=/no>Cancel</a><a href=/help>Reject</a>", "Allow"),
    ],
)
def test_a_link_beside_the_question_may_be_how_to_refuse(link, pressed):
    shown = page(f"<form><button>Allow</button></form>{link}")

    assert choose_form(shown, approve=True)[1].text == "Allow"
    assert choose_form(shown, approve=False) is None or choose_form(shown, approve=False)[1].text == pressed


def test_approve_and_deny_may_be_two_forms():
    shown = page("<form><button>Approve</button></form><form><button>Deny</button></form>")
    other = page("<form><button>Deny</button></form><form><button>Approve</button></form>")

    for one in (shown, other):
        assert choose_form(one, approve=True)[1].text == "Approve"
        assert choose_form(one, approve=False)[1].text == "Deny"


def test_nobody_approves_who_means_to_decline():
    assert choose_form(page("<form><button>Approve</button></form>"), approve=False) is None
    assert choose_form(page("no form"), approve=True) is None
