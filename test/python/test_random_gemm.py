# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The random products that a GPU is given: what is drawn compiles, is right on the PTX
simulator, and the bounds that it is judged by hold and find what is wrong."""

from __future__ import annotations

import re

import numpy as np
import pytest
from gemm_case import Case, make, read, split
from gemm_simulation import compile_case, emit, run_kernels, simulate
from random_gemm import bounded, test_on_device
from random_gemm.bounded import HALF_ULP, Bounded
from random_gemm.draw import SCALES, draw_case

SEEDS = range(200)
SMALL = (100, 136, 208)


def test_all_forms_are_drawn() -> None:
    cases = [draw_case(seed) for seed in SEEDS]
    text = "".join(case.program() for case in cases)
    forms = ["linear %", "transpose_lhs", r"matmul %a, %b :", "fast_accumulate", r"bias\(%ab\)"]
    forms += ["xbf16>", "xf16>", "xf8E5M2>", "fuseops.bias", "gelu %", "gelu_grad", "silu", "relu"]
    forms += [
        "swiglu",
        "permute %q",
        "reduce_blocks",
        "fuseops.add",
        "fuseops.cast",
        "pointwise",
        "reduce_rows",
        "reduce_columns sum",
        "reduce_columns max",
        "amax",
        "ping_pong = 0",
    ]
    forms += [r"grouped_matmul .* transpose_rhs :", r"grouped_matmul .* sizes\(%n\) :"]
    forms += ["grouped_matmul .* {fast_acc", "grouped_matmul .* transpose_lhs"]
    forms += ["ping_pong = 1", "warpgroups = 3", "tile_columns = 256", "tile_rows = 192"]
    forms += [re.escape(f"%a[%as] {a}, %b[%bs] {b}") for a, b in SCALES]
    few = [form for form in forms if len(re.findall(form, text)) < 3]
    assert not few
    assert max(len(case.outputs) for case in cases) >= 3
    assert min(case.rows for case in cases) < 30
    assert max(case.rows for case in cases) > 1000


@pytest.mark.parametrize("seed", SEEDS[:6])
def test_compiles(seed: int) -> None:
    assert ".target sm_90a" in emit(draw_case(seed).program(), "ptx")


@pytest.mark.parametrize("seed", [2, 4, 7, 9, 14, 18, 19, 43])
def test_right_on_the_simulator(seed: int) -> None:
    case = draw_case(seed, SMALL)
    compiled = compile_case(case)
    for late in (True, False):
        found, expected = simulate(case, compiled, late=late, seed=seed)
        assert all(one.ratio(array) <= 1 for array, one in zip(found, expected, strict=True))


def test_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tensors that a device is given and gives, those of the simulator in its place."""
    torch = pytest.importorskip("torch")
    from random_gemm import check  # noqa: PLC0415 (it needs torch)

    case = draw_case(28, SMALL)
    compiled = compile_case(case)
    factor = 1.0

    class Simulated:
        def run_forward(self, tensors: list) -> list:
            for tensor, kind in zip(tensors, case.inputs.values(), strict=True):
                assert tuple(tensor.shape) == split(kind, case.rows)[0]
            given = [tensor.reshape(-1).view(torch.uint8).numpy() for tensor in tensors]
            found = run_kernels(case, compiled, given, late=True)
            return [torch.as_tensor(factor * array) for array in found]

    monkeypatch.setattr(check.runner, "compile_ir", lambda text, target: Simulated())
    ratio, fault = check.check(case, 28)
    assert (0 < ratio <= 1, fault) == (True, "")
    factor = 1.5
    ratio, fault = check.check(case, 28)
    assert ratio > 1
    assert fault.startswith(f"%{next(iter(case.outputs))} is ")


def forget_last(case: Case, given: list[np.ndarray]) -> list[np.ndarray]:
    """The inputs without the last element that is contracted."""
    shapes = [kind.split("<")[1].split("x") for kind in case.inputs.values()]
    # Of an operand that is not K-major these are whole rows.
    data = given[0].reshape(case.rows, -1).copy()
    size = 1 if "f8" in shapes[0][-1] else 2
    if "transpose_lhs" in case.body:
        # The last rows may be of no group.
        data[0 if "grouped" in case.body else -1] = 0
    else:
        data[:, -size:] = 0
    return [data.reshape(-1), *given[1:]]


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_one_element_less_is_found(seed: int) -> None:
    case = draw_case(seed)
    given = case.draw(seed)
    right, wrong = case.expect(given), case.expect(forget_last(case, given))
    ratios = [one.ratio(other.value) for one, other in zip(right, wrong, strict=True)]
    assert max(ratios) > 1


def cut_sums(a: np.ndarray, b: np.ndarray, bits: int = 13) -> np.ndarray:
    """How Hopper adds FP8: each addend of an instruction is cut `bits` below the largest."""
    sums = np.zeros((len(a), len(b)))
    for i in range(0, a.shape[1], 32):
        products = a[:, None, i : i + 32] * b[None, :, i : i + 32]
        largest = np.maximum(np.abs(products).max(-1), np.abs(sums))
        unit = 2.0 ** (np.floor(np.log2(np.maximum(largest, 2.0**-100))) - bits)
        products = np.trunc(products / unit[..., None]) * unit[..., None]
        sums = products.sum(-1) + np.trunc(sums / unit) * unit
    return sums


@pytest.mark.parametrize("k", [16, 128, 512, 1488])
def test_bounds_of_accumulation(k: int) -> None:
    """They hold what the tensor cores lose, and not much more."""
    generator = np.random.default_rng(k)
    a, b = (
        read(make("", f"tensor<48x{k}xf8E4M3FN>", 0, generator), f"tensor<48x{k}xf8E4M3FN>", 0)
        for _ in range(2)
    )
    fast = bounded.multiply(a, b, is_narrow=True)
    assert 0.03 < fast.ratio(cut_sums(a, b)) < 0.7
    promoted = bounded.multiply_promoted(a, b)
    parts = [cut_sums(a[:, i : i + 128], b[:, i : i + 128]) for i in range(0, k, 128)]
    assert 0.03 < promoted.ratio(sum(parts)) < 0.7


def test_bounds_of_values() -> None:
    x = Bounded.exact(np.array([1.0, -300.0, 1e-9]))
    narrow = x.rounded("e4m3")
    assert narrow.error.tolist() == [2**-4, 300 * 2**-4, HALF_ULP["e4m3"][1]]
    assert (x * x).rounded("e4m3").value.tolist() == [1.0, 448.0, 1e-18]
    assert narrow.amax().error == narrow.error.max()
    assert (narrow + narrow).error[0] == pytest.approx(2**-3, rel=1e-4)
    two = Bounded(np.array([[2.0], [3.0]]), np.array([[0.5], [0.25]]))
    assert two.sum_of_rows().error[0] == pytest.approx(0.75, rel=1e-4)
    assert two.sum_of_columns().error.tolist() == pytest.approx(two.error, rel=1e-4)
    assert (two * two).error[0, 0] == pytest.approx(2.25, rel=1e-4)
    assert two.apply(np.negative, 3).error[0, 0] == pytest.approx(1.5, rel=1e-4)
    assert np.isnan(x.ratio(np.array([np.nan, 0, 0])))


def test_what_ends_a_process_is_one_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeds after it are judged all the same."""

    def run_check(seeds: list[int]) -> tuple[str, str]:
        printed = ""
        for seed in seeds:
            if seed == 3:
                return printed, "illegal address"
            printed += f"FAIL {seed}: %p\n  its program\n" if seed == 5 else f"ok {seed} 0.5\n"
        return printed, ""

    monkeypatch.setattr(test_on_device, "run_check", run_check)
    passed, faults = test_on_device.judge([1, 2, 3, 4, 5, 6])
    assert passed == 4
    assert faults == ["FAIL 3: illegal address", "FAIL 5: %p\n  its program\n"]
