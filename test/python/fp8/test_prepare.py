# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights that `prepare` quantizes give, bit for bit, what forward and backward give that quantize
them themselves."""

from __future__ import annotations

import pytest
import torch
from fuseops import FuseOpsError, compile_ir
from torch import Tensor

from fp8.programs import TARGET

SOURCE = """
fuseops.fusible @main(%x: tensor<?x160xbf16>, %w: tensor<144x160xf32>, %v: tensor<160x144xbf16>)
  -> tensor<?x160xbf16>
forward {
  %c = fuseops.cast %w : tensor<144x160xf32> -> tensor<144x160xbf16>
  %0 = fuseops.linear %x, %c : (tensor<?x160xbf16>, tensor<144x160xbf16>) -> tensor<?x144xbf16>
  %1 = fuseops.silu %0 : tensor<?x144xbf16>
  %2 = fuseops.linear %1, %v : (tensor<?x144xbf16>, tensor<160x144xbf16>) -> tensor<?x160xbf16>
  fuseops.return %2 : tensor<?x160xbf16>
}
"""
RECIPES = ["block", "current", "delayed, history = 3", "rowwise", "mx"]


def draw() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """x, w, v and the result's gradient."""
    generator = torch.Generator().manual_seed(5)
    device = "cuda" if TARGET == "cuda" else "cpu"
    x, w, v, dy = (
        torch.randn(shape, generator=generator).to(device)
        for shape in ((70, 160), (144, 160), (160, 144), (70, 160))
    )
    return x.bfloat16(), w, v.bfloat16(), dy.bfloat16()


def initial(infos: list[dict], device: torch.device) -> list[Tensor]:
    """Scales of 8 and histories of zeros for state arguments of a report."""
    states = []
    for info in infos:
        shape = [extent[0] for extent in info["shape"]]
        states.append(torch.full(shape, 8.0 if len(shape) == 1 else 0.0, device=device))
    return states


@pytest.mark.parametrize("recipe", RECIPES)
def test_prepared_weights_are_those_of_forward(recipe: str):
    x, w, v, dy = draw()
    whole = compile_ir(SOURCE, target=TARGET, recipe=recipe)
    split = compile_ir(SOURCE, target=TARGET, recipe=recipe, prepare=True)
    weights = {1: w, 2: v}
    listed = split.report["prepare"]["arguments"]
    given = [weights[a["argument"]] for a in listed if a["role"] == "weight"]
    sizes = [i.shape for i in split.prepare_inputs[len(given) :]]
    given += [torch.full(s, 8.0 if len(s) == 1 else 0.0, device=x.device) for s in sizes]
    prepared = split.run_prepare(given)

    taken: dict[int, Tensor] = {}
    for output, number in zip(prepared, split.report["prepare"]["outputs"], strict=True):
        if number is not None:
            taken[number] = output
    arguments = split.report["arguments"]
    own = initial([a for a in arguments if a["role"] == "state"], x.device)
    results, context = split.forward(x, w, v, *own, *(taken[i] for i in sorted(taken)))
    states = initial([a for a in whole.report["arguments"] if a["role"] == "state"], x.device)
    expected, reference = whole.forward(x, w, v, *states)
    assert torch.equal(results[0], expected[0])
    own_gradients = [g for g in split.backward(context, dy) if g is not None]
    gradients = [g for g in whole.backward(reference, dy) if g is not None]
    # The state of the weights is prepare's, and what replaces it is the same.
    count = len(split.report["prepare"]["outputs"]) - len(taken)
    following = prepared[len(prepared) - count :]
    pairs = zip(
        (*results[1:], *following, *own_gradients), (*expected[1:], *gradients), strict=True
    )
    for got, want in pairs:
        assert torch.equal(got, want)


def test_nothing_to_prepare():
    x, w, v, _ = draw()
    program = compile_ir(SOURCE, target=TARGET, prepare=True)
    assert program.prepare_inputs == ()
    assert "prepare" not in program.report
    with pytest.raises(FuseOpsError, match="program `main` has no weights to prepare"):
        program.run_prepare([w, v])
    assert program(x, w, v).shape == (70, 160)
