#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A user's own activation becomes one kernel forward and one backward.

    examples/user_activation.py [--device cpu|cuda]

The activation is plain PyTorch, and nothing is registered for it: its derivative is
derived from the operations that it calls. Needs PyTorch.
"""

from __future__ import annotations

import argparse
import copy

import fuseops
import torch
from fuseops.torch.backend import fuseops_backend
from fuseops.torch.explanation import Explanation


def squareplus(x: torch.Tensor, sharpness: float = 4.0) -> torch.Tensor:
    """A smooth relu without exponentials, gated by a bounded slope."""
    root = torch.sqrt(x * x + sharpness)
    return 0.5 * (x + root) * torch.tanh(x / root)


class Perceptron(torch.nn.Module):
    """Two layers with the activation in between."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = torch.nn.Linear(width, 4 * width, bias=False)
        self.down = torch.nn.Linear(4 * width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(squareplus(self.up(x)))


def gradients_of(model: torch.nn.Module, x: torch.Tensor, dy: torch.Tensor) -> list[torch.Tensor]:
    """The result, and the gradients of x and the parameters."""
    x = x.clone().requires_grad_()
    y = model(x)
    return [y.detach(), *torch.autograd.grad(y, [x, *model.parameters()], dy)]


def check_kernels(explanation: Explanation) -> None:
    """Raises SystemExit unless one kernel a direction is not a matrix product."""
    (pipeline,) = explanation.graphs[0].pipelines
    for entry in pipeline.entries:
        kernels = [kernel for kernel in entry.kernels if kernel.template != "library"]
        if len(kernels) != 1:
            raise SystemExit(f"expected one kernel in {entry.name}, but got {len(kernels)}")
        members = " + ".join(kernels[0].members)
        print(f"{entry.name}: the activation is one kernel, {kernels[0].name}: {members}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.manual_seed(0)
    model = Perceptron(64).to(options.device)
    x, dy = torch.randn(2, 128, 64, device=options.device)

    explanation = fuseops.explain(model, x)
    print(explanation, end="\n\n")
    check_kernels(explanation)

    # In f64, by PyTorch alone.
    expected = gradients_of(copy.deepcopy(model).double(), x.double(), dy.double())
    # `backend="fuseops"` where the package is installed.
    compiled = torch.compile(model, backend=fuseops_backend)
    names = ["y", "dx", "dup", "ddown"]
    for name, a, b in zip(names, gradients_of(compiled, x, dy), expected, strict=True):
        torch.testing.assert_close(a.double(), b, rtol=1e-4, atol=1e-4)
        print(f"{name}: error {(a - b).abs().max():.1e} of {b.abs().max():.1e}")


if __name__ == "__main__":
    main()
