# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One sample: imported, compiled, run forward and backward, and compared with eager PyTorch."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import fuseops
import torch
from fuseops.torch import import_graph, import_program
from fuseops.torch.importer import export
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedOperatorException,
)
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import (
    GuardOnDataDependentSymNode,
    PendingUnbackedSymbolNotFound,
)
from torch.utils import _pytree as pytree

from opinfo.cases import DTYPES, Case
from opinfo.compare import difference
from opinfo.reasons import find_reason, reason_of_result, reason_of_tensors

# What PyTorch raises where a shape or a branch depends on values.
_UNTRACEABLE = (
    DataDependentOutputException,
    DynamicOutputShapeException,
    GuardOnDataDependentSymNode,
    PendingUnbackedSymbolNotFound,
)
# What PyTorch raises where a call isn't one.
_ERRORS = (RuntimeError, NotImplementedError, ValueError, TypeError, IndexError, AssertionError)


@dataclass
class Outcome:
    """What became of a sample: `passed`, `excluded` with a reason, or `failed`."""

    case: str
    status: str
    reason: str = ""
    # What was compared: forward, gradient, and PyTorch's own backward graph.
    checks: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)


class Excluded(Exception):
    """A sample that isn't compared; the argument is the reason."""


class Failed(Exception):
    """A sample that is wrong; the argument says how."""


class Programs:
    """Compiled programs by their text: samples often differ in values only."""

    def __init__(self, capacity: int = 64) -> None:
        self._capacity = capacity
        self._programs: OrderedDict[str, fuseops.Program | Exception] = OrderedDict()

    def compile(self, text: str) -> fuseops.Program:
        """The program of a text; raises as the first attempt did."""
        if text not in self._programs:
            try:
                self._programs[text] = fuseops.compile_ir(text)
            except fuseops.FuseOpsError as error:
                self._programs[text] = error
            while len(self._programs) > self._capacity:
                self._programs.popitem(last=False)
        self._programs.move_to_end(text)
        found = self._programs[text]
        if isinstance(found, fuseops.Program):
            return found
        reason = find_reason(found.diagnostics or str(found))
        if reason is None:
            raise Failed(f"refused: {(found.diagnostics or str(found)).strip()}")
        raise Excluded(reason)


def operations_of(graph: GraphModule) -> list[str]:
    """The names of the operations that make tensors, as the converter knows them."""
    found = {}
    for node in graph.graph.nodes:
        if not isinstance(node.target, torch._ops.OpOverload):
            continue
        if torch.Tag.nondeterministic_seeded in node.target.tags:
            raise Excluded("random operation")
        leaves = pytree.tree_leaves(node.meta.get("val"))
        if any(isinstance(leaf, torch.Tensor) for leaf in leaves):
            schema = node.target._schema
            name = schema.name.replace("::", ".")
            found[f"{name}.{schema.overload_name}".rstrip(".")] = None
    return list(found)


def _is_mutating(graph: GraphModule) -> bool:
    return any(
        isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
        for node in graph.graph.nodes
    )


def _trace(
    function: Callable[..., Any], tensors: Sequence[torch.Tensor], pre_dispatch: bool
) -> GraphModule:
    try:
        with torch.no_grad() if pre_dispatch else torch.enable_grad():
            return make_fx(function, tracing_mode="fake", pre_dispatch=pre_dispatch)(*tensors)
    except _UNTRACEABLE as error:
        raise Excluded("depends on the values of a tensor") from error
    except UnsupportedOperatorException as error:
        raise Excluded("PyTorch cannot trace it") from error


def _export(case: Case) -> ExportedProgram:
    try:
        return export(case.function, case.tensors)
    except Exception as error:  # The exporter has no one type for what it refuses.
        raise Excluded("torch.export refuses it") from error


class Checker:
    """Checks samples; `claimed` are the operations that the converter has, None
    if nobody said."""

    def __init__(self, claimed: frozenset[str] | None) -> None:
        self._claimed = claimed
        self._programs = Programs()

    def check(self, case: Case, with_backward_graph: bool = True) -> Outcome:
        """The outcome of one sample."""
        outcome = Outcome(case.name, "passed")
        try:
            self._check(case, outcome, with_backward_graph)
        except Excluded as excluded:
            outcome.status, outcome.reason = "excluded", str(excluded)
        except Failed as failed:
            outcome.status, outcome.reason = "failed", str(failed)
        return outcome

    def _check(self, case: Case, outcome: Outcome, with_backward_graph: bool) -> None:
        _exclude(reason_of_tensors(case.tensors))
        if not case.tensors:
            raise Excluded("no tensor among the arguments")
        eager = self._eager(case.function, case.tensors)
        _exclude(reason_of_result(eager))
        exact = _in_f64(case)
        text = self._import(case, outcome)
        program = self._programs.compile(text)
        results, context = _run(program.forward, *case.tensors)
        _compare("result", results, eager, exact)
        outcome.checks.append("forward")
        self._check_gradient(case, context, eager, outcome, with_backward_graph)

    def _eager(
        self, function: Callable[..., Any], tensors: Sequence[torch.Tensor]
    ) -> list[torch.Tensor]:
        # A call may write its arguments.
        try:
            with torch.no_grad():
                result = function(*[tensor.clone() for tensor in tensors])
        except _ERRORS as error:
            raise Excluded("eager PyTorch refuses it") from error
        return pytree.tree_leaves(result)

    def _import(self, case: Case, outcome: Outcome) -> str:
        graph = _trace(case.function, case.tensors, pre_dispatch=True)
        if _is_mutating(graph):
            # Only torch.export makes such a graph functional.
            program = _export(case)
            outcome.operations = operations_of(program.graph_module)
            self._require_claimed(outcome.operations)
            return import_program(program)
        outcome.operations = operations_of(graph)
        self._require_claimed(outcome.operations)
        return import_graph(graph)

    def _require_claimed(self, operations: list[str]) -> None:
        for name in operations:
            if self._claimed is not None and name not in self._claimed:
                raise Excluded(f"no conversion of {name}")

    def _check_gradient(
        self,
        case: Case,
        context: fuseops.Context,
        eager: list[torch.Tensor],
        outcome: Outcome,
        with_backward_graph: bool,
    ) -> None:
        if not any(tensor.is_floating_point() for tensor in case.tensors):
            return
        generator = torch.Generator().manual_seed(case.index)
        # Of results that aren't floating point there are no gradients.
        upstream = [
            torch.randn(result.shape, generator=generator, dtype=torch.float64).to(result.dtype)
            for result in eager
            if result.is_floating_point()
        ]
        if not upstream:
            return
        expected = _autograd(case.function, case.tensors, upstream)
        if expected is None:
            return
        exact = _autograd_in_f64(case, upstream)
        gradients = list(_run(context.backward, *upstream))
        _compare_gradients("gradient", case.tensors, gradients, expected, exact)
        outcome.checks.append("gradient")
        if with_backward_graph:
            self._check_backward_graph(case, upstream, expected, exact, outcome)

    def _check_backward_graph(
        self,
        case: Case,
        upstream: list[torch.Tensor],
        expected: list[torch.Tensor | None],
        exact: list[torch.Tensor | None] | None,
        outcome: Outcome,
    ) -> None:
        """PyTorch's own backward, whose operations are others, as a program."""
        count = len(case.tensors)
        used = [index for index, gradient in enumerate(expected) if gradient is not None]
        if not used:
            return

        def backward(*values: torch.Tensor) -> list[torch.Tensor]:
            gradients = _autograd(case.function, values[:count], values[count:])
            return [gradients[index] for index in used]

        try:
            graph = _trace(backward, [*case.tensors, *upstream], pre_dispatch=False)
            operations = operations_of(graph)
            self._require_claimed(operations)
            if _is_mutating(graph):
                raise Excluded("the backward graph writes a tensor")
            program = self._programs.compile(import_graph(graph))
        except Excluded:
            # The sample passed already; what is missing is counted by operation.
            return
        results, _ = _run(program.forward, *case.tensors, *upstream)
        gradients: list[torch.Tensor | None] = [None] * count
        for index, result in zip(used, results, strict=True):
            gradients[index] = result
        _compare_gradients("backward graph's result", case.tensors, gradients, expected, exact)
        outcome.checks.append("backward graph")
        outcome.operations = list(dict.fromkeys([*outcome.operations, *operations]))


def _exclude(reason: str | None) -> None:
    if reason is not None:
        raise Excluded(reason)


def _run(function: Callable[..., Any], *tensors: torch.Tensor) -> Any:
    try:
        return function(*tensors)
    except fuseops.FuseOpsError as error:
        raise Failed(f"does not run: {error}") from error


def _compare(
    what: str,
    actual: Sequence[torch.Tensor],
    eager: Sequence[torch.Tensor],
    exact: Sequence[torch.Tensor] | None,
) -> None:
    if len(actual) != len(eager):
        raise Failed(f"expected {len(eager)} results, but got {len(actual)}")
    for index, (ours, theirs) in enumerate(zip(actual, eager, strict=True)):
        wrong = difference(ours, theirs, None if exact is None else exact[index])
        if wrong is not None:
            raise Failed(f"{what} {index}: {wrong}")


def _compare_gradients(
    what: str,
    tensors: Sequence[torch.Tensor],
    actual: Sequence[torch.Tensor | None],
    eager: Sequence[torch.Tensor | None],
    exact: Sequence[torch.Tensor | None] | None,
) -> None:
    """None is a gradient of zeros."""
    for index, tensor in enumerate(tensors):
        if not tensor.is_floating_point():
            continue
        zero = torch.zeros(tensor.shape, dtype=tensor.dtype)
        ours = zero if actual[index] is None else actual[index]
        theirs = zero if eager[index] is None else eager[index]
        wide = None if exact is None else exact[index]
        wrong = difference(ours, theirs.contiguous(), wide)
        if wrong is not None:
            raise Failed(f"{what} {index}: {wrong}")


def _autograd(
    function: Callable[..., Any],
    tensors: Sequence[torch.Tensor],
    upstream: Sequence[torch.Tensor],
) -> list[torch.Tensor | None] | None:
    """The gradient of each tensor; None where no result has one."""
    with torch.enable_grad():
        leaves = [tensor.detach().requires_grad_(tensor.is_floating_point()) for tensor in tensors]
        results = [
            result
            for result in pytree.tree_leaves(function(*leaves))
            if isinstance(result, torch.Tensor) and result.is_floating_point()
        ]
        pairs = [
            (result, gradient)
            for result, gradient in zip(results, upstream, strict=True)
            if result.requires_grad
        ]
        wanted = [leaf for leaf in leaves if leaf.requires_grad]
        if not pairs:
            return None
        found = iter(
            torch.autograd.grad(
                [result for result, _ in pairs],
                wanted,
                [gradient for _, gradient in pairs],
                allow_unused=True,
            )
        )
        return [next(found) if leaf.requires_grad else None for leaf in leaves]


def _autograd_in_f64(
    case: Case, upstream: Sequence[torch.Tensor]
) -> list[torch.Tensor | None] | None:
    if not _is_narrow(case):
        return None
    try:
        return _autograd(case.function, _widen(case.tensors), _widen(upstream))
    except _ERRORS:
        return None


def _widen(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [tensor.double() if tensor.is_floating_point() else tensor for tensor in tensors]


def _is_narrow(case: Case) -> bool:
    return DTYPES[case.dtype] in (torch.float32, torch.float16, torch.bfloat16)


def _in_f64(case: Case) -> list[torch.Tensor] | None:
    """The results in f64, None where the call gives others there."""
    if not _is_narrow(case):
        return None
    try:
        with torch.no_grad():
            return pytree.tree_leaves(case.function(*_widen(case.tensors)))
    except _ERRORS:
        return None
