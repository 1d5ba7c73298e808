# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds a fusible of FuseOps operations and prints it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from fuseops.errors import FuseOpsError
from fuseops.torch.writer import spell_float

# Floats that a program computes with, and integers that it reads.
FLOATS = {
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
}
INTEGERS = {torch.int32: "i32", torch.int64: "i64"}
_TYPES = {**FLOATS, **INTEGERS}


@dataclass(frozen=True)
class Type:
    """Sizes and dtype of a tensor; None is the number of rows."""

    shape: tuple[int | None, ...]
    dtype: torch.dtype

    def __str__(self) -> str:
        sizes = "".join(f"{'?' if size is None else int(size)}x" for size in self.shape)
        return f"tensor<{sizes}{_TYPES[self.dtype]}>"


@dataclass(frozen=True)
class Value:
    """A tensor of the program."""

    name: str
    type: Type


@dataclass(frozen=True)
class _Call:
    name: str
    operands: tuple[Value, ...]
    attributes: dict[str, object]
    results: tuple[Value, ...]


@dataclass
class Builder:
    """A program: its arguments, then the calls in order. Sizes are printed only
    at the end, so that building one has no need of their values."""

    arguments: list[Value] = field(default_factory=list)
    _calls: list[_Call] = field(default_factory=list)

    def argument(self, name: str, type: Type) -> Value:
        """Adds an argument."""
        self.arguments.append(Value(name, type))
        return self.arguments[-1]

    def call(
        self,
        operation: str,
        operands: Sequence[Value | None],
        results: Sequence[Type],
        **attributes: object,
    ) -> tuple[Value, ...]:
        """Adds the operation `fuseops.<operation>`; an operand that is None is left out.
        Attributes that are floats, integers or true are printed as such, strings as
        they are, and false ones are left out."""
        first = sum(len(call.results) for call in self._calls)
        made = tuple(Value(f"v{first + index}", type) for index, type in enumerate(results))
        given = tuple(operand for operand in operands if operand is not None)
        self._calls.append(_Call(operation, given, attributes, made))
        return made

    def depends_on(self, result: Value) -> set[str]:
        """The names of the arguments that a result is computed from."""
        needed = {result.name}
        for call in reversed(self._calls):
            if needed.intersection(value.name for value in call.results):
                needed.update(value.name for value in call.operands)
        return needed.intersection(value.name for value in self.arguments)

    def gradient_source(self, argument: Value, results: Sequence[Value]) -> Value | None:
        """Whose gradient the argument's is, when only `results` have one: None where
        there is none; a result where nothing but sums is in between; another argument
        where both are only added to one another; else the argument itself."""
        found = [value for value in results if argument.name in self.depends_on(value)]
        if not found:
            return None
        if len(found) == 1 and self._is_added(argument, found[0]):
            return found[0]
        users = [call for call in self._calls if argument in call.operands]
        if len(users) == 1 and users[0].name == "add":
            first = users[0].operands[0]
            is_only_added = [c for c in self._calls if first in c.operands] == users
            if first in self.arguments and is_only_added:
                return first
        return argument

    def _is_added(self, argument: Value, value: Value) -> bool:
        while value != argument:
            call = next((call for call in self._calls if value in call.results), None)
            if call is None or call.name not in ("add", "bias"):
                return False
            operands = call.operands[: 1 if call.name == "bias" else 2]
            on_path = [o for o in operands if argument.name in self.depends_on(o)]
            if len(on_path) != 1:
                return False
            value = on_path[0]
        return True

    def text(self, results: Sequence[Value], frozen: set[str], frozen_results: set[int]) -> str:
        """The program `main`. Nobody asks for the gradients of the arguments named
        in `frozen`, and nobody gives those of the results in `frozen_results`."""
        arguments = []
        for value in self.arguments:
            mark = " {fuseops.frozen}" if value.name in frozen else ""
            if any(call.name == "dropout" and call.operands[1] is value for call in self._calls):
                mark = " {fuseops.random_state}"
            arguments.append(f"%{value.name}: {value.type}{mark}")
        types = ", ".join(str(value.type) for value in results)
        header = f"fuseops.fusible @main({', '.join(arguments)}) -> ({types})"
        if frozen_results:
            listed = ", ".join(str(index) for index in sorted(frozen_results))
            header += f" attributes {{frozen_results = array<i64: {listed}>}}"
        lines = [header, "forward {"]
        lines += [f"  {_print_call(call)}" for call in self._calls]
        names = ", ".join(f"%{value.name}" for value in results)
        return "\n".join([*lines, f"  fuseops.return {names} : {types}", "}", ""])


def _print_call(call: _Call) -> str:
    results = ", ".join(f"%{value.name}" for value in call.results)
    operands = ", ".join(f"%{value.name}" for value in call.operands)
    attributes = ", ".join(
        f"{name} = {_print_attribute(value)}" if value is not True else name
        for name, value in call.attributes.items()
        if value is not False
    )
    properties = f" <{{{attributes}}}>" if attributes else ""
    taken = ", ".join(str(value.type) for value in call.operands)
    made = ", ".join(str(value.type) for value in call.results)
    return f'{results} = "fuseops.{call.name}"({operands}){properties} : ({taken}) -> ({made})'


def _print_attribute(value: object) -> str:
    if isinstance(value, float):
        return f"{spell_float(value)} : f64"
    return f"{value} : i64" if isinstance(value, int) else str(value)


def expect(condition: bool, name: str, expected: object, got: object) -> None:
    """Raises FuseOpsError about the argument `name` unless the condition holds."""
    if not condition:
        raise FuseOpsError(f"expected `{name}` to {expected}, but got {got}")
