"""Sign-in by control, by command and by hand, and the choice between them."""

import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gateproof.conformance.signin import factory
from gateproof.conformance.signin.command import CommandSignIn
from gateproof.conformance.signin.control import ControlSignIn
from gateproof.conformance.signin.forms import FormsSignIn
from gateproof.conformance.signin.manual import ManualSignIn
from gateproof.conformance.signin.sign_in_result import SignInFailed, SignInRequest
from gateproof.conformance.suite.parties import User
from gateproof.conformance.targets.control import ControlFailed
from gateproof.conformance.targets.errors import TargetError
from gateproof.conformance.targets.file import load
from gateproof.conformance.wire.secret import Secret

CALLBACK = "https://agent.example/cb"
REQUEST = SignInRequest(
    authorization_url="https://gw.example/auth?state=1",
    redirect_uri=CALLBACK,
    user=User(name="alice", login="alice@merchant.example", password=Secret("password", "pw-s3cret")),
    approve=False,
)
ASKED = {
    "authorization_url": "https://gw.example/auth?state=1",
    "redirect_uri": CALLBACK,
    "user": {"name": "alice", "login": "alice@merchant.example", "password": "pw-s3cret"},
    "approve": False,
}


class _Control:
    def __init__(self, answer):
        self.answer = answer
        self.asked = None

    def call(self, action, /, **arguments):
        self.asked = (action, arguments)
        return self.answer


def _by_control(answer, _tmp_path):
    return ControlSignIn(_Control(answer))


def _by_command(answer, tmp_path):
    script = tmp_path / "sign_in.py"
    script.write_text(
        f"import json, sys\nassert json.load(sys.stdin) == {ASKED!r}\nprint({json.dumps(answer)!r})\n"
    )
    return CommandSignIn((sys.executable, str(script)), cwd=tmp_path)


@pytest.mark.parametrize("way", [_by_control, _by_command])
@pytest.mark.parametrize(
    ("url", "redirected_to", "left_to"),
    [
        (f"{CALLBACK}?error=access_denied", f"{CALLBACK}?error=access_denied", None),
        (f"{CALLBACK}/?code=c", None, f"{CALLBACK}/?code=c"),
        (None, None, None),
    ],
)
def test_an_address_becomes_a_landing(way, url, redirected_to, left_to, tmp_path):
    landing = way({"redirected_to": url}, tmp_path).sign_in(REQUEST)

    assert (landing.redirected_to, landing.left_to) == (redirected_to, left_to)
    assert (landing.stuck is None) == (url is not None)
    assert landing.declined is None


@pytest.mark.parametrize("way", [_by_control, _by_command])
@pytest.mark.parametrize("answer", [{}, {"redirected_to": 5}, {"redirected_to": ""}])
def test_any_other_answer_is_a_failure_of_the_way(way, answer, tmp_path):
    with pytest.raises((ControlFailed, SignInFailed), match="redirected_to"):
        way(answer, tmp_path).sign_in(REQUEST)


def test_the_control_gets_all_it_needs():
    control = _Control({"redirected_to": None})

    ControlSignIn(control).sign_in(REQUEST)

    assert control.asked == ("sign_in", ASKED)


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("import sys; sys.exit(2)", "exit code 2"),
        ("print('pw-s3cret')", "no JSON"),
        ("print([])", "redirected_to"),
    ],
)
def test_a_command_that_fails_says_how(body, what, tmp_path):
    with pytest.raises(SignInFailed, match=what) as caught:
        CommandSignIn((sys.executable, "-c", body), cwd=tmp_path).sign_in(REQUEST)
    assert "s3cret" not in str(caught.value)


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_person_is_asked_at_the_terminal():
    tell = io.StringIO()

    landing = ManualSignIn(ask=_Terminal(f" {CALLBACK}?code=c \n"), tell=tell).sign_in(REQUEST)

    assert landing.redirected_to == f"{CALLBACK}?code=c"
    assert REQUEST.authorization_url in tell.getvalue()
    assert "decline" in tell.getvalue()
    assert "s3cret" not in tell.getvalue()


def test_a_person_may_say_that_it_ended_on_a_page():
    landing = ManualSignIn(ask=_Terminal("\n"), tell=io.StringIO()).sign_in(REQUEST)

    assert (landing.redirected_to, landing.stuck) == (None, "the browser ended on a page")


def test_without_a_terminal_nobody_is_asked():
    with pytest.raises(SignInFailed, match="needs a terminal"):
        ManualSignIn(ask=io.StringIO("x\n"), tell=io.StringIO()).sign_in(REQUEST)
    with pytest.raises(SignInFailed, match="was closed"):
        ManualSignIn(ask=_Terminal(""), tell=io.StringIO()).sign_in(REQUEST)


@pytest.fixture
def target(tmp_path):
    file = tmp_path / "gateway.toml"
    file.write_text(
        '[target]\nrole = "gateway"\nname = "g"\nbase_url = "http://127.0.0.1:1"\ncore_url = "http://127.0.0.1:2"\n'
        '[control]\ncommand = ["x"]\n[sign_in]\ncommand = ["x"]\n'
    )
    return load(file)


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("forms", FormsSignIn),
        ("control", ControlSignIn),
        ("command", CommandSignIn),
        ("manual", ManualSignIn),
    ],
)
def test_the_target_file_chooses_the_way(target, kind, made):
    target = replace(target, sign_in=replace(target.sign_in, kind=kind))

    way = factory.make(target, send=_never, may_visit=_never, control=_Control({}))

    assert isinstance(way, made)


def test_a_way_that_is_not_there_is_a_wrong_target_file(target):
    target = replace(target, file=Path("acme.toml"), sign_in=replace(target.sign_in, kind="control"))

    with pytest.raises(TargetError, match=r"acme\.toml: \[sign_in\] kind: found 'control'.*'chromium'"):
        factory.make(target, send=_never, may_visit=_never)


def _never(*_arguments):
    raise AssertionError("nothing is sent while a way is chosen")
