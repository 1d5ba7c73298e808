# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One sample: imported, compiled, run forward and backward, and compared with eager PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import fuseops
import torch
from fuseops.torch import import_graph, import_program

from opinfo.cases import Case
from opinfo.compare import difference
from opinfo.eager import (
    ERRORS,
    Gradients,
    gradients_in_f64,
    gradients_of,
    results_in_f64,
    results_of,
)
from opinfo.reasons import reason_of_difference, reason_of_result, reason_of_tensors
from opinfo.tracing import (
    Different,
    Excluded,
    Failed,
    Programs,
    export_call,
    is_mutating,
    operations_of,
    trace,
)


@dataclass
class Outcome:
    """What became of a sample: `passed`, `excluded` with a reason, or `failed`."""

    case: str
    status: str
    reason: str = ""
    # What was compared: forward, gradient, and PyTorch's own backward graph.
    checks: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    # Why the backward graph wasn't compared.
    backward_graph: str = ""


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
        except Different as different:
            reason = reason_of_difference(case.name, str(different))
            outcome.status = "failed" if reason is None else "excluded"
            outcome.reason = reason or str(different)
        except Failed as failed:
            outcome.status, outcome.reason = "failed", str(failed)
        return outcome

    def _check(self, case: Case, outcome: Outcome, with_backward_graph: bool) -> None:
        _exclude(reason_of_tensors(case.tensors))
        if not case.tensors:
            raise Excluded("no tensor among the arguments")
        try:
            expected = results_of(case.function, case.tensors)
        except ERRORS as error:
            raise Excluded("eager PyTorch refuses it") from error
        _exclude(reason_of_result(expected))
        program = self._programs.compile(self._import(case, outcome))
        results, context = _run(program.forward, *case.tensors)
        exact = results_in_f64(case)
        _meet(
            lambda eager: _compare("result", results, eager, exact),
            expected,
            lambda: results_of(case.function, case.tensors, is_scattered=True),
        )
        outcome.checks.append("forward")
        self._check_gradient(case, context, expected, outcome, with_backward_graph)

    def _import(self, case: Case, outcome: Outcome) -> str:
        graph = trace(case.function, case.tensors, pre_dispatch=True)
        if is_mutating(graph):
            # Only torch.export makes such a graph functional.
            program = export_call(case.function, case.tensors)
            outcome.operations = operations_of(program.graph_module)
            if not self._missing(outcome.operations):
                return import_program(program)
        outcome.operations = operations_of(graph)
        if is_mutating(graph) or self._missing(outcome.operations):
            # What composite operations are made of may have a conversion.
            with torch.no_grad():
                graph = trace(case.function, case.tensors, pre_dispatch=False)
            outcome.operations = operations_of(graph)
        self._require_claimed(outcome.operations)
        return import_graph(graph)

    def _missing(self, operations: list[str]) -> list[str]:
        return [name for name in operations if self._claimed and name not in self._claimed]

    def _require_claimed(self, operations: list[str]) -> None:
        for name in self._missing(operations):
            raise Excluded(f"no conversion of {name}")

    def _check_gradient(
        self,
        case: Case,
        context: fuseops.Context,
        results: list[torch.Tensor],
        outcome: Outcome,
        with_backward_graph: bool,
    ) -> None:
        generator = torch.Generator().manual_seed(case.index)
        # Of results that aren't floating point there are no gradients.
        upstream = [
            torch.randn(result.shape, generator=generator, dtype=torch.float64).to(result.dtype)
            for result in results
            if result.is_floating_point()
        ]
        if not upstream or not any(case.requires_grad):
            return
        expected = gradients_of(case.function, case.tensors, case.requires_grad, upstream)
        if expected is None:
            return
        # PyTorch ignores what comes for a result that it doesn't differentiate.
        for gradient, flag in zip(upstream, expected.through, strict=True):
            if not flag:
                gradient.zero_()
        exact = gradients_in_f64(case, upstream)
        gradients = _run(context.backward, *upstream)

        def compare(what: str, gradients: Sequence[torch.Tensor | None]) -> None:
            _meet(
                lambda eager: _compare_gradients(what, case, gradients, eager, exact),
                expected,
                lambda: gradients_of(
                    case.function, case.tensors, case.requires_grad, upstream, is_scattered=True
                ),
            )

        compare("gradient", gradients)
        outcome.checks.append("gradient")
        if with_backward_graph:
            found = self._run_backward_graph(case, upstream, expected, outcome)
            if found is not None:
                compare("backward graph's result", found)
                outcome.checks.append("backward graph")

    def _run_backward_graph(
        self, case: Case, upstream: list[torch.Tensor], expected: Gradients, outcome: Outcome
    ) -> list[torch.Tensor | None] | None:
        """The gradients that PyTorch's own backward, whose operations are others, gives as a
        program; None where it's no program."""
        count = len(case.tensors)
        used = [index for index, value in enumerate(expected.values) if value is not None]

        def backward(*values: torch.Tensor) -> list[torch.Tensor | None]:
            inputs, given = values[:count], values[count:]
            found = gradients_of(case.function, inputs, case.requires_grad, given)
            return [found.values[index] for index in used]

        try:
            graph = trace(backward, [*case.tensors, *upstream], pre_dispatch=False)
            operations = operations_of(graph)
            self._require_claimed(operations)
            program = self._programs.compile(import_graph(graph))
        except Excluded as excluded:
            # The sample as such has passed.
            outcome.backward_graph = str(excluded)
            return None
        results, _ = _run(program.forward, *case.tensors, *upstream)
        gradients: list[torch.Tensor | None] = [None] * count
        for index, result in zip(used, results, strict=True):
            gradients[index] = result
        outcome.operations = list(dict.fromkeys([*outcome.operations, *operations]))
        return gradients


def _exclude(reason: str | None) -> None:
    if reason is not None:
        raise Excluded(reason)


def _meet(compare: Callable[[Any], None], eager: Any, other: Callable[[], Any]) -> None:
    """Compares with what eager PyTorch gives by its vector code or, where that differs, as at NaN,
    by its code for single elements."""
    try:
        compare(eager)
    except Different as different:
        try:
            compare(other())
        except Different:
            raise different from None


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
            raise Different(f"{what} {index}: {wrong}")


def _compare_gradients(
    what: str,
    case: Case,
    actual: Sequence[torch.Tensor | None],
    expected: Gradients,
    exact: Gradients | None,
) -> None:
    """None is a gradient of zeros."""
    for index, tensor in enumerate(case.tensors):
        if not case.requires_grad[index]:
            continue
        zero = torch.zeros(tensor.shape, dtype=tensor.dtype)
        ours = zero if actual[index] is None else actual[index]
        theirs = zero if expected.values[index] is None else expected.values[index]
        wide = None if exact is None else exact.values[index]
        wrong = difference(ours, theirs, wide)
        if wrong is not None:
            raise Different(f"{what} {index}: {wrong}")
