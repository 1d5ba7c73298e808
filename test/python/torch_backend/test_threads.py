# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many threads call one compiled model.

PyTorch can't compile in several threads at once, nor in one that ends: its backend
`eager` crashes too. Dynamo compiles less after threads ran, so that they have a
process of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from torch_backend.harness import assert_same, compile_with
from torch_backend.test_training import GatedMlp

ROOT = Path(__file__).resolve().parents[3]
NUM_THREADS = 8


class Model(GatedMlp):
    """Has two outputs."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = super().forward(x)
        return y, torch.tanh(y)


def step(f: Callable[[Tensor], tuple[Tensor, Tensor]], x: Tensor, used: int) -> tuple:
    """The outputs and the gradient of x; those of parameters would add up."""
    outputs = f(x)
    return outputs, torch.autograd.grad(outputs[used].square().sum(), x)


def train_in_threads() -> None:
    """Threads are the first that need a gradient of one output alone."""
    device = os.environ.get("FUSEOPS_TEST_DEVICE", "cpu")
    model = Model().to(device)
    call, recorder = compile_with(model)
    inputs = [torch.randn(3, 16, device=device, requires_grad=True) for _ in range(NUM_THREADS)]
    call(inputs[0])
    failures: list[BaseException] = []
    start = threading.Barrier(NUM_THREADS)

    def work(x: Tensor) -> None:
        try:
            start.wait()
            for index in range(20):
                assert_same(step(call, x, index % 2), step(model, x, index % 2))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(x,)) for x in inputs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    assert len(recorder.graphs) == 1
    print("trained")


def test_many_threads() -> None:
    path = os.pathsep.join((str(ROOT / "python"), str(ROOT / "test" / "python")))
    program = "from torch_backend.test_threads import train_in_threads; train_in_threads()"
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout == "trained\n"
