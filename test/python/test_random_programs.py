# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs (scripts/random_programs.py) agree with the reference, and
the check finds programs that do not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fuseops import emit

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "random_programs.py"
TOOLS = ROOT / "build" / "dev" / "bin"
sys.path.insert(0, str(ROOT / "scripts"))

from fuzz.check import Checker, Runner  # noqa: E402
from fuzz.generator import Program  # noqa: E402

# Three minutes of two processors.
COUNT = 2000


def test_random_programs_agree_with_the_reference() -> None:
    jobs = str(len(os.sched_getaffinity(0)))
    command = [sys.executable, SCRIPT, "--seed", "0", "--count", str(COUNT), "--jobs", jobs]
    run = subprocess.run([*command, "--no-reduce"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-1000:]
    assert run.stdout.splitlines()[-1] == f"{COUNT} passed, 0 failed"


def test_a_seed_is_one_program() -> None:
    texts = {Program(7).write() for _ in range(2)}
    assert len(texts) == 1
    assert "fuseops.fusible @main" in texts.pop()


CHAIN = """
fuseops.fusible @main(%x: tensor<?x33xTYPE>, %b: tensor<33xTYPE>) -> tensor<?x33xTYPE>
forward {
  %0 = fuseops.bias %x, %b : tensor<?x33xTYPE>, tensor<33xTYPE>
  %1 = fuseops.gelu %0 approximate(tanh) : tensor<?x33xTYPE>
  %2 = fuseops.slice %1 dim(1) offset(1) : tensor<?x33xTYPE> -> tensor<?x32xTYPE>
  %3 = fuseops.softmax %2 : tensor<?x32xTYPE> -> tensor<?x32xTYPE>
  %4 = fuseops.concat %3, %x dim(1) : (tensor<?x32xTYPE>, tensor<?x33xTYPE>) -> tensor<?x65xTYPE>
  %5 = fuseops.slice %4 dim(1) offset(0) step(2) : tensor<?x65xTYPE> -> tensor<?x33xTYPE>
  fuseops.return %5 : tensor<?x33xTYPE>
}
"""


class Mutated(Checker):
    """Compiles another program than it evaluates."""

    mutation = ("", "")

    def compile(self) -> Runner:
        return Runner(emit(self.text.replace(*self.mutation), target=self.target))


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("offset(1)", "offset(0)"),
        ("%4 dim(1) offset(0) step(2)", "%4 dim(1) offset(64) step(-2)"),
        ("%3, %x dim(1) : (tensor<?x32xTYPE>, tensor<?x33xTYPE>)",
         "%x, %3 dim(1) : (tensor<?x33xTYPE>, tensor<?x32xTYPE>)"),
        ("fuseops.gelu %0 approximate(tanh)", "fuseops.silu %0"),
        ("fuseops.softmax", "fuseops.log_softmax"),
    ],
)  # fmt: skip
def test_a_wrong_program_is_found(dtype: str, old: str, new: str) -> None:
    text = CHAIN.replace("TYPE", dtype)
    assert Checker(text, 3, "cpu", TOOLS).check() is None
    checker = Mutated(text, 3, "cpu", TOOLS)
    checker.mutation = (old.replace("TYPE", dtype), new.replace("TYPE", dtype))
    mismatch = checker.check()
    assert mismatch is not None
    assert mismatch.kind == "wrong"


KINK = """
fuseops.fusible @main(%x: tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<64xf32>)
forward {
  %0 = fuseops.scale %x by(0.3) : tensor<?x64xbf16>
  %1 = fuseops.reduce_rows sum %0 : tensor<?x64xbf16> -> tensor<64xf32>
  %2 = fuseops.relu %1 : tensor<64xf32>
  fuseops.return %0, %2 : tensor<?x64xbf16>, tensor<64xf32>
}
"""


@pytest.mark.parametrize("seed", [0, 788, 1731])
def test_a_sum_next_to_a_kink_has_either_slope(seed: int) -> None:
    # Roundings take a sum over the kink of relu that none of four samples of one rounding does.
    assert Checker(KINK, seed, "cpu", TOOLS).check() is None
    checker = Mutated(KINK, seed, "cpu", TOOLS)
    checker.mutation = ("fuseops.relu", "fuseops.silu")
    mismatch = checker.check()
    assert mismatch is not None
    assert mismatch.kind == "wrong"


CANCELLING = """
!w = tensor<1x64x17xf32>
!y = tensor<?x17xf32>
fuseops.fusible @main(%x: tensor<?x1xf32>, %w: !w, %n: tensor<1xi64>) -> !y
forward {
  %0 = fuseops.pointwise (%e = %x) : (tensor<?x1xf32>) -> tensor<?x64xf32> {
    fuseops.yield %e : f32
  }
  %1 = fuseops.slice %w dim(1) offset(63) step(-1) : !w -> !w
  %2 = fuseops.scale %1 by(-1.0) : !w
  %3 = fuseops.add %w, %2 : !w, !w -> !w
  %4 = fuseops.pointwise (%e = %n) : (tensor<1xi64>) -> tensor<1xi64> {
    %all = arith.constant 99 : i64
    fuseops.yield %all : i64
  }
  %5 = fuseops.grouped_matmul %0, %3 sizes(%4) : tensor<?x64xf32>, !w, tensor<1xi64> -> !y
  fuseops.return %5 : !y
}
"""


@pytest.mark.parametrize("seed", range(4))
def test_equal_factors_do_not_hide_what_cancels(seed: int) -> None:
    # Each sum is 0 but for roundings, which noise of the equal factors alone has not.
    assert Checker(CANCELLING, seed, "cpu", TOOLS).check() is None
    checker = Mutated(CANCELLING, seed, "cpu", TOOLS)
    checker.mutation = ("by(-1.0)", "by(-1.001)")
    mismatch = checker.check()
    assert mismatch is not None
    assert mismatch.kind == "wrong"


OVERFLOWING = """
fuseops.fusible @main(%x: tensor<?x64xTYPE>) -> (tensor<?x64xTYPE>, tensor<?x1xf32>)
forward {
  %0 = fuseops.pointwise (%e = %x) : (tensor<?x64xTYPE>) -> tensor<?x64xTYPE> {
    %factor = arith.constant FACTOR : f32
    %1 = arith.mulf %e, %factor : f32
    %2 = math.exp %1 : f32
    fuseops.yield %2 : f32
  }
  %1 = fuseops.scale %0 by(0.25) : tensor<?x64xTYPE>
  %2 = fuseops.reduce_columns sum %1 : tensor<?x64xTYPE> -> tensor<?x1xf32>
  fuseops.return %1, %2 : tensor<?x64xTYPE>, tensor<?x1xf32>
}
"""


@pytest.mark.parametrize(("dtype", "factor"), [("f16", "7.0"), ("bf16", "50.0"), ("f32", "50.0")])
def test_what_a_type_cannot_hold_may_be_infinite(dtype: str, factor: str) -> None:
    text = OVERFLOWING.replace("TYPE", dtype).replace("FACTOR", factor)
    checker = Checker(text, 2, "cpu", TOOLS)
    assert checker.check() is None
    assert not np.isfinite(checker.run(checker.compile())["forward"][0]).all()
    for old, new in [("%e, %factor : f32", "%factor, %factor : f32"), ("by(0.25)", "by(0.2)")]:
        mutated = Mutated(text, 2, "cpu", TOOLS)
        mutated.mutation = (old, new)
        assert mutated.check() is not None


class OfTensors(Runner):
    """Runs on PyTorch's tensors, as on a GPU."""

    device = "cpu"


@pytest.mark.parametrize("seed", [8, 15, 19, 26])
def test_tensors_give_what_arrays_give(seed: int) -> None:
    pytest.importorskip("torch")
    checker = Checker(Program(seed).write(), seed, "cpu", TOOLS)
    program = checker.compile()
    checker.arguments = list(zip(program.arguments, program.report["arguments"], strict=True))
    expected = checker.run(program)
    actual = checker.run(OfTensors(emit(checker.text, target="cpu")))
    for entry, arrays in expected.items():
        for ours, theirs in zip(actual[entry], arrays, strict=True):
            assert (ours is None) == (theirs is None)
            assert ours is None or np.array_equal(ours, theirs, equal_nan=theirs.dtype.kind == "f")
