"""`gateproof init`: files that load, as they are and with every setting in use."""

import argparse
import re
import shlex

import pytest

from gateproof.conformance.cli import init
from gateproof.conformance.targets import schema
from gateproof.conformance.targets.file import load

ENV = dict.fromkeys(("CONTROL_TOKEN", "ALICE_PASSWORD", "PROXY_1_SECRET"), "x")
PEM_FILES = ("ca", "client", "client-key", "merchant", "merchant-key", "gateway", "gateway-key")


def run(*arguments):
    parser = argparse.ArgumentParser()
    init.add_parser(parser.add_subparsers())
    options = parser.parse_args(["init", *arguments])
    return options.handler(options)


def settings_in_use(text):
    return re.sub(r"^#(?=[a-z\[])", "", text, flags=re.MULTILINE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in PEM_FILES:
        (tmp_path / f"{name}.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    return tmp_path


@pytest.mark.parametrize("role", init.ROLES)
def test_a_template_loads_as_it_is(folder, role, capsys):
    assert run(role) == 0

    assert load(folder / f"{role}.toml", {}).role == role
    assert f"gateproof run {role} --target {role}.toml" in capsys.readouterr().out


@pytest.mark.parametrize("role", init.ROLES)
def test_a_template_loads_with_every_setting_in_use(folder, role):
    text = settings_in_use(init.template(role))
    (folder / "full.toml").write_text(text)

    target = load(folder / "full.toml", ENV)

    assert target.role == role
    assert target.launch is not None


@pytest.mark.parametrize("role", init.ROLES)
def test_a_template_names_every_table(role):
    text = settings_in_use(init.template(role))

    assert [name for name in schema.ROLES[role] if not re.search(rf"^\[+{name}\]", text, re.MULTILINE)] == []


def test_a_file_that_is_there_is_kept_unless_told_otherwise(folder, capsys):
    (folder / "agent.toml").write_text("mine")

    assert run("agent") == 2
    assert (folder / "agent.toml").read_text() == "mine"
    assert "--force" in capsys.readouterr().err
    assert run("agent", "--force") == 0
    assert (folder / "agent.toml").read_text() != "mine"


def test_the_file_may_be_named_or_its_folder(folder, capsys):
    (folder / "a b").mkdir()

    assert run("service", "a b/mine.toml") == 0
    assert run("service", "a b") == 0

    assert (folder / "a b" / "mine.toml").is_file()
    assert (folder / "a b" / "service.toml").is_file()
    assert shlex.quote("a b/mine.toml") in capsys.readouterr().out


def test_a_place_that_cannot_be_written_gets_one_line(folder, capsys):
    assert run("service", "gone/mine.toml") == 2
    assert capsys.readouterr().err.count("\n") == 1
