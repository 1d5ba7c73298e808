# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel of a PTX text, taken apart."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

SHARED_BYTES = 227 * 1024
"""Of a block of sm_90."""

Statement = tuple[tuple[str, bool] | None, str, list[str]]
"""Predicate and whether it is negated, operation, operands."""

OPERANDS = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,\s][^,]*")
WORDS = re.compile(r"(?<![\w$%.])[\w$%]+")
LABEL = re.compile(r"([$\w]+)\s*:(?!:)")
ARRAY = re.compile(r"(\.extern )?\.shared \.align (\d+) \.[bfu](\d+) ([\w$]+)(?:\[(\d*)\])?;")
# Of these all threads of a warp, or those that an operand names, do one together.
TOGETHER = {"bar", "barrier", "elect", "setmaxnreg", "shfl", "stmatrix", "vote", "wgmma"}
# By these and by `bulk` and `async` ones warps tell one another, the copy engine and
# the tensor cores something, or write what these read.
EVENTS = {"bar", "barrier", "fence", "mbarrier", "setmaxnreg", "st", "stmatrix", "wgmma"}
CHANGES = {"atom", "bar", "barrier", "cp", "mbarrier", "red", "ret", "setmaxnreg", "st", "stmatrix"}


class SimulationError(Exception):
    """The kernel does what no kernel may."""


@dataclass
class Instruction:
    """A statement, and what is known of it before it runs."""

    predicate: tuple[str, bool] | None
    operation: str
    arguments: list[str]
    name: str = ""
    parts: list[str] = field(default_factory=list)
    kind: str = ""
    """The last part: a type, of most."""
    width: int = 64
    """Of that type, in bits."""
    is_together: bool = False
    is_event: bool = False
    """Whether a turn may end after it."""
    changes: bool = False
    """What others may wait for."""
    target: int = 0
    """Of a branch."""

    def __post_init__(self) -> None:
        self.name, *self.parts = self.operation.split(".")
        self.kind = self.parts[-1] if self.parts else ""
        found = re.fullmatch(r"[bfsu](\d+)", self.kind)
        self.width = int(found.group(1)) if found else 64
        # A barrier of clusters counts threads.
        self.is_together = self.name in TOGETHER and self.parts[:1] != ["cluster"]
        self.is_event = self.name in EVENTS or bool({"bulk", "async"} & set(self.parts[:3]))
        only_looks = self.parts[:1] in (["try_wait"], ["test_wait"], ["warp"])
        self.changes = self.name in CHANGES and not only_looks

    def __str__(self) -> str:
        operands = ", ".join(self.arguments)
        return f"{self.operation} {operands if len(operands) < 60 else operands[:60] + '...'}"


@dataclass
class Kernel:
    """One entry of a PTX text."""

    parameters: dict[str, int]
    """Bytes of each that is an array, 0 of the others."""
    shared: dict[str, tuple[int, int]]
    """Bytes of each symbol, 0 where the launch tells them, and its alignment."""
    block: tuple[int, int]
    cluster: int
    code: list[Statement] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.instructions = [Instruction(*statement) for statement in self.code]
        for instruction in self.instructions:
            if instruction.name == "bra":
                instruction.target = self.labels[instruction.arguments[0]]

    def has(self, *operations: str) -> bool:
        return any(operation.startswith(operations) for _, operation, _ in self.code)


class Scopes:
    """Registers and labels that a block in braces declares are its own."""

    def __init__(self) -> None:
        self.names: list[dict[str, str]] = [{}]
        """Of each scope, what its own names stand for."""
        self.open = [0]

    def enter(self) -> None:
        self.open.append(len(self.names))
        self.names.append({})

    def leave(self) -> None:
        self.open.pop()

    def declare(self, name: str) -> str:
        """The name that a label or a register has in the kernel."""
        scope = self.open[-1]
        self.names[scope][name] = f"{name}$scope{scope}" if scope else name
        return self.names[scope][name]

    def resolve(self, text: str, scopes: list[int]) -> str:
        """Operands that stand in these scopes."""

        def name(word: re.Match[str]) -> str:
            owners = [self.names[s] for s in reversed(scopes) if word.group() in self.names[s]]
            return owners[0][word.group()] if owners else word.group()

        return WORDS.sub(name, text) if len(scopes) > 1 else text


def find_body(text: str, start: int) -> str:
    """What stands between the brace at `start` and the one that closes it."""
    depth = 0
    for brace in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return text[start + 1 : brace.start()]
    raise SimulationError("a kernel without an end")


def split_body(body: str) -> tuple[list[str], list[list[int]], dict[str, int], Scopes]:
    """Its statements, the scopes around each, and where its labels are."""
    scopes, lines, around, labels = Scopes(), [], [], {}
    for part in body.split(";"):
        line = part.strip()
        while line:
            if line[0] in "{}":
                scopes.enter() if line[0] == "{" else scopes.leave()
                line = line[1:].lstrip()
            elif label := LABEL.match(line):
                labels[scopes.declare(label.group(1))] = len(lines)
                line = line[label.end() :].lstrip()
            elif line.startswith(".reg"):
                for register in line.split()[2:] if scopes.open[-1] else []:
                    scopes.declare(register.strip(","))
                break
            else:
                if not line.startswith("."):
                    lines.append(line)
                    around.append(list(scopes.open))
                break
    return lines, around, labels, scopes


def parse_statement(line: str, around: list[int], scopes: Scopes) -> Statement:
    predicate = None
    words = line.split(None, 1)
    if words[0].startswith("@"):
        predicate = (scopes.resolve(words[0].lstrip("@!"), around), "!" in words[0])
        words = words[1].split(None, 1)
    operands = scopes.resolve(words[1], around) if len(words) > 1 else ""
    return predicate, words[0], [operand.strip() for operand in OPERANDS.findall(operands)]


@functools.lru_cache(maxsize=32)
def parse(text: str, name: str) -> Kernel:
    """The entry `name` of a PTX text, as LLVM prints it."""
    found = re.search(rf"\.entry {name}\(([^)]*)\)([^{{]*)", text)
    if not found:
        raise SimulationError(f"no kernel `{name}`")
    declared, directives = found.groups()
    body = re.sub(r"//[^\n]*", "", find_body(text, found.end()))
    parameters = {
        parameter: int(size or 0)
        for parameter, size in re.findall(r"(\w+_param_\d+)(?:\[(\d+)\])?", declared)
    }

    def directive(key: str, default: tuple[int, ...]) -> tuple[int, ...]:
        match = re.search(rf"\.{key} ([\d, ]+)", directives)
        return tuple(map(int, match.group(1).split(","))) if match else default

    x, y, *_ = (*directive("maxntid", (1,)), 1)
    # Symbols of one kernel stand in it, others before all kernels.
    used = set(re.findall(r"[\w$]+", body))
    shared = {
        symbol: (int(bits) // 8 * int(count or not dynamic), int(align))
        for dynamic, align, bits, symbol, count in ARRAY.findall(text)
        if symbol in used
    }
    lines, around, labels, scopes = split_body(body)
    code = [parse_statement(*where, scopes=scopes) for where in zip(lines, around, strict=True)]
    cluster = directive("reqnctapercluster", (1,))[0]
    return Kernel(parameters, shared, (x, y), cluster, code, labels)
