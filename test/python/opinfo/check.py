# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One sample: imported, compiled, run forward and backward, and compared with eager PyTorch."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fuseops
import torch
from fuseops.torch import import_graph, import_program

from opinfo.cases import Case
from opinfo.compare import difference
from opinfo.eager import (
    ERRORS,
    Gradients,
    errors_of,
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
    if nobody said. `fuse_opt` is the tool that makes programs which round each value."""

    def __init__(
        self, claimed: frozenset[str] | None, fuse_opt: Path, *, rounds: bool = False
    ) -> None:
        self._claimed = claimed
        self._fuse_opt = fuse_opt
        self._programs = Programs(fuse_opt if rounds else None)

    def check(self, case: Case, with_backward_graph: bool = True) -> Outcome:
        """The outcome of one sample."""
        outcome = Outcome(case.name, "passed")
        try:
            self._check(case, outcome, with_backward_graph)
        except Excluded as excluded:
            outcome.status, outcome.reason = "excluded", str(excluded)
        except Different as different:
            reason = reason_of_difference(case.name, str(different))
            if reason is None and self._is_of_rounding(case, str(different), with_backward_graph):
                reason = "a value in between is next to the largest f16, to which each rounds it"
            outcome.status = "failed" if reason is None else "excluded"
            outcome.reason = reason or str(different)
        except Failed as failed:
            outcome.status, outcome.reason = "failed", str(failed)
        return outcome

    def _is_of_rounding(self, case: Case, difference: str, with_backward_graph: bool) -> bool:
        """Whether an infinity of f16, or what came of one, is not there or is another when every
        value in between is rounded as eager PyTorch rounds it: then the sample is right."""
        if case.dtype != "f16" or not re.search(r"(expected|got) (nan|-?inf)", difference):
            return False
        checker = Checker(self._claimed, self._fuse_opt, rounds=True)
        try:
            checker._check(case, Outcome(case.name, "passed"), with_backward_graph)
        except (Excluded, Failed):
            return False
        return True

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
            lambda eager, errors: _compare("result", results, eager, exact, errors),
            expected,
            lambda: results_of(case.function, case.tensors, is_scattered=True),
            lambda: errors_of(lambda given: results_of(case.function, given), case.tensors),
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

        def evaluate(given: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
            count = len(case.tensors)
            inputs, gradients = given[:count], given[count:]
            found = gradients_of(case.function, inputs, case.requires_grad, gradients)
            return [None] * count if found is None else found.values

        def compare(what: str, gradients: Sequence[torch.Tensor | None]) -> None:
            _meet(
                lambda eager, errors: _compare(
                    what,
                    _filled(case, gradients),
                    _filled(case, eager.values),
                    None if exact is None else exact.values,
                    errors,
                ),
                expected,
                lambda: gradients_of(
                    case.function, case.tensors, case.requires_grad, upstream, is_scattered=True
                ),
                lambda: errors_of(evaluate, [*case.tensors, *upstream]),
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


Errors = list[torch.Tensor | None] | None


def _meet(
    compare: Callable[[Any, Errors], None],
    eager: Any,
    other: Callable[[], Any],
    errors: Callable[[], Errors],
) -> None:
    """Compares with what eager PyTorch gives by its vector code or, where that differs, as at NaN,
    by its code for single elements, or within the error that it has where it isn't lucky."""
    try:
        compare(eager, None)
    except Different as different:
        for attempt in (lambda: (other(), None), lambda: (eager, errors())):
            try:
                compare(*attempt())
            except Different:
                continue
            return
        raise different from None


def _run(function: Callable[..., Any], *tensors: torch.Tensor) -> Any:
    try:
        return function(*tensors)
    except fuseops.FuseOpsError as error:
        raise Failed(f"does not run: {error}") from error


def _compare(
    what: str,
    actual: Sequence[torch.Tensor | None],
    eager: Sequence[torch.Tensor | None],
    exact: Sequence[torch.Tensor | None] | None,
    errors: Errors,
) -> None:
    if len(actual) != len(eager):
        raise Failed(f"expected {len(eager)} results, but got {len(actual)}")
    for index, (ours, theirs) in enumerate(zip(actual, eager, strict=True)):
        if theirs is None:
            continue
        wide = None if exact is None else exact[index]
        wrong = difference(ours, theirs, wide, errors[index] if errors else None)
        if wrong is not None:
            raise Different(f"{what} {index}: {wrong}")


def _filled(case: Case, gradients: Sequence[torch.Tensor | None]) -> list[torch.Tensor | None]:
    """None is a gradient of zeros; there is none of what isn't differentiated by."""
    return [
        (torch.zeros_like(tensor) if gradient is None else gradient) if flag else None
        for tensor, flag, gradient in zip(case.tensors, case.requires_grad, gradients, strict=True)
    ]
