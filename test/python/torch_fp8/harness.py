# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled models, the programs that were compiled for them, and small models."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from fuseops.recipe import (
    DelayedScaling,
    Float8BlockScaling,
    Float8CurrentScaling,
    MXFP8BlockScaling,
    Recipe,
    Rowwise,
)
from fuseops.torch.backend import fuseops_backend
from torch import Tensor, nn

RECIPES: dict[str, Recipe] = {
    "delayed": DelayedScaling(amax_history_len=4),
    "current": Float8CurrentScaling(),
    "block": Float8BlockScaling(),
    "rowwise": Rowwise(),
    "mx": MXFP8BlockScaling(),
}
WIDTH, HIDDEN = 64, 160


class FeedForward(nn.Module):
    """Two linear layers, [..., WIDTH] to [..., WIDTH]."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(WIDTH, HIDDEN)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.up(x)))


def compiled(model: Any, recipe: Recipe | None = None, **keywords: Any) -> Any:
    """A model compiled as one graph; what isn't fused runs eagerly."""
    options = {"recipe": recipe, "rest": "eager"}
    keywords = {"fullgraph": True, "options": options, **keywords}
    return torch.compile(model, backend=fuseops_backend, **keywords)


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the programs that are compiled from now on."""
    found: list[str] = []
    from fuseops.torch import pipeline  # noqa: PLC0415 (its function is replaced)

    compile_ir = pipeline.compile_ir

    def record(text: str, **keywords: Any) -> Any:
        found.append(text)
        return compile_ir(text, **keywords)

    monkeypatch.setattr(pipeline, "compile_ir", record)
    # Programs of other tests are not found again.
    monkeypatch.setattr(pipeline, "_PROGRAMS", {})
    return found


def run(call: Any, x: Tensor, model: nn.Module) -> list[Tensor]:
    """The result and the gradients of the input and of the parameters."""
    x = x.detach().requires_grad_()
    model.zero_grad()
    y = call(x)
    y.square().sum().backward()
    return [y.detach(), x.grad, *(p.grad.clone() for p in model.parameters())]


def distance(found: Tensor, expected: Tensor) -> float:
    """The relative error."""
    return float((found.double() - expected.double()).norm() / expected.double().norm())


def distances(found: list[Tensor], expected: list[Tensor]) -> list[float]:
    """That of each."""
    return [distance(a, b) for a, b in zip(found, expected, strict=True)]
