# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checked rules of the house style, one function a rule.

A rule is a generator over a `Tree` that yields violations; its number is the
rule's number in the house style and stands in each message. Rules that other
tools check (clang-format, clang-tidy, ruff, the generated docs) are in
scripts/lint.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import op_docs
import tablegen

CXX = {".h", ".cpp"}
SOURCES = {".h", ".cpp", ".td", ".py"}
# Libraries in walk order: each may include only those before it.
WALK = [
    "Format",
    "Dialect",
    "Analysis",
    "Transforms",
    "Conversion",
    "Target",
    "Runtime",
    "Compiler",
    "CAPI",
    "Python",
]
ORDER = {library: index for index, library in enumerate(WALK)}
LICENSE_LINE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"


@dataclass(frozen=True)
class Violation:
    path: str
    line: int
    rule: str
    text: str
    is_warning: bool = False

    def __str__(self) -> str:
        kind = "warning" if self.is_warning else "error"
        return f"{self.path}:{self.line}: {kind}: {self.text} [rule {self.rule}]"


class Tree:
    """The files of one checkout, without what is built or generated."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    @functools.cached_property
    def files(self) -> list[str]:
        skip = {"build", ".git", ".venv", "dist", "__pycache__", "Fixtures", "generated"}
        found = []
        stack = [self.root]
        while stack:
            for path in sorted(stack.pop().iterdir()):
                if path.name in skip or path.is_symlink():
                    continue
                if path.is_dir():
                    if not path.name.endswith("_cache"):
                        stack.append(path)
                else:
                    found.append(path.relative_to(self.root).as_posix())
        return sorted(found)

    def under(self, *folders: str, suffixes: set[str] | None = None) -> list[str]:
        return [
            f
            for f in self.files
            if any(f.startswith(folder + "/") for folder in folders)
            and (suffixes is None or Path(f).suffix in suffixes)
        ]

    @functools.cache  # noqa: B019 - a tree lives as long as the program
    def text(self, path: str) -> str:
        return (self.root / path).read_text(errors="replace")

    @functools.cache  # noqa: B019
    def code(self, path: str) -> str:
        """The text of a C++ file with comments and strings blanked out."""

        def blank(match: re.Match) -> str:
            return re.sub(r"[^\n]", " ", match[0])

        pattern = r'R"(\w*)\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"'
        return re.sub(pattern, blank, self.text(path))

    def matches(
        self, path: str, pattern: str, *, raw: bool = False
    ) -> Iterator[tuple[int, re.Match]]:
        text = self.text(path) if raw else self.code(path)
        for match in re.finditer(pattern, text, re.M):
            yield text.count("\n", 0, match.start()) + 1, match


Check = Callable[[Tree], Iterator[Violation]]
RULES: dict[str, Check] = {}


def rule(number: str) -> Callable[[Check], Check]:
    def register(check: Check) -> Check:
        RULES[number] = check
        return check

    return register


def library_of(path: str) -> str | None:
    """The library that a file of lib/ or include/ belongs to."""
    match = re.match(r"(?:lib|include/FuseOps)/(\w+)/", path)
    return match[1] if match else None


@rule("1")
def layering(tree: Tree) -> Iterator[Violation]:
    """A library includes only libraries before it; Runtime none of them."""
    for path in tree.under("lib", "include", suffixes=CXX):
        library = library_of(path)
        for line, match in tree.matches(path, r'^\s*#\s*include\s+[<"]([^">]+)[">]', raw=True):
            included = match[1]
            other = re.match(r"FuseOps/(\w+)/", included)
            if library == "Runtime":
                if re.match(r"(mlir|llvm)(-c)?/", included) or (
                    other and other[1] not in {"Runtime", "Format"}
                ):
                    yield Violation(path, line, "1", f"Runtime must not include `{included}`")
                continue
            if not other or library not in ORDER:
                continue
            if ORDER.get(other[1], 0) > ORDER[library]:
                text = f"{library} comes before {other[1]} and must not include `{included}`"
                yield Violation(path, line, "1", text)


@rule("2")
def mirror(tree: Tree) -> Iterator[Violation]:
    """include/FuseOps/X mirrors lib/X; test/X mirrors lib/X; .td with its header."""
    folders = {Path(f).parent.as_posix() for f in tree.under("lib")}
    for path in tree.under("include/FuseOps", suffixes=CXX | {".td"}):
        folder = Path(path).parent.as_posix().replace("include/FuseOps", "lib", 1)
        if not any(f == folder or f.startswith(folder + "/") for f in folders):
            yield Violation(path, 1, "2", f"expected a folder `{folder}` that mirrors this one")
        if Path(path).suffix == ".cpp":
            yield Violation(path, 1, "2", "a .cpp file belongs in lib/")
    for path in tree.under("lib", suffixes={".td"}):
        yield Violation(path, 1, "2", "a .td file belongs beside its header in include/")
    for path in tree.under("test", suffixes={".mlir"}):
        top = Path(path).parts[1]
        if top in WALK:
            folder = "lib/" + "/".join(Path(path).parts[1:-1])
            if not any(f == folder or f.startswith(folder + "/") for f in folders):
                yield Violation(path, 1, "2", f"expected a folder `{folder}` that this tests")


@rule("3")
def file_length(tree: Tree) -> Iterator[Violation]:
    """500 lines warn, 800 fail; no file named Utils."""
    scripts = [f for f in tree.under("scripts") if Path(f).suffix == ""]
    everything = [f for f in tree.files if Path(f).suffix in SOURCES]
    for path in [*everything, *scripts]:
        lines = tree.text(path).count("\n")
        if lines > 800:
            yield Violation(path, 1, "3", f"expected at most 800 lines, but got {lines}")
        elif lines > 500:
            text = f"{lines} lines; split by concept beyond 500"
            yield Violation(path, 1, "3", text, is_warning=True)
        if re.search(r"(?i)utils?$", Path(path).stem) and Path(path).suffix in CXX:
            yield Violation(path, 1, "3", "split by concept, never into `Utils`")


def pass_file(tree: Tree, argument: str, stem: str) -> str | None:
    """The file of lib/ that implements a pass: its DEBUG_TYPE says so, or its name."""
    candidates = tree.under("lib", suffixes={".cpp"})
    named = [f for f in candidates if Path(f).stem == stem]
    if named:
        return named[0]
    debug_type = f'#define DEBUG_TYPE "{argument}"'
    return next((f for f in candidates if debug_type in tree.text(f)), None)


@rule("7")
def pass_names(tree: Tree) -> Iterator[Violation]:
    """Def, argument, file, test and DEBUG_TYPE of a pass agree."""
    for td, record in tablegen.passes(tree.root):
        name, argument = record["!name"], record["argument"]
        where, line = tablegen.definition(tree.root, name)
        path = where.relative_to(tree.root).as_posix()
        if not name.endswith("Pass"):
            yield Violation(path, line, "7", f"expected `{name}` to end with `Pass`")
        stem = name.removesuffix("Pass")
        flat = argument.replace("-", "")
        if flat not in {stem.lower(), "fuseops" + stem.lower()}:
            yield Violation(path, line, "7", f"argument `{argument}` does not spell `{stem}`")
        is_conversion = "Conversion" in td.parts
        if not argument.startswith("fuseops-"):
            if not is_conversion:
                text = f"expected argument `{argument}` to start with `fuseops-`"
                yield Violation(path, line, "7", text)
            elif not argument.startswith("convert-"):
                text = f"expected argument `{argument}` to start with `convert-`"
                yield Violation(path, line, "7", text)
        source = pass_file(tree, argument, stem.removeprefix("Convert") if is_conversion else stem)
        if source is None:
            yield Violation(
                path, line, "7", f"expected a file `{stem}.cpp` in lib/ for `{argument}`"
            )
            continue
        if f'#define DEBUG_TYPE "{argument}"' not in tree.text(source):
            yield Violation(source, 1, "7", f'expected `#define DEBUG_TYPE "{argument}"`')
        yield from pass_test(tree, source, argument)


def pass_test(tree: Tree, source: str, argument: str) -> Iterator[Violation]:
    folder = Path(source).parent.as_posix().replace("lib/", "test/", 1)
    if source.startswith("lib/Conversion/"):
        tests = [f for f in tree.under(folder) if argument in tree.text(f)]
        if not tests:
            yield Violation(
                source, 1, "7", f"expected a test in `{folder}` that runs `--{argument}`"
            )
        return
    test = f"{folder}/{argument.removeprefix('fuseops-')}.mlir"
    if test not in tree.files:
        yield Violation(source, 1, "7", f"expected a test `{test}`")


def explained(tree: Tree) -> Iterator[Violation]:
    """Each op that computes says its gradient, what is saved, and what it is in FP8."""
    for ops in op_docs.read_ops(tree.root).values():
        for op in ops:
            for paragraph in op_docs.missing(op):
                path, line = tablegen.definition(tree.root, op.record)
                name = path.relative_to(tree.root).as_posix()
                text = f"expected a paragraph `{paragraph}` in the description of `{op.name}`"
                yield Violation(name, line, "10", text)


@rule("10")
def documented(tree: Tree) -> Iterator[Violation]:
    """Each op, type, attribute and pass says what it is; each op has one example,
    and one that computes its gradient, what is saved, and what it is in FP8."""
    yield from explained(tree)

    def at(record: dict, text: str) -> Violation:
        path, line = tablegen.definition(tree.root, record["!name"])
        return Violation(path.relative_to(tree.root).as_posix(), line, "10", text)

    records = list(tablegen.fuseops_ops(tree.root))
    ops = {r["!name"] for r in records}
    for td in tablegen.root_files(tree.root):
        for base in ("TypeDef", "AttrDef", "PassBase"):
            for record in tablegen.instances(tree.root, td, base):
                # Enum attributes describe themselves.
                if "EnumAttr" not in record["!superclasses"] and _is_ours(tree, record):
                    records.append(record)
    for record in {r["!name"]: r for r in records}.values():
        name = record["!name"]
        if len((record.get("summary") or "").split()) < 2:
            yield at(record, f"expected a summary of `{name}` that says more than its name")
        if not (record.get("description") or "").strip():
            yield at(record, f"expected a description of `{name}`")
        if name in ops:
            count = len(tablegen.mlir_blocks(record.get("description") or ""))
            if count != 1:
                yield at(record, f"expected one ```mlir example of `{name}`, but got {count}")


def _is_ours(tree: Tree, record: dict) -> bool:
    path, _ = tablegen.definition(tree.root, record["!name"])
    return path.is_file() and "Torch" not in path.parts


@rule("17")
def pass_in_pipeline(tree: Tree) -> Iterator[Violation]:
    """Each pass is used by a pipeline or marked *standalone*."""
    for _, record in tablegen.passes(tree.root):
        name = record["!name"]
        if "*standalone*" in (record.get("description") or ""):
            continue
        # A pipeline names a pass by its argument, as a person would.
        call = re.compile(rf"[\",({{]{re.escape(record['argument'])}[\",){{]|\bcreate{name}\s*\(")
        users = [
            f for f in tree.under("lib/Compiler", suffixes={".cpp"}) if call.search(tree.text(f))
        ]
        if not users:
            where, line = tablegen.definition(tree.root, name)
            path = where.relative_to(tree.root).as_posix()
            text = f"expected `{name}` in a pipeline or marked *standalone*"
            yield Violation(path, line, "17", text)


PATTERN_BASE = (
    r"\b(?:struct|class)\s+\w+\s*(?:final\s*)?:[^;{]*"
    r"\b(?:Op\w*RewritePattern|Op\w*ConversionPattern|ConversionPattern|ConvertOpToLLVMPattern"
    r"|RewritePattern)\b[^;{]*\{"
)


def closing_brace(code: str, start: int) -> int:
    """The index after the brace that closes the one before `start`."""
    depth = 1
    for index in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[index], 0)
        if depth == 0:
            return index + 1
    return len(code)


@rule("21")
def pattern_discipline(tree: Tree) -> Iterator[Violation]:
    """Patterns mutate through the rewriter and say why they bail out."""
    faults = {
        r"(?:->|\.)erase\(\s*\)": "erase through the rewriter",
        r"(?<!rewriter\.)(?<!\w)\w*(?:\)|\w)(?:->|\.)replaceAllUsesWith\(": (
            "replace uses through the rewriter"
        ),
        r"return\s+(?:mlir::)?failure\(\s*\)\s*;": "expected notifyMatchFailure with a reason",
    }
    for path in tree.under("lib", suffixes=CXX):
        code = tree.code(path)
        for start in re.finditer(PATTERN_BASE, code):
            body = code[start.end() : closing_brace(code, start.end())]
            for pattern, text in faults.items():
                for match in re.finditer(pattern, body):
                    if match[0].startswith("rewriter."):
                        continue
                    line = code.count("\n", 0, start.end() + match.start()) + 1
                    yield Violation(path, line, "21", text)


@rule("23")
def no_hidden_options(tree: Tree) -> Iterator[Violation]:
    """No global cl::opt in lib; environment variables in Runtime and tools only."""
    for path in tree.under("lib", "include", suffixes=CXX):
        for line, _ in tree.matches(path, r"\bcl::(?:opt|list|bits|alias)\b"):
            yield Violation(path, line, "23", "a global cl::opt belongs in a tool")
        # DESIGN.md section 8 has CUDA's tools found by `CUDA_HOME`, in one file.
        if library_of(path) == "Runtime" or path == "lib/Target/CudaTools.cpp":
            continue
        for line, _ in tree.matches(path, r"\b(?:secure_)?getenv\(|\bGetEnv\("):
            yield Violation(path, line, "23", "an environment variable is read in Runtime only")


@rule("28")
def no_stray_output(tree: Tree) -> Iterator[Violation]:
    """No errs() or dbgs() in libraries."""
    for path in tree.under("lib", "include", suffixes=CXX):
        for line, match in tree.matches(path, r"\b(?:errs|dbgs)\(\)|\bstd::cerr\b"):
            yield Violation(path, line, "28", f"`{match[0]}` in a library: emit a diagnostic")


def guard_of(path: str) -> set[str]:
    """The include guards that fit a header's path."""

    def spell(text: str) -> str:
        return re.sub(r"\W", "_", text).upper()

    if path.startswith("include/"):
        return {spell(path.removeprefix("include/"))}
    if path.startswith("lib/"):
        inner = path.removeprefix("lib/")
        return {spell("FuseOps/" + inner), spell("FuseOps/lib/" + inner)}
    return {spell("FuseOps/" + path)}


@rule("30")
def headers(tree: Tree) -> Iterator[Violation]:
    """The file header names the file and the licence; guards spell the path."""
    for path in tree.files:
        suffix = Path(path).suffix
        text = tree.text(path)
        if suffix in CXX | {".td"}:
            first = text.split("\n", 1)[0]
            if not re.match(rf"//===-+ {re.escape(Path(path).name)} - .", first):
                expected = f"//===- {Path(path).name} - What it is"
                yield Violation(path, 1, "30", f"expected the file header `{expected}`")
            if f"// {LICENSE_LINE}" not in text[:600]:
                yield Violation(path, 1, "30", f"expected `// {LICENSE_LINE}` in the header")
        elif suffix == ".py" or (path.startswith("scripts/") and text.startswith("#!")):
            is_empty = not text.strip()
            if not is_empty and f"# {LICENSE_LINE}" not in text[:1500]:
                yield Violation(path, 1, "30", f"expected the line `# {LICENSE_LINE}`")
        if suffix == ".h" and not path.startswith("cmake/"):
            guard = re.search(r"^#ifndef (\w+)\n#define \1\b", text, re.M)
            expected = guard_of(path)
            if not guard or guard[1] not in expected:
                names = " or ".join(f"`{g}`" for g in sorted(expected))
                yield Violation(path, 1, "30", f"expected the include guard {names}")


CHECK_SUFFIX = r"(?:-(?:LABEL|NEXT|SAME|NOT|DAG|EMPTY|COUNT-\d+))?:"


@rule("35")
def filecheck_runs(tree: Tree) -> Iterator[Violation]:
    """A test with CHECK lines runs FileCheck; each prefix it names is used."""
    for path in tree.under("test", suffixes={".mlir", ".test"}):
        if path.startswith("test/python/"):
            continue  # pytest's, not lit's.
        text = tree.text(path)
        runs = "\n".join(re.findall(r"RUN:(.*)", text))
        if not runs:
            yield Violation(path, 1, "35", "expected a RUN line")
            continue
        has_check = re.search(rf"(?://|#)\s*CHECK{CHECK_SUFFIX}", text)
        prefixes = re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", runs)
        if has_check and "FileCheck" not in runs:
            line = text.count("\n", 0, has_check.start()) + 1
            yield Violation(path, line, "35", "CHECK lines, but no RUN line pipes into FileCheck")
        for prefix in ",".join(prefixes).split(",") if prefixes else []:
            if not re.search(rf"(?://|#)\s*{re.escape(prefix)}{CHECK_SUFFIX}", text):
                yield Violation(path, 1, "35", f"no line uses the prefix `{prefix}`")
        if "FileCheck" in runs and not prefixes and not has_check:
            yield Violation(path, 1, "35", "FileCheck runs, but there is no CHECK line")
        for match in re.finditer(r"%fixtures/([\w./-]+\w)", text):
            if not (tree.root / "test" / "Fixtures" / match[1]).exists():
                line = text.count("\n", 0, match.start()) + 1
                yield Violation(path, line, "35", f"there is no fixture `{match[1]}`")


@rule("36")
def no_blanket_xfail(tree: Tree) -> Iterator[Violation]:
    """No test is expected to fail everywhere."""
    for path in tree.under("test", suffixes={".mlir", ".test"}):
        for line, _ in tree.matches(path, r"XFAIL:\s*\*", raw=True):
            yield Violation(path, line, "36", "`XFAIL: *` hides a fault: mend or remove the test")


@rule("32")
def todo_has_issue(tree: Tree) -> Iterator[Violation]:
    """A TODO names its issue."""
    for path in [f for f in tree.files if Path(f).suffix in CXX | {".td"}]:
        for line, _ in tree.matches(path, r"\b(?:TODO|FIXME|XXX)\b(?!\(#\d+\))", raw=True):
            yield Violation(path, line, "32", "expected `TODO(#issue)`")


@rule("40")
def torch_import(tree: Tree) -> Iterator[Violation]:
    """Rule 40: `torch` is imported inside functions of the modules that need it."""
    for path in tree.under("python", suffixes={".py"}):
        if re.search(r"/(torch|nn|ops|backend)\w*(/|\.py$)", path):
            continue
        for line, _ in tree.matches(path, r"^(?:import torch|from torch)\b", raw=True):
            yield Violation(path, line, "40", "import torch only where it is needed")


def check(root: Path, only: str | None = None) -> dict[str, list[Violation]]:
    """Runs the rules, or one of them; violations by rule number."""
    tree = Tree(root)
    return {n: list(f(tree)) for n, f in RULES.items() if only in (None, n)}
