"""Measures how the package is built: `python scripts/structure.py [FOLDER]`.

Prints first the house as a whole, each figure beside its bar: lines of code, modules, imports, how many files name an
operation, memos and caches, patterns that split words, complexity, the size of `Tx`, callbacks, arrows back. Then
modules a folder, the length of functions and files, the share of functions that are named by a bare participle
and of variables that are filler words, accesses to another object's private names, import circles, and class names
that stand for two things. With `--places`, also where each of them is.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles


def words_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


IRREGULAR = words_in("""
    told said kept held made heard seen known given found left sent spoken written drawn taken chosen shown
    thought meant begun gone done built lost hidden bound broken stood understood met paid brought caught felt
    grown laid led sold spent won thrown worn gotten forgotten
""")
NO_PARTICIPLE = words_in("""
    embed feed seed need speed shed bed red wed indeed exceed proceed succeed hundred
""")
# Words that name no thing: pronouns, adverbs, quantifiers. A variable named by one of them, or by a participle, says
# nothing of what it holds.
FILLER = words_in("""
    one ones it here there some each every thing things stuff these those this that such what whatever who
    whom own other_one another same again more most
""")
PUBLIC = frozenset(["os._exit"])  # documented for everybody, in spite of its name
MAX_SHARE = 2.0  # percent
MAX_FUNCTION = 30  # lines, 95 of 100


@dataclass
class Report:
    """What was counted, and where."""

    folders: Counter[str] = field(default_factory=Counter)
    files: dict[str, int] = field(default_factory=dict)
    lengths: list[tuple[int, str]] = field(default_factory=list)
    functions: int = 0
    variables: int = 0
    participles: list[str] = field(default_factory=list)
    fillers: list[str] = field(default_factory=list)
    private: list[str] = field(default_factory=list)
    classes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    imports: dict[str, set[str]] = field(default_factory=dict)


def measure(source: Path) -> Report:
    report = Report()
    paths = sorted(source.rglob("*.py"))
    modules = {module_name(source, path) for path in paths}
    for path in paths:
        text = path.read_text(encoding="utf-8")
        nodes = list(ast.walk(ast.parse(text)))
        name = str(path)
        report.files[name] = text.count("\n")
        if path.name != "__init__.py":
            report.folders[str(path.parent)] += 1
        report.imports[module_name(source, path)] = set(imported_modules(nodes, modules))
        measure_functions(report, name, nodes)
        measure_variables(report, name, nodes)
        report.private += [f"{name}:{line} {access}" for line, access in foreign_private_accesses(nodes)]
        for node in nodes:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                report.classes[node.name].append(name)
    return report


def measure_functions(report: Report, name: str, nodes: Iterable[ast.AST]) -> None:
    for node in nodes:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        report.functions += 1
        place = f"{name}:{node.lineno} {node.name}"
        report.lengths.append(((node.end_lineno or node.lineno) - node.lineno + 1, place))
        is_bool = isinstance(node.returns, ast.Name) and node.returns.id == "bool"
        if is_participle(node.name.strip("_").split("_")[0]) and not is_bool:
            report.participles.append(place)


def is_participle(word: str) -> bool:
    return word in IRREGULAR or (word.endswith("ed") and len(word) > 3 and word not in NO_PARTICIPLE)


def measure_variables(report: Report, name: str, nodes: Iterable[ast.AST]) -> None:
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            variable = node.id
        elif isinstance(node, ast.arg) and node.arg not in ("self", "cls"):
            variable = node.arg
        else:
            continue
        report.variables += 1
        word = variable.strip("_")
        if word in FILLER or is_participle(word):
            report.fillers.append(f"{name}:{node.lineno} {variable}")


def foreign_private_accesses(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Accesses to a private name of something that is neither `self` nor `cls`, nor of the class that has it."""
    for node in nodes:
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_") or node.attr.startswith("__"):
            continue
        owner = node.value
        if isinstance(owner, ast.Name) and owner.id in ("self", "cls"):
            continue
        if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super":
            continue
        if ast.unparse(node) not in PUBLIC:
            yield node.lineno, ast.unparse(node)


def module_name(source: Path, path: Path) -> str:
    parts = path.relative_to(source.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(nodes: Iterable[ast.AST], modules: set[str]) -> Iterator[str]:
    """The modules a file imports, those for types alone included. `from package import module` is an import of the
    module, and not of what the package's own file says."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in modules else node.module


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others (Tarjan)."""
    graph = {name: sorted(used & imports.keys() - {name}) for name, used in imports.items()}
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for target in graph[name]:
            if target not in order:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], order[target])
        if low[name] == order[name]:
            group: list[str] = []
            while not group or group[-1] != name:
                group.append(stack.pop())
            if len(group) > 1:
                groups.append(sorted(group))

    for name in sorted(graph):
        if name not in order:
            visit(name)
    return groups


# -- the house as a whole

BARS = {
    "lines of code": 48_000,
    "modules": 280,
    "lines of imports": 4_000,
    "files that name an operation, mean": 4.5,
    "memo decorators": 40,
    "caches with a rule of their own": 3,
    "patterns that split words": 4,
    "clause splitters": 1,
    "complexity, p99": 14,
    "complexity, highest": 22,
    "methods of Tx": 30,
    "Callable parameters": 80,
    "arrows back between rooms": 0,
    "import circles": 0,
}
"""What each may be at most."""
MEMOS = frozenset({"cache", "lru_cache", "cached_property"})
CODELESS = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})
WORD_PATTERN = re.compile(r"(?:[\\wWds_+*?:()\[\]^|'’\-.{},0-9]|A-Z|a-z|\s)*")
CLAUSE_SPLITTER = re.compile(r"_?(?:\w+_)?clauses|split_statement")


@dataclass
class House:
    """What is counted over the whole package, and where."""

    code_lines: Counter[str] = field(default_factory=Counter)
    import_lines: int = 0
    memos: list[str] = field(default_factory=list)
    caches: list[str] = field(default_factory=list)
    word_patterns: list[str] = field(default_factory=list)
    clause_splitters: list[str] = field(default_factory=list)
    callables: list[str] = field(default_factory=list)
    complexities: list[tuple[int, str]] = field(default_factory=list)


def measure_house(source: Path) -> House:
    house = House()
    for path in sorted(source.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        nodes = list(ast.walk(ast.parse(text)))
        house.code_lines[path.relative_to(source).parts[0]] += len(code_lines(text, nodes))
        for node in nodes:
            place = f"{path}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Import | ast.ImportFrom):
                house.import_lines += (node.end_lineno or node.lineno) - node.lineno + 1
            elif isinstance(node, ast.ClassDef):
                if "Cache" in node.name or any(getattr(part, "name", "") == "__missing__" for part in node.body):
                    house.caches.append(f"{place} {node.name}")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                measure_function(house, place, node)
            elif isinstance(node, ast.Call) and splits_words(node):
                house.word_patterns.append(f"{place} {ast.unparse(node)}")
    return house


def code_lines(text: str, nodes: Iterable[ast.AST]) -> set[int]:
    """The numbers of the lines that hold code: no blank lines, no comments, no docstrings."""
    numbers = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in CODELESS and token.string:
            numbers |= set(range(token.start[0], token.end[0] + 1))
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            docstring = node.body[0]
            numbers -= set(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return numbers


def measure_function(house: House, place: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    for decorator in node.decorator_list:
        name = ast.unparse(decorator).partition("(")[0].rpartition(".")[2]
        if name in MEMOS:
            house.memos.append(f"{place} {node.name}")
    if CLAUSE_SPLITTER.fullmatch(node.name) and len(node.args.args) == 1:
        house.clause_splitters.append(f"{place} {node.name}")
    house.complexities.append((complexity(node), f"{place} {node.name}"))
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    house.callables += [
        f"{place} {node.name}({argument.arg})"
        for argument in arguments
        if argument.annotation is not None and "Callable" in ast.unparse(argument.annotation)
    ]


def splits_words(call: ast.Call) -> bool:
    """Whether a call compiles a pattern of nothing but characters of words, with which a text is cut into words."""
    name = ast.unparse(call.func).rpartition(".")[2]
    if name not in ("compile", "lazy_pattern", "findall", "finditer") or not call.args:
        return False
    source = call.args[0]
    if not isinstance(source, ast.Constant) or not isinstance(source.value, str):
        return False
    has_words = "\\w" in source.value or "\\W" in source.value or "a-z" in source.value
    return (
        has_words and source.value.rstrip(")").endswith(("+", "*")) and WORD_PATTERN.fullmatch(source.value) is not None
    )


BRANCHES = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.Assert),
    *(ast.comprehension, ast.match_case),
)


def complexity(function: ast.AST) -> int:
    """One, and one for each branch, loop, condition of a comprehension, and `and` or `or` of a function."""
    count = 1
    for node in ast.walk(function):
        if isinstance(node, BRANCHES):
            count += 1
        if isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += len(node.ifs)
    return count


def operation_names(source: Path) -> list[str]:
    """The public methods of a memory, a conversation and documents whose names are of two words: `edit_fact`. A single
    word (`search`) stands in many files for other things."""
    names = set[str]()
    for path in operation_modules(source):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(map(is_operation, node.decorator_list)):
                names |= {node.name} if "_" in node.name else set()
    return sorted(names)


def operation_modules(source: Path) -> list[Path]:
    """The modules that declare operations."""
    return [path for path in sorted((source / "memory").rglob("*.py")) if "@operation(" in path.read_text("utf-8")]


def is_operation(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "operation"


def files_naming(source: Path, names: Iterable[str]) -> dict[str, int]:
    """In how many files each name stands as a word."""
    words = [set(re.findall(r"\w+", path.read_text(encoding="utf-8"))) for path in source.rglob("*.py")]
    return {name: sum(name in file_words for file_words in words) for name in names}


def is_task_class(name: str, file: str) -> bool:
    """Every task has its own `Inputs` and `Reply`: a task is a module with the same names in it."""
    return name in ("Inputs", "Reply") and ("/prompt" in file or file.endswith("follow_up_questions.py"))


def percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def print_report(report: Report, places: bool) -> bool:
    """Print what was measured, a line each with its goal; whether every goal is met."""
    lengths = sorted(length for length, _ in report.lengths)
    hundredths = quantiles(lengths, n=100) if len(lengths) > 1 else [0.0] * 99
    folder, modules = report.folders.most_common(1)[0]
    longest_file = max(report.files, key=lambda name: report.files[name])
    doubles = {
        name: files
        for name, files in report.classes.items()
        if sum(not is_task_class(name, file) for file in files) > 1
    }
    groups = circles(report.imports)
    rows: tuple[tuple[str, float, float, str, Iterable[str]], ...] = (
        ("most modules in a folder", modules, 0, folder, ()),
        ("functions, p50 lines", hundredths[49], 0, f"{report.functions} functions", ()),
        ("functions, p95 lines", hundredths[94], MAX_FUNCTION, "", ()),
        ("functions, longest", lengths[-1], 0, max(report.lengths)[1], ()),
        ("longest file, lines", report.files[longest_file], 0, longest_file, ()),
        ("functions named by a participle, %", percent(len(report.participles), report.functions), MAX_SHARE, "", ()),
        ("filler variables, %", percent(len(report.fillers), report.variables), MAX_SHARE, "", ()),
        ("foreign private accesses", len(report.private), 0.5, "", report.private),
        ("import circles", len(groups), 0.5, "", (" <-> ".join(group) for group in groups)),
        (
            "class names that stand twice",
            len(doubles),
            0.5,
            "",
            (f"{name}: {where}" for name, where in doubles.items()),
        ),
    )
    met = True
    for title, value, goal, about, where in rows:
        missed = bool(goal) and value > goal
        met = met and not missed
        limit = f"  (goal: at most {goal:g})" if goal > 1 else "  (goal: none)" if goal else ""
        print(f"{title:36}{value:8.1f}{limit}{'  MISSED' if missed else ''}  {about}".rstrip())
        if places:
            print("".join(f"    {place}\n" for place in where), end="")
    if places:
        for title, found_at in (("participles", report.participles), ("fillers", report.fillers)):
            print(title)
            print("".join(f"    {place}\n" for place in found_at), end="")
    return met


def print_house(source: Path, report: Report, places: bool) -> None:
    """Print each figure of the whole beside its bar, and where each place is that counts."""
    house = measure_house(source)
    named = files_naming(source, operation_names(source))
    complexities = sorted(house.complexities)
    groups = circles(report.imports)
    back = arrows_back(report.imports)
    tx_methods = class_methods(source / "ports.py", "Tx")
    figures: dict[str, tuple[float, Iterable[str]]] = {
        "lines of code": (house.code_lines.total(), (f"{room} {n:,}" for room, n in house.code_lines.most_common())),
        "modules": (len(report.files), ()),
        "lines of imports": (house.import_lines, ()),
        "files that name an operation, mean": (
            sum(named.values()) / len(named),
            (f"{n} {c}" for n, c in named.items()),
        ),
        "memo decorators": (len(house.memos), house.memos),
        "caches with a rule of their own": (len(house.caches), house.caches),
        "patterns that split words": (len(house.word_patterns), house.word_patterns),
        "clause splitters": (len(house.clause_splitters), house.clause_splitters),
        "complexity, p99": (complexities[len(complexities) * 99 // 100][0], ()),
        "complexity, highest": (complexities[-1][0], (f"{place} {count}" for count, place in complexities[-20:])),
        "methods of Tx": (len(tx_methods), tx_methods),
        "Callable parameters": (len(house.callables), house.callables),
        "arrows back between rooms": (len(back), back),
        "import circles": (len(groups), (" <-> ".join(group) for group in groups)),
    }
    for title, (value, where) in figures.items():
        bar = BARS[title]
        print(f"{title:36}{value:10,.1f}  (bar: {bar:,g}){'  MISSED' if value > bar else ''}")
        if places:
            print("".join(f"    {place}\n" for place in where), end="")


def class_methods(path: Path, name: str) -> list[str]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    bodies = [node.body for node in nodes if isinstance(node, ast.ClassDef) and node.name == name]
    return [part.name for body in bodies for part in body if isinstance(part, ast.FunctionDef)]


def arrows_back(imports: dict[str, set[str]]) -> list[str]:
    """Pairs of rooms of which each imports the other: one of the two arrows goes back."""
    arrows = {
        (module.split(".")[1], target.split(".")[1])
        for module, targets in imports.items()
        for target in targets & imports.keys()
        if module.count(".") and target.count(".")
    }
    return sorted(f"{room} <-> {other}" for room, other in arrows if room < other and (other, room) in arrows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("src/everword"))
    parser.add_argument("--places", action="store_true", help="say where each of them is")
    arguments = parser.parse_args()
    report = measure(arguments.folder)
    print_house(arguments.folder, report, arguments.places)
    return 0 if print_report(report, arguments.places) else 1


if __name__ == "__main__":
    raise SystemExit(main())
