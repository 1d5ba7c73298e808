# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A few samples of every operator; scripts/check_opinfo runs more of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from opinfo.cases import Case, cases, operators  # noqa: E402
from opinfo.check import Checker  # noqa: E402
from opinfo.compare import difference  # noqa: E402
from opinfo.eager import errors_of  # noqa: E402
from opinfo.reasons import find_reason, reason_of_difference  # noqa: E402
from opinfo.report import Report, covered_operations  # noqa: E402
from opinfo.runner import (  # noqa: E402
    SUITE,
    claimed_operations,
    default_jobs,
    default_names,
    run,
)

FUSE_OPT = Path(__file__).resolve().parents[3] / "build" / "dev" / "bin" / "fuse-opt"


def check_samples() -> None:
    claimed = claimed_operations(FUSE_OPT)
    report = Report(claimed)
    settings = replace(SUITE, claimed=claimed, fuse_opt=FUSE_OPT)
    for outcome in run(default_names(), settings, default_jobs()):
        report.add(outcome)
    assert len(report.outcomes) > len(operators())
    assert not report.failures, report.failures_text()
    # Of what isn't run here any more conformance/test_coverage.py would not know.
    assert sorted(covered_operations() - report.covered()) == []


def test_samples_are_right() -> None:
    # In a process of its own: workers are forked, which PyTorch forbids once
    # autograd has started its threads.
    code = "from opinfo.test_opinfo import check_samples; check_samples()"
    root = Path(__file__).resolve().parents[3]
    path = os.pathsep.join(str(root / p) for p in ("test/python", "python", "scripts"))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]


def test_wrong_result_fails() -> None:
    def call(x: torch.Tensor) -> torch.Tensor:
        # What is traced isn't what eager computes.
        is_traced = isinstance(x, torch._subclasses.FakeTensor)
        return torch.sin(x) if is_traced else torch.cos(x)

    case = Case("wrong", "f32", 0, call, (torch.randn(8),), (False,))
    outcome = Checker(None, FUSE_OPT).check(case)
    assert outcome.status == "failed"
    assert outcome.reason.startswith("result 0: 8 of 8 elements differ")


def test_unlisted_refusal_is_none() -> None:
    assert find_reason("x:1:1: error: cannot convert `torch.aten.silu`: never said") is None
    refused = "x:1:1: error: cannot convert `torch.aten.sort`: not a fusible operation"
    assert find_reason(refused) == "no conversion of aten.sort"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_comparison_sees_a_few_ulp_and_special_values(dtype: torch.dtype) -> None:
    values = torch.tensor([1.0, -2.0, 0.0, float("inf"), float("nan")], dtype=dtype)
    assert difference(values, values.clone(), None) is None
    for index, other in ((0, 1.2), (2, 0.3), (3, 1.0), (3, float("nan")), (4, 1.0)):
        wrong = values.clone()
        wrong[index] = other
        assert difference(wrong, values, None) is not None
    assert "expected dtype" in difference(values.int(), values, None)
    assert "expected shape" in difference(values[1:], values, None)


@pytest.mark.parametrize(
    "name",
    [
        # A gradient at NaN, which PyTorch's vector code gives and the rest doesn't.
        "nn.functional.hardtanh/f64/19",
        # No gradient at NaN.
        "nn.functional.hinge_embedding_loss/f16/20",
        # Gradients that cancel, of which eager PyTorch has one right by luck.
        "masked.softmax/f32/3",
        # A norm of order -1 with a 0 among the elements.
        "nn.functional.normalize/bf16/3",
    ],
)
def test_special_values(name: str) -> None:
    op, dtype, index = name.split("/")
    case = next(case for case in cases(op, dtype, 40) if case.index == int(index))
    outcome = Checker(claimed_operations(FUSE_OPT), FUSE_OPT).check(case)
    assert (outcome.status, outcome.reason) == ("passed", "")


@pytest.mark.parametrize("fault", [0.0, 500.0])
def test_infinity_of_a_rounding_is_excluded(fault: float) -> None:
    # The product is 1024.4995: times 63.97 it is more than f16 holds, but eager PyTorch
    # rounds it to 1024 first. What is stored is infinite, and so is what is made of it.
    def call(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        is_traced = isinstance(x, torch._subclasses.FakeTensor)
        large = x * y * 63.97
        return [large, large * 0.5 + (fault if is_traced else 0.0)]

    tensors = (torch.tensor([1 + 2.0**-10, 3.0]).half(), torch.tensor([1023.5, 2.0]).half())
    case = Case("overflow", "f16", 0, call, tensors, (False, False))
    outcome = Checker(None, FUSE_OPT).check(case)
    # What is wrong elsewhere too is a failure.
    assert outcome.status == ("failed" if fault else "excluded"), outcome.reason
    assert ("but got inf" in outcome.reason) == bool(fault)


def test_error_of_eager_is_the_largest_of_a_few_calls() -> None:
    # In f32 the sum is off by up to 2^-24, more or less for numbers a rounding away.
    def evaluate(given: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
        return [given[0] + given[1] - given[0], None]

    tensors = [torch.ones(64), torch.linspace(0.1, 0.2, 64)]
    error = errors_of(evaluate, tensors)
    assert error[1] is None
    exact = evaluate([tensor.double() for tensor in tensors])[0]
    eager = evaluate(tensors)[0]
    lucky = (eager.double() - exact).abs()
    assert (error[0] > 0).all()
    assert (error[0] <= 2.0**-23).all()
    assert error[0].min() > 2 * lucky.min()
    # An error that is large next to the result is accepted, a fault is not.
    small = exact.float() * 1e-6
    assert difference(small + error[0].float(), small, small.double(), None) is not None
    assert difference(small + error[0].float(), small, small.double(), error[0]) is None
    assert difference(small + 2.0**-20, small, small.double(), error[0]) is not None


def test_reason_is_of_what_differs() -> None:
    case = "nn.functional.layer_norm/f64/3"
    small = "gradient 0: 1 of 2 elements differ, first at [0, 0]: expected 2.5e-06, but got 2.4e-06"
    assert reason_of_difference(case, small) is not None
    assert reason_of_difference(case, small.replace("2.4e-06", "0.25")) is None
    assert reason_of_difference(case, small.replace("gradient", "result")) is None
