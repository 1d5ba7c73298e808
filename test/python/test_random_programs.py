# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs (scripts/random_programs.py) agree with the reference, and
the check finds programs that do not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
