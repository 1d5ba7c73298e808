# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms where PyTorch's gradient is a convention."""

from __future__ import annotations

import pytest
import torch

from torch_backend.harness import assert_same, compile_with


@pytest.mark.parametrize("order", [0.5, 1.0, 1.5, 2.0, 3.5, -1.5])
def test_gradients_of_zeros(order: float) -> None:
    """A vector of zeros gets no gradient, one zero of a vector what eager mode gives it."""

    def norm(x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.vector_norm(x, order, -1)

    call, recorder = compile_with(norm)
    x = torch.randn(3, 5)
    x[0] = 0
    x[1, 2] = 0
    grads = []
    for run in (norm, call):
        leaf = x.clone().requires_grad_()
        run(leaf).sum().backward()
        grads.append(leaf.grad)
    assert_same(grads[1], grads[0], ulps=8)
    assert len(recorder.pipelines) == 1, recorder.refused
