"""The packages, and the layers of conformance, import each other only as docs/architecture.md allows."""

from __future__ import annotations

import ast
import dataclasses
import itertools
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = "gateproof"
PACKAGES = ("conformance", "fakes", "reference", "reports")
# What fakes and reference have in common, and what forks processes; inside the installed package.
DOUBLES, FORKS = "doubles", "forks"
SHARED = (DOUBLES, FORKS)
# Other folders of the checkout may import all packages, by their installed names (`gateproof.…`).
BESIDE = ("benchmarks", "docs", "tests")
# The layers of conformance, from the lowest: each imports lower layers and its own folder. Two folders of one
# layer do not import each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("wire",),  # bytes, TLS, HTTP, tokens
    ("suite",),  # what a rule, a check, a claim, a party and a fault are
    ("targets",),  # target files, control, launched processes
    ("signin", "faults"),  # signing users in; fault injection
    ("kit",),  # helpers for checks, by role
    ("histories",),  # generated sequences of operations
    ("checks",),  # the checks, by role
    ("run",),  # prepare, drive, prove, replay
    ("cli",),  # the commands
)
# No module imports mitmproxy: it has its own environment, because it pins old versions of our dependencies.
OUTSIDER = "mitmproxy"
MAY_IMPORT = {
    "conformance": {"conformance", "fakes", "reports", FORKS},
    "fakes": {"fakes", DOUBLES, FORKS},
    "reference": {"reference", DOUBLES},
    "reports": {"reports"},
    DOUBLES: {DOUBLES},
    FORKS: {FORKS},
}
KNOWN = set(MAY_IMPORT)
# conformance uses the reference only as a process that it starts.
MAY_LAUNCH = {**MAY_IMPORT, "conformance": {*PACKAGES, FORKS}}
IMPORTING_CALLS = {"__import__", "find_spec", "import_module", "importorskip", "resolve_name", "run_module"}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Import:
    """One place where a module imports another, by a statement or a call, or launches it."""

    line: int
    module: str
    launched: bool = False


def text_of(node: ast.expr) -> str | None:
    """The leading text of a string, also of an f-string: `f"gateproof.fakes.{name}"` imports fakes."""
    if isinstance(node, ast.JoinedStr) and node.values:
        return text_of(node.values[0])
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def imports_of_a_call(call: ast.Call) -> list[Import]:
    name = getattr(call.func, "attr", getattr(call.func, "id", None))
    if name not in IMPORTING_CALLS:
        return []
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords)]
    return [Import(line=call.lineno, module=text) for each in given if (text := text_of(each))]


def launches_of_a_sequence(sequence: ast.List | ast.Tuple) -> list[Import]:
    """A module after `-m`, or one of ours anywhere in a command."""
    texts = [text_of(each) or "" for each in sequence.elts]
    return [
        Import(line=sequence.lineno, module=module, launched=True)
        for flag, module in itertools.pairwise(["", *texts])
        if (flag == "-m" and module) or module.startswith(f"{OURS}.")
    ]


def imports_in(tree: ast.Module) -> list[Import]:
    found: list[Import] = []
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                found += [Import(line=node.lineno, module=alias.name) for alias in node.names]
            case ast.ImportFrom(level=0, module=str(module)):
                found.append(Import(line=node.lineno, module=module))
                if module in {OURS, f"{OURS}.conformance"}:
                    # The imported name is then a package or a layer itself.
                    found += [Import(line=node.lineno, module=f"{module}.{each.name}") for each in node.names]
            case ast.Call():
                found += imports_of_a_call(node)
            case ast.List() | ast.Tuple():
                found += launches_of_a_sequence(node)
    return found


def violations(root: Path) -> list[str]:
    found = []
    for package in (*PACKAGES, *SHARED):
        for path in sorted((root / (f"{OURS}/{package}" if package in SHARED else package)).rglob("*.py")):
            for found_import in imports_in(ast.parse(path.read_text(encoding="utf-8"))):
                top, _, rest = found_import.module.partition(".")
                other = rest.partition(".")[0]
                allowed = (MAY_LAUNCH if found_import.launched else MAY_IMPORT)[package]
                # A folder of the checkout is not installed under its own name.
                by_itself = top == OUTSIDER or top in PACKAGES
                if by_itself or (top == OURS and other in KNOWN and other not in allowed):
                    verb = "launches" if found_import.launched else "imports"
                    found.append(f"{path.relative_to(root)}:{found_import.line} {verb} {found_import.module}")
    for folder in BESIDE:
        # Packages that npm installed for a test are skipped.
        ours = (path for path in (root / folder).rglob("*.py") if "node_modules" not in path.parts)
        for path in sorted(ours):
            found += [
                f"{path.relative_to(root)}:{found_import.line} imports {found_import.module} without {OURS}"
                for found_import in imports_in(ast.parse(path.read_text(encoding="utf-8")))
                if found_import.module.partition(".")[0] in PACKAGES
            ]
    return found


def upward_imports(root: Path) -> list[str]:
    """Imports of conformance from a higher layer, or from another folder of the same layer."""
    layer = {name: number for number, names in enumerate(LAYERS) for name in names}
    found = []
    for path in sorted((root / "conformance").glob("*/**/*.py")):
        own = path.relative_to(root / "conformance").parts[0]
        for found_import in imports_in(ast.parse(path.read_text(encoding="utf-8"))):
            parts = found_import.module.split(".")
            other = parts[2] if parts[:2] == [OURS, "conformance"] and len(parts) > 2 else own
            if other != own and layer.get(other, len(LAYERS)) >= layer.get(own, -1):
                found.append(
                    f"{path.relative_to(root)}:{found_import.line} imports up: {found_import.module}"
                )
    return found


def circles(root: Path) -> list[str]:
    """Modules that import each other in a circle, or else folders that do; imports for types count.

    A folder and its subfolder do not count as a circle: each may import the other.
    """
    files = {
        ".".join((OURS, *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__"): path
        for package in PACKAGES
        for path in (root / package).rglob("*.py")
    }
    graph = {name: _imported(name, path, files) for name, path in files.items()}
    folders: dict[str, set[str]] = {str(path.parent.relative_to(root)): set() for path in files.values()}
    for name, others in graph.items():
        own = files[name].parent
        for other in {files[each].parent for each in others}:
            if not (own.is_relative_to(other) or other.is_relative_to(own)):
                folders[str(own.relative_to(root))].add(str(other.relative_to(root)))
    return _in_a_circle(graph) or _in_a_circle(folders)


def _in_a_circle(graph: dict[str, set[str]]) -> list[str]:
    """The modules left after removing, repeatedly, those that cannot be in a circle."""
    while graph:
        # A module that imports none of the rest, or is imported by none of it, is in no circle.
        ends = {name for name, others in graph.items() if not others & graph.keys()}
        ends |= graph.keys() - set().union(*graph.values())
        if not ends:
            break
        graph = {name: others for name, others in graph.items() if name not in ends}
    return sorted(graph)


def _imported(name: str, path: Path, files: Mapping[str, Path]) -> set[str]:
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {module if module in files else node.module for module in modules}
    return (found & files.keys()) - {name}


def test_the_packages_keep_to_the_arrows() -> None:
    assert violations(ROOT) == []


def test_no_import_of_conformance_steps_up() -> None:
    assert upward_imports(ROOT) == []


def test_every_folder_of_conformance_has_a_floor() -> None:
    folders = {path.parent.name for path in (ROOT / "conformance").glob("*/__init__.py")}
    assert folders == {name for names in LAYERS for name in names}


def test_nothing_imports_in_a_circle() -> None:
    assert circles(ROOT) == []


def test_a_planted_step_up_is_found(tmp_path: Path) -> None:
    for path, source in {
        "conformance/wire/planted.py": "from gateproof.conformance.kit.clock import Clock",
        "conformance/kit/planted.py": (
            "if TYPE_CHECKING:\n    from gateproof.conformance.run.drive.plan import Plan"
        ),
        "conformance/signin/planted.py": "from gateproof.conformance.faults import toxics",
        "conformance/suite/planted.py": "from gateproof.conformance import run",
        "conformance/checks/fine.py": "from gateproof.conformance.kit.clock import Clock",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(source, encoding="utf-8")

    assert upward_imports(tmp_path) == [
        "conformance/kit/planted.py:2 imports up: gateproof.conformance.run.drive.plan",
        "conformance/signin/planted.py:1 imports up: gateproof.conformance.faults",
        "conformance/suite/planted.py:1 imports up: gateproof.conformance.run",
        "conformance/wire/planted.py:1 imports up: gateproof.conformance.kit.clock",
    ]


def test_a_planted_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "fakes").mkdir()
    for name, other in {"one": "two", "two": "three", "three": "one", "outside": "one"}.items():
        source = f"from gateproof.fakes.{other} import something"
        (tmp_path / "fakes" / f"{name}.py").write_text(source, encoding="utf-8")

    assert circles(tmp_path) == ["gateproof.fakes.one", "gateproof.fakes.three", "gateproof.fakes.two"]


def test_a_planted_circle_of_folders_is_found(tmp_path: Path) -> None:
    for path, source in {
        "fakes/gateway/one.py": "from gateproof.fakes.merchant.one import something",
        "fakes/merchant/one.py": "",
        "fakes/merchant/two.py": "from gateproof.fakes.gateway.two import something",
        "fakes/gateway/two.py": "from gateproof.fakes.outer import something",
        "fakes/outer.py": "",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(source, encoding="utf-8")

    assert circles(tmp_path) == ["fakes/gateway", "fakes/merchant"]


def test_there_is_something_to_guard() -> None:
    for package in PACKAGES:
        assert list((ROOT / package).rglob("*.py")), f"{package} has no modules"
    assert all(list((ROOT / OURS / shared).rglob("*.py")) for shared in SHARED)


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("reports", "import conformance"),
        ("conformance", "from conformance.rules import Rule"),
        ("reports", "import gateproof.conformance"),
        ("conformance", "from gateproof import reference"),
        ("reports", "from gateproof.fakes.merchant import app"),
        ("fakes", "from gateproof.reports import verdicts"),
        ("fakes", "def late():\n    import gateproof.reference.gateway"),
        ("reference", "import gateproof.reports.redaction as redaction"),
        ("reference", "if TYPE_CHECKING:\n    from gateproof.conformance.suite.rules import Rule"),
        ("conformance", "from gateproof.reference.gateway import policy"),
        ("conformance", "def late():\n    from gateproof.reference import gateway"),
        ("conformance", "import importlib\nimportlib.import_module('gateproof.reference.gateway')"),
        ("conformance", "from importlib import import_module\nimport_module(name='gateproof.reference')"),
        ("conformance", "__import__('gateproof.reference')"),
        ("conformance", "import importlib\nimportlib.import_module(f'gateproof.reference.{name}')"),
        ("reports", "command = [sys.executable, '-m', 'gateproof.reference.gateway']"),
        ("fakes", "command = ('python', '-m', 'gateproof.conformance.cli')"),
        ("fakes", "command = (*PYTHON_MODULE, 'gateproof.conformance.cli')"),
        ("gateproof/doubles", "from gateproof.reference import ids"),
        ("gateproof/forks", "import importlib\nimportlib.import_module('gateproof.reference.gateway')"),
        ("reference", "from gateproof.forks import server"),
        ("conformance", "from gateproof.doubles import endpoints"),
        ("conformance", "import mitmproxy"),
        ("conformance", "from mitmproxy import http"),
        ("fakes", "__import__('mitmproxy.http')"),
        ("conformance", "command = [python, '-m', 'mitmproxy.tools.main']"),
        ("tests", "from reports import verdicts"),
        ("tests", "def late():\n    import conformance.cli"),
        ("tests", "command = [sys.executable, '-m', 'reference.gateway']"),
        ("docs", "import conformance.suite.rules as rules"),
        ("benchmarks", "from fakes.merchant import app"),
        ("benchmarks", "import importlib\nimportlib.import_module('reference.gateway')"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, package: str, source: str) -> None:
    planted = tmp_path / package / "deep" / "planted.py"
    planted.parent.mkdir(parents=True)
    planted.write_text(source, encoding="utf-8")

    (found,) = violations(tmp_path)

    assert found.startswith(f"{planted.relative_to(tmp_path)}:")


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("conformance", "from gateproof.fakes.merchant import app\nfrom gateproof.reports import verdicts"),
        ("fakes", "from gateproof.doubles import endpoints"),
        ("gateproof/doubles", "from gateproof.doubles.endpoints import Endpoints"),
        ("conformance", "command = [sys.executable, '-m', 'gateproof.reference.gateway']"),
        ("conformance", "from gateproof import __version__\nfrom gateproof.package import ROOT"),
        ("conformance", "from .reference import near\nimport referencing"),
        ("reference", "import gateproof.reference.gateway\nfrom gateproof.reference.gateway import policy"),
        ("fakes", '"""Conformance imports reference? No: import reports is text here."""'),
        ("tests", "from gateproof.reference.gateway import policies\nfrom gateproof.reports import verdicts"),
        ("benchmarks", "import mitmproxy\ncommand = [python, '-m', 'gateproof.fakes.merchant']"),
        ("docs", "from gateproof.conformance.suite import rules"),
    ],
)
def test_what_the_design_allows_is_let_through(tmp_path: Path, package: str, source: str) -> None:
    planted = tmp_path / package / "planted.py"
    planted.parent.mkdir(parents=True)
    planted.write_text(source, encoding="utf-8")

    assert violations(tmp_path) == []
