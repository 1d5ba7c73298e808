# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fuseops.nn`: modules against their peers in torch.nn, and what they are made of."""

from __future__ import annotations

import copy
from typing import Any

import fuseops.nn as fn
import pytest
import torch
from torch import nn

N = 6
# Ours, its peer, and the constructor's arguments.
PEERS: list[tuple[Any, Any, tuple[Any, ...], dict[str, Any]]] = [
    (fn.RMSNorm, nn.RMSNorm, (N,), {"eps": 1e-5}),
    (fn.RMSNorm, nn.RMSNorm, (N,), {"elementwise_affine": False}),
    (fn.LayerNorm, nn.LayerNorm, (N,), {}),
    (fn.LayerNorm, nn.LayerNorm, (N,), {"bias": False}),
    (fn.LayerNorm, nn.LayerNorm, ((4, N),), {"dtype": torch.float64}),
    (fn.GLU, nn.GLU, (), {}),
    (fn.GLU, nn.GLU, (1,), {}),
    (fn.Softmax, nn.Softmax, (1,), {}),
    (fn.LogSoftmax, nn.LogSoftmax, (-1,), {}),
]


@pytest.mark.parametrize(("ours", "theirs", "args", "options"), PEERS)
def test_as_its_peer(ours: Any, theirs: Any, args: Any, options: dict[str, Any]) -> None:
    expected = theirs(*args, **options)
    with torch.no_grad():
        for parameter in expected.parameters():
            parameter.normal_()
    module = ours(*args, **options)
    assert repr(module) == repr(expected)
    assert list(module.state_dict()) == list(expected.state_dict())
    module.load_state_dict(expected.state_dict())
    x = torch.randn(3, 4, N, dtype=options.get("dtype"), requires_grad=True)
    results = [called(x) for called in (module, expected)]
    torch.testing.assert_close(*results)
    gradients = [
        torch.autograd.grad(y.square().sum(), [x, *called.parameters()])
        for y, called in zip(results, (module, expected), strict=True)
    ]
    for made, exact in zip(*gradients, strict=True):
        torch.testing.assert_close(made, exact, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("module", "peer"),
    [
        (fn.SkipRMSNorm(N), nn.RMSNorm(N)),
        (fn.SkipLayerNorm(N), nn.LayerNorm(N)),
        (fn.DropoutAddRMSNorm(N, p=0.5), nn.RMSNorm(N)),
        (fn.DropoutAddLayerNorm(N, p=0.5), nn.LayerNorm(N)),
    ],
)
def test_normalization_of_a_sum(module: nn.Module, peer: nn.Module) -> None:
    module.load_state_dict(peer.state_dict())
    module.eval()
    x, residual = torch.randn(3, N), torch.randn(3, N)
    y, total = module(x, residual)
    assert torch.equal(total, x + residual)
    torch.testing.assert_close(y, peer(total))


def test_training_drops_and_evaluation_does_not() -> None:
    for module in (fn.Dropout(0.5), fn.BiasDropoutAdd(8, 0.5)):
        given = [torch.ones(64, 8)]
        given += [torch.zeros(64, 8)] if isinstance(module, fn.BiasDropoutAdd) else []
        assert (module(*given) == 0).any()
        assert torch.equal(module.eval()(*given), torch.ones(64, 8))


def test_cross_entropy_loss() -> None:
    logits, target = torch.randn(5, 7), torch.tensor([0, 3, 6, 1, 3])
    options = {"ignore_index": 3, "reduction": "sum", "label_smoothing": 0.1}
    expected = nn.CrossEntropyLoss(**options)(logits, target)
    torch.testing.assert_close(fn.CrossEntropyLoss(**options)(logits, target), expected)


def test_units_and_bias() -> None:
    x = torch.randn(3, N)
    a, b = x.chunk(2, -1)
    torch.testing.assert_close(fn.SwiGLU()(x), nn.functional.silu(a) * b)
    torch.testing.assert_close(fn.GEGLU()(x), nn.functional.gelu(a) * b)
    torch.testing.assert_close(fn.ReGLU()(x), nn.functional.relu(a) * b)
    torch.testing.assert_close(fn.BiasGELU(N)(x), nn.functional.gelu(x))
    torch.testing.assert_close(fn.L2Norm(0.0)(x), nn.functional.normalize(x, dim=-1))


def test_copied_replaced_and_materialized() -> None:
    """A module holds parameters and nothing that was made of them."""
    module = nn.Sequential(nn.Linear(4, 2 * N), fn.SwiGLU(), fn.RMSNorm(N))
    x = torch.randn(3, 4)
    expected = module(x)
    assert torch.equal(copy.deepcopy(module)(x), expected)
    with torch.device("meta"):
        empty = nn.Sequential(nn.Linear(4, 2 * N), fn.SwiGLU(), fn.RMSNorm(N))
    empty.load_state_dict(module.state_dict(), assign=True)
    assert torch.equal(empty(x), expected)
    module[2].weight = nn.Parameter(torch.full((N,), 2.0))
    torch.testing.assert_close(module(x), 2 * expected)


def test_training_steps_as_torchs() -> None:
    """Twenty steps of a small network and its peer from the same parameters."""
    torch.manual_seed(0)
    ours = nn.Sequential(nn.Linear(4, 8), fn.LayerNorm(8), fn.GLU(), nn.Linear(4, 3))
    theirs = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GLU(), nn.Linear(4, 3))
    theirs.load_state_dict(ours.state_dict())
    losses = []
    for model, criterion in ((ours, fn.CrossEntropyLoss()), (theirs, nn.CrossEntropyLoss())):
        optimizer, found = torch.optim.AdamW(model.parameters(), 1e-2), []
        generator = torch.Generator().manual_seed(1)
        for _ in range(20):
            x = torch.randn(16, 4, generator=generator)
            loss = criterion(model(x), (x[:, 0] > 0).long() + (x[:, 1] > 0).long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        losses.append(found)
    torch.testing.assert_close(*losses, rtol=1e-4, atol=1e-5)
