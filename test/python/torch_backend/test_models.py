# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A short form of scripts/check_models, and whether it sees what is wrong."""

from __future__ import annotations

import pytest
import torch
from torch import nn

pytest.importorskip("transformers")

from torch_backend import models
from torch_backend.harness import assert_same, run


@pytest.mark.parametrize("name", models.BLOCKS)
def test_models_train_as_in_eager(name: str) -> None:
    outcome = models.compare(name, torch.float32, "eager", steps=4)
    assert outcome.is_within_noise, outcome.worst
    assert outcome.eager[-1] < outcome.eager[0]
    shares = outcome.shares
    assert shares.pipelines
    assert shares.share > 0.9, shares.left


@pytest.mark.parametrize("name", ["llama_block", "gpt_block"])
def test_models_have_a_dynamic_batch(name: str) -> None:
    """All of them is taken then, too, but for what is only laid out; GPT-2 folds batch and length
    into rows."""
    model = models.BLOCKS[name]()
    parameters = list(model.parameters())
    shares = models.Shares("eager", models.claimed_operators())
    call = torch.compile(model, backend=shares)
    for size in (4, 2, 3):
        x = torch.randn(size, 8, models.WIDTH, requires_grad=True)
        assert_same(run(call, (x,), parameters), run(model, (x,), parameters))
    assert shares.graphs == 2
    assert {reason for _, reason in shares.left} <= {"not worth a pipeline"}, shares.left


def test_a_wrong_gradient_is_outside_of_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one bias by one percent."""

    def compile_wrongly(model: nn.Module, **options: object) -> nn.Module:
        model.fc1.bias.register_hook(lambda gradient: gradient * 1.01)
        return model

    monkeypatch.setattr(torch, "compile", compile_wrongly)
    assert not models.compare("vit_mlp", torch.float32, "eager", steps=4).is_within_noise


def test_a_loss_of_nan_is_outside_of_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_wrongly(model: nn.Module, **options: object) -> nn.Module:
        return nn.Sequential(model, _Nan())

    monkeypatch.setattr(torch, "compile", compile_wrongly)
    assert not models.compare("vit_mlp", torch.float32, "eager", steps=1).is_within_noise


class _Nan(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.nan


def test_an_operator_that_is_not_taken_is_seen() -> None:
    shares = models.Shares("eager", models.claimed_operators())
    # A bare product isn't worth a pipeline; sorting isn't claimed.
    torch.compile(lambda x: torch.sort(x @ x)[0], backend=shares)(torch.randn(3, 3))
    assert (shares.eligible, shares.taken) == (1, 0)
    assert [reason for _, reason in shares.left] == ["not worth a pipeline"]
