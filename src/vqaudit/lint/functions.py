"""What a task's Python functions say, read from their source and never run.

Knows Python's syntax tree. Follows calls one level deep into functions of files that it can find.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from vqaudit.lint.finding import Place

__all__ = ["FunctionFacts", "Words", "forget_functions", "read_class_uses", "read_function"]

_LARGEST = 4 * 2**20
_HANDLING = frozenset(
    (
        "get",
        "split",
        "rsplit",
        "replace",
        "strip",
        "lstrip",
        "rstrip",
        "startswith",
        "endswith",
        "pop",
        "find",
        "rfind",
        "index",
        "count",
        "partition",
        "rpartition",
        "removeprefix",
        "removesuffix",
        "info",
        "warning",
        "error",
        "debug",
        "print",
        "exception",
        "open",
        "getenv",
        "items",
        "keys",
        "isinstance",
        "hasattr",
        "getattr",
        "findall",
        "finditer",
        "search",
        "match",
        "fullmatch",
        "compile",
        "sub",
        "encode",
        "decode",
        "strptime",
        "strftime",
    )
)
"""Calls whose arguments are looked for or logged, not shown to a model."""
_PATTERN_CALLS = frozenset(("findall", "finditer", "search", "match", "fullmatch", "compile"))
_LETTERS = frozenset("ABCDEFGHIJ")


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """Words that a function puts into its result."""

    words: str
    line: int
    certain: bool
    """False in a branch."""


@dataclass(frozen=True, kw_only=True)
class FunctionFacts:
    """What can be said of a function without running it."""

    place: Place
    pieces: tuple[Words, ...]
    keys: frozenset[str]
    """Keys that it looks up in anything, by `x["key"]` or `x.get("key")`."""
    settings_leave: bool
    """Whether its settings go to a function that could not be found, so that any key may be used."""
    patterns: tuple[tuple[str, int, bool], ...]
    """Regular expressions that it applies: pattern, line, whether they are matched at the beginning only."""
    guesses: int | None
    """Line of a random choice."""
    cuts: int | None
    """Line of a text cut at its first full stop."""
    letters: bool
    """Whether it names option letters, such as `["A", "B"]`."""
    names: frozenset[str]
    """Names and keys in it: what it speaks of."""


def read_function(reference: str, folder: Path) -> FunctionFacts | None:
    """Returns the facts of a function named as in `!function utils.doc_to_text`; None where it cannot be found.

    Args:
        reference: Module and function, joined by a dot.
        folder: Folder of the task file.
    """
    module, _, name = str(reference).rpartition(".")
    path = _module_path(module, folder)
    return None if path is None else _facts(path, name)


def read_class_uses(reference: str, folder: Path, setting: str) -> bool | None:
    """Returns whether a class does anything with a setting that it is given; None where that cannot be told."""
    module, _, name = str(reference).rpartition(".")
    path = _module_path(module, folder)
    tree = None if path is None else _tree(path)
    found = None if tree is None else tree.classes.get(name)
    methods = {} if found is None else {part.name: part for part in found.body if isinstance(part, ast.FunctionDef)}
    if "apply" not in methods:
        return None
    kept = {setting, "kwargs", *_attributes_from(methods.get("__init__"), setting)}
    used = {node.attr for name, part in methods.items() if name != "__init__" for node in _loads(part)}
    compiled = setting == "regex_pattern" and "regex" in used
    return bool(kept & used) or compiled


def _attributes_from(init: ast.FunctionDef | None, setting: str) -> Iterator[str]:
    for node in ast.walk(init) if init is not None else ():
        if isinstance(node, ast.Assign) and setting in {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}:
            yield from (target.attr for target in node.targets if isinstance(target, ast.Attribute))


def _loads(part: ast.AST) -> Iterator[ast.Attribute]:
    return (node for node in ast.walk(part) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load))


@dataclass(frozen=True, kw_only=True)
class _Module:
    functions: dict[str, ast.FunctionDef]
    classes: dict[str, ast.ClassDef]
    constants: dict[str, tuple[str, int]]
    imports: dict[str, tuple[str, str]]


def _module_path(module: str, folder: Path) -> Path | None:
    """The file of a module: beside the task file, or in a package that holds the folder."""
    relative = Path(*module.strip(".").split(".")) if module.strip(".") else Path("__init__")
    for base in (folder, *folder.parents):
        path = base / relative.with_suffix(".py")
        if path.is_file():
            return path
        if base != folder and base.name == relative.parts[0]:
            break
    return None


@lru_cache(maxsize=1024)
def _tree(path: Path) -> _Module | None:
    try:
        if path.stat().st_size > _LARGEST:
            return None
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    constants: dict[str, tuple[str, int]] = {}
    imports: dict[str, tuple[str, str]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            constants |= {t.id: (node.value.value, node.lineno) for t in node.targets if isinstance(t, ast.Name)}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    return _Module(
        functions={node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)},
        classes={node.name: node for node in tree.body if isinstance(node, ast.ClassDef)},
        constants=constants,
        imports=imports,
    )


@lru_cache(maxsize=4096)
def _facts(path: Path, name: str, deep: bool = True) -> FunctionFacts | None:
    module = _tree(path)
    if module is None:
        return None
    if name not in module.functions:
        if name not in module.imports:
            return None
        origin, real = module.imports[name]
        target = _module_path(origin, path.parent)
        return None if target is None or target == path else _facts(target, real, deep)
    visitor = _Visitor(path, module, module.functions[name], deep)
    return visitor.facts(name)


def forget_functions() -> None:
    """Forgets what was read, so that a file that has changed is read anew."""
    _tree.cache_clear()
    _facts.cache_clear()


class _Visitor(ast.NodeVisitor):
    """Walks one function; words that are only handled (split at, looked up, compared) are not shown to a model."""

    def __init__(self, path: Path, module: _Module, function: ast.FunctionDef, deep: bool) -> None:
        self._path, self._module, self._function, self._deep = path, module, function, deep
        self._depth = 0
        self._pieces: list[Words] = []
        self._keys: set[str] = set()
        self._patterns: list[tuple[str, int, bool]] = []
        self._called: list[tuple[FunctionFacts, bool]] = []
        self._guesses: int | None = None
        self._cuts: int | None = None
        self._leaves = False
        arguments = [argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)]
        self._settings = {argument for argument in arguments if "kwargs" in argument}

    def facts(self, name: str) -> FunctionFacts:
        body = self._function.body
        first = body[0]
        described = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        for statement in body[1:] if described else body:
            self.visit(statement)
        below = [facts for facts, _ in self._called]
        pieces = [*self._pieces]
        for facts, certain in self._called:
            pieces += [Words(words=w.words, line=w.line, certain=w.certain and certain) for w in facts.pieces]
        strings = {
            n.value for n in ast.walk(self._function) if isinstance(n, ast.Constant) and isinstance(n.value, str)
        }
        names = {n.id for n in ast.walk(self._function) if isinstance(n, ast.Name)}
        return FunctionFacts(
            place=Place(file=str(self._path), key=name, line=self._function.lineno),
            pieces=tuple(pieces),
            keys=frozenset(self._keys.union(*(facts.keys for facts in below))),
            settings_leave=self._leaves or any(facts.settings_leave for facts in below),
            patterns=tuple(self._patterns) + tuple(p for facts in below for p in facts.patterns),
            guesses=next((g for g in (self._guesses, *(f.guesses for f in below)) if g is not None), None),
            cuts=next((c for c in (self._cuts, *(f.cuts for f in below)) if c is not None), None),
            letters={"A", "B"} <= strings or any({"A", "B"} <= set(text) <= _LETTERS for text in strings),
            names=frozenset(strings | names),
        )

    def visit_branch(self, node: ast.AST) -> None:
        """Visits what only some rows reach."""
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1

    visit_IfExp = visit_Try = visit_Match = visit_For = visit_While = visit_branch

    def visit_If(self, node: ast.If) -> None:
        self.visit_branch(node)
        if any(isinstance(part, ast.Return) for part in ast.walk(node)):
            self._depth += 1  # what follows is reached in the other case only

    def visit_Dict(self, node: ast.Dict) -> None:
        for value in node.values:
            self.visit(value)

    def visit_Compare(self, node: ast.Compare) -> None:
        for part in (node.left, *node.comparators):
            if not isinstance(part, ast.Constant):
                self.visit(part)

    def visit_Raise(self, node: ast.AST) -> None:
        return

    visit_Assert = visit_Import = visit_ImportFrom = visit_Raise

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.slice, ast.Constant):
            if isinstance(node.slice.value, str):
                self._keys.add(node.slice.value)
            elif node.slice.value == 1 and _splits_at_stop(node.value):
                self._cuts = node.lineno
        self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and len(node.value.split()) > 1:
            self._add(node.value, node.lineno)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        parts = [str(v.value) if isinstance(v, ast.Constant) else "{{…}}" for v in node.values]
        if len("".join(parts).split()) > 1:
            self._add("".join(parts), node.lineno)
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                self.visit(value.value)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in self._module.constants:
            words, line = self._module.constants[node.id]
            self._add(words, line)

    def visit_Call(self, node: ast.Call) -> None:
        callee = node.func
        name = callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")
        if isinstance(callee, ast.Attribute):
            if name in ("choice", "choices") and getattr(callee.value, "id", "") == "random":
                self._guesses = node.lineno
            if name != "join" or not isinstance(callee.value, ast.Constant):
                self.visit(callee.value)
        first = node.args[0] if node.args else None
        text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
        if name == "get" and text is not None:
            self._keys.add(text)
        if name in _PATTERN_CALLS and text is not None:
            self._patterns.append((text, node.lineno, name in ("match", "fullmatch")))
        if isinstance(callee, ast.Name):
            self._follow(name, node)
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        for argument in arguments:
            if not (name in _HANDLING and isinstance(argument, ast.Constant | ast.JoinedStr)):
                self.visit(argument)

    def _follow(self, name: str, node: ast.Call) -> None:
        given = {a.id for a in (*node.args, *(k.value for k in node.keywords)) if isinstance(a, ast.Name)}
        known = name in self._module.functions or name in self._module.imports
        facts = _facts(self._path, name, False) if self._deep and known and name != self._function.name else None
        if facts is not None:
            self._called.append((facts, self._depth == 0))
        elif given & self._settings:
            self._leaves = self._leaves or name not in ("isinstance", "dict", "bool", "len", "str")

    def _add(self, words: str, line: int) -> None:
        self._pieces.append(Words(words=words, line=line, certain=self._depth == 0))


def _splits_at_stop(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "split"
        and bool(node.args)
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value == "."
    )
