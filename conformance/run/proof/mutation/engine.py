"""Makes mutants of Python files. It runs in .venv-mutants, where this project is not installed.

`python engine.py ROOT FILE...` prints each mutant as a line of JSON: the file below ROOT, the line, the
function, the operator, the changed lines, and the whole changed source. Only function bodies are changed.
Most operators are those of mutmut. The ones defined here force conditions, and remove statements, elements,
or one side of `and` and `or`.
"""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators, operator_string

Operator = Callable[[Any], Iterable[cst.CSTNode]]
# Annotations and defaults are not part of a function's code.
_NO_CODE = (cst.Annotation, cst.Decorator, cst.Parameters)
_DOCSTRING = (cst.SimpleString, cst.ConcatenatedString)


def forced_condition(node: cst.If) -> Iterator[cst.CSTNode]:
    for value in ("True", "False"):
        yield node.with_changes(test=cst.Name(value))


def one_side(node: cst.BooleanOperation) -> Iterator[cst.CSTNode]:
    yield from (node.left, node.right)


def dropped_statement(node: cst.Expr | cst.Raise) -> Iterator[cst.CSTNode]:
    if not (isinstance(node, cst.Expr) and isinstance(node.value, _DOCSTRING)):
        yield cst.Pass()


def dropped_element(node: cst.Tuple | cst.List | cst.Set | cst.Dict) -> Iterator[cst.CSTNode]:
    for place in range(len(node.elements) if len(node.elements) > 1 else 0):
        yield node.with_changes(elements=[*node.elements[:place], *node.elements[place + 1 :]])


# Strings are not changed: nearly all are descriptions, whose wording is free.
OPERATORS: tuple[tuple[Any, Operator], ...] = (
    *((kind, operator) for kind, operator in mutation_operators if operator is not operator_string),
    (cst.If, forced_condition),
    (cst.BooleanOperation, one_side),
    ((cst.Expr, cst.Raise), dropped_statement),
    ((cst.Tuple, cst.List, cst.Set, cst.Dict), dropped_element),
)


class _Changes(cst.CSTVisitor):
    """Every change of every node inside a function, with the qualified name of the outermost function."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, int, str, cst.CSTNode, cst.CSTNode]] = []
        self._classes: list[str] = []
        self._functions: list[cst.FunctionDef] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, _NO_CODE):
            return False
        if self._functions:
            self._change(node)
        if isinstance(node, cst.FunctionDef):
            self._functions.append(node)
        elif isinstance(node, cst.ClassDef) and not self._functions:
            self._classes.append(node.name.value)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if self._functions and original_node is self._functions[-1]:
            self._functions.pop()
        elif isinstance(original_node, cst.ClassDef) and not self._functions:
            self._classes.pop()

    def _change(self, node: cst.CSTNode) -> None:
        function = ".".join([*self._classes, self._functions[0].name.value])
        line = self.get_metadata(PositionProvider, node).start.line
        for kind, operator in OPERATORS:
            if isinstance(node, kind):
                name = operator.__name__.removeprefix("operator_")
                self.found += [(name, line, function, node, changed) for changed in operator(node)]


def _changes(wrapper: MetadataWrapper) -> Iterator[tuple[int, str, int, str, cst.CSTNode, cst.CSTNode]]:
    """Every change, with the number of its statement in the module."""
    for number, statement in enumerate(wrapper.module.body):
        visitor = _Changes()
        with visitor.resolve(wrapper):
            statement.visit(visitor)
        for found in visitor.found:
            yield (number, *found)


def mutants(source: str) -> Iterator[dict[str, Any]]:
    """Every mutant of a module that compiles, each once."""
    wrapper = MetadataWrapper(cst.parse_module(source))
    module = wrapper.module
    texts = [module.code_for_node(statement) for statement in module.body]
    head, _, tail = source.partition("".join(texts))
    seen = {source}
    for number, operator, line, function, node, changed in _changes(wrapper):
        try:
            # Only one statement of the module is generated again: the whole module takes ten times as long.
            text = module.code_for_node(module.body[number].deep_replace(node, changed))
            mutated = "".join([head, *texts[:number], text, *texts[number + 1 :], tail])
            compile(mutated, "<mutant>", "exec", dont_inherit=True)
        except (SyntaxError, TypeError, ValueError, cst.CSTValidationError):
            # The change makes no sense at this place.
            continue
        if mutated not in seen:
            seen.add(mutated)
            yield {
                "line": line,
                "function": function,
                "operator": operator,
                "change": _changed_lines(source, mutated),
                "source": mutated,
            }


def _changed_lines(before: str, after: str) -> list[str]:
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))
    return [line for line in lines[2:] if not line.startswith("@@")]


def main() -> None:
    root = Path(sys.argv[1])
    for file in sys.argv[2:]:
        for mutant in mutants((root / file).read_text(encoding="utf-8")):
            print(json.dumps({"file": file, **mutant}))


if __name__ == "__main__":
    main()
