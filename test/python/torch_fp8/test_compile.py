# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A recipe reaches the linear layers of a compiled model, from torch.compile's options,
from `fuseops.autocast` around the call or inside of it, and by layer."""

from __future__ import annotations

import re

import fuseops
import pytest
import torch
from fuseops.recipe import DelayedScaling, Float8BlockScaling, Float8CurrentScaling, Rowwise
from fuseops.torch import pipeline
from fuseops.torch.backend import fuseops_backend
from torch import Tensor, nn

from .harness import (
    RECIPES,
    WIDTH,
    FeedForward,
    compiled,
    distances,
    run,
    sources,  # noqa: F401 (a fixture)
)


def kinds(texts: list[str]) -> list[list[str]]:
    """The recipes in each text, first that of the program."""
    return [re.findall(r"#fuseops\.recipe<(\w+)", text) for text in texts]


@pytest.mark.parametrize("name", RECIPES)
def test_option(name: str, sources: list[str]) -> None:  # noqa: F811
    model, x = FeedForward(), torch.randn(96, WIDTH)
    expected = run(model, x, model)
    call = compiled(model, RECIPES[name])
    if name == "delayed":
        # The scales are 1 at first.
        run(call, x, model)
    apart = distances(run(call, x, model), expected)
    # E4M3 has relative errors of up to 2^-4, E5M2 of up to 2^-3.
    assert all(1e-3 < error < 0.15 for error in apart), apart
    assert kinds(sources) == [[name]]


def test_without_recipe(sources: list[str]) -> None:  # noqa: F811
    model, x = FeedForward(), torch.randn(96, WIDTH)
    expected = run(model, x, model)
    assert max(distances(run(compiled(model), x, model), expected)) < 1e-5
    assert kinds(sources) == [[]]


def test_bare_linear_layer_is_taken(sources: list[str]) -> None:  # noqa: F811
    model, x = nn.Linear(WIDTH, WIDTH), torch.randn(32, WIDTH)
    compiled(model, Rowwise())(x)
    assert kinds(sources) == [["rowwise"]]
    compiled(nn.Sequential(model), Rowwise(override={"0": None}))(x)
    assert len(sources) == 1


def test_override(sources: list[str]) -> None:  # noqa: F811
    model, x = FeedForward(), torch.randn(96, WIDTH)
    recipe = Float8BlockScaling(override={"up": None, "dow?": Float8CurrentScaling()})
    found = run(compiled(model, recipe), x, model)
    (text,) = sources
    lines = [line for line in text.splitlines() if "aten.linear" in line]
    assert ["recipe<none>" in line for line in lines] == [True, False]
    assert ["recipe<current" in line for line in lines] == [False, True]
    # As if the program had this recipe and the one layer none.
    plain = compiled(model, Float8CurrentScaling(override={"up": None}))
    assert all(map(torch.equal, found, run(plain, x, model)))
    off = compiled(model, Float8BlockScaling(override={"*": None}))
    assert all(map(torch.equal, run(off, x, model), run(compiled(model), x, model)))


def test_override_of_a_module_is_of_all_inside(sources: list[str]) -> None:  # noqa: F811
    model, x = nn.Sequential(FeedForward(), FeedForward()), torch.randn(96, WIDTH)
    compiled(model, Rowwise(override={"1": None}))(x)
    (text,) = sources
    lines = [line for line in text.splitlines() if "aten.linear" in line]
    assert ["recipe<none>" in line for line in lines] == [False, False, True, True]


def test_autocast_around(sources: list[str]) -> None:  # noqa: F811
    model, x = FeedForward(), torch.randn(96, WIDTH)
    by_option = {name: run(compiled(model, RECIPES[name]), x, model) for name in ("block", "mx")}
    without = run(compiled(model), x, model)
    sources.clear()
    pipeline._PROGRAMS.clear()
    torch._dynamo.reset()
    call = compiled(model)
    for _ in range(2):
        for name, expected in by_option.items():
            with fuseops.autocast(recipe=RECIPES[name]):
                y = x.detach().requires_grad_()
                model.zero_grad()
                result = call(y)
                with fuseops.autocast(enabled=False):
                    assert all(map(torch.equal, run(call, x, model), without))
            # Backward has the recipe of its forward.
            model.zero_grad()
            result.square().sum().backward()
            found = [result.detach(), y.grad, *(p.grad for p in model.parameters())]
            assert all(map(torch.equal, found, expected))
        assert all(map(torch.equal, run(call, x, model), without))
    # Each recipe was compiled once.
    assert kinds(sources) == [["block"], [], ["mx"]]


def test_autocast_takes_the_option_off() -> None:
    model, x = FeedForward(), torch.randn(96, WIDTH)
    without = compiled(model)(x)
    call = compiled(model, RECIPES["current"])
    with fuseops.autocast(enabled=False):
        assert torch.equal(call(x), without)
    assert not torch.equal(call(x), without)


def test_autocast_inside(sources: list[str]) -> None:  # noqa: F811
    first, second = FeedForward(), FeedForward()
    x = torch.randn(96, WIDTH)
    recipe = Rowwise(override={"up": None})

    def step(x: Tensor) -> Tensor:
        with fuseops.autocast(recipe=recipe):
            h = first(x)
            with fuseops.autocast(enabled=False):
                h = h + second(x)
        return h + second(h).relu()

    found = compiled(step)(x)
    assert sorted(kinds(sources)) == [[], [], ["rowwise", "none"]]
    torch._dynamo.reset()
    with torch.no_grad():
        h = compiled(first, recipe)(x) + second(x)
        expected = h + second(h).relu()
    assert max(distances([found], [expected])) < 1e-6


def test_autocast_of_another_dtype() -> None:
    model, x = FeedForward(), torch.randn(96, WIDTH)
    device = x.device.type
    call = compiled(model, RECIPES["block"])
    with torch.autocast(device, torch.bfloat16):
        found = run(call, x, model)
        expected = run(model, x, model)
    assert found[0].dtype == torch.bfloat16
    assert all(error < 0.15 for error in distances(found, expected))


@pytest.mark.parametrize("name", RECIPES)
def test_no_grad_and_eval(name: str) -> None:
    model, x = FeedForward(), torch.randn(96, WIDTH)
    call = compiled(model, RECIPES[name])
    trained = call(x)
    if name == "delayed":
        # It has just got its first scales.
        trained = call(x)
        model.up.fp8_input_scale  # noqa: B018 (there is one)
    model.eval()
    with torch.no_grad():
        first, second = call(x), call(x)
    assert torch.equal(first, second)
    if name != "delayed":
        assert torch.equal(first, trained)


def test_dynamic_rows() -> None:
    model = FeedForward()
    for rows in (96, 7, 130):
        x = torch.randn(rows, WIDTH)
        torch._dynamo.reset()
        expected = run(compiled(model, RECIPES["block"], dynamic=False), x, model)
        torch._dynamo.reset()
        call = compiled(model, RECIPES["block"])
        first = torch.randn(11, WIDTH)
        torch._dynamo.mark_dynamic(first, 0)
        call(first)
        assert max(distances(run(call, x, model), expected)) < 1e-6


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("name", ["block", "current"])
def test_checkpoint(name: str, reentrant: bool) -> None:
    model, x = FeedForward(), torch.randn(96, WIDTH)
    expected = run(compiled(model, RECIPES[name]), x, model)
    inner = compiled(model, RECIPES[name])

    def around(x: Tensor) -> Tensor:
        return torch.utils.checkpoint.checkpoint(inner, x, use_reentrant=reentrant)

    assert all(map(torch.equal, run(around, x, model), expected))
    torch._dynamo.reset()

    def inside(x: Tensor) -> Tensor:
        return torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)

    found = run(compiled(inside, RECIPES[name]), x, model)
    assert all(map(torch.equal, found, expected))


def test_checkpoint_has_the_recipe_around_it(sources: list[str]) -> None:  # noqa: F811
    model, x = FeedForward(), torch.randn(96, WIDTH)

    def inside(x: Tensor) -> Tensor:
        with fuseops.autocast(recipe=Rowwise()):
            return torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)

    compiled(inside)(x)
    assert kinds(sources) == [["rowwise"]]


def test_missing_gradient() -> None:
    first, second = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
    x = torch.randn(96, WIDTH)

    def both(x: Tensor) -> tuple[Tensor, Tensor]:
        h = x.sin()
        return first(h), second(h)

    call = compiled(both, Rowwise())
    y, _ = call(x)
    y.square().sum().backward()
    alone = compiled(lambda x: first(x.sin()), Rowwise())
    expected = first.weight.grad.clone()
    first.zero_grad()
    alone(x).square().sum().backward()
    assert max(distances([first.weight.grad], [expected])) < 1e-6


def test_errors() -> None:
    model, x = FeedForward(), torch.randn(96, WIDTH)
    options = {"recipe": "block"}
    expected = "expected `recipe` to be a recipe of `fuseops.recipe` or None, but got 'block'"
    with pytest.raises(Exception, match=expected):
        torch.compile(model, backend=fuseops_backend, options=options)(x)
    with pytest.raises(fuseops.FuseOpsError, match="expected `recipe` to be a recipe"):
        fuseops.autocast(recipe="block")
    with pytest.raises(fuseops.FuseOpsError, match="to be a process group, but got 3"):
        fuseops.autocast(recipe=DelayedScaling(), amax_reduction_group=3)


def test_reduce_overhead() -> None:
    """Inductor traces all of it, and on CUDA replays graphs."""
    model, x = FeedForward(), torch.randn(96, WIDTH)
    expected = run(compiled(model, RECIPES["block"]), x, model)
    torch._dynamo.reset()
    call = torch.compile(model, backend=fuseops_backend, mode="reduce-overhead", fullgraph=True)
    with fuseops.autocast(recipe=RECIPES["block"]):
        for _ in range(3):
            assert max(distances(run(call, x, model), expected)) < 1e-6


@pytest.mark.parametrize("rows", [7, 130])
def test_reduce_overhead_with_symbolic_rows(rows: int) -> None:
    """Scales of blocks have shapes of their own in PyTorch's trace."""
    model, x = FeedForward(), torch.randn(rows, WIDTH)
    expected = run(compiled(model, RECIPES["mx"]), x, model)
    torch._dynamo.reset()
    call = torch.compile(model, backend=fuseops_backend, mode="reduce-overhead", fullgraph=True)
    first = torch.randn(11, WIDTH)
    torch._dynamo.mark_dynamic(first, 0)
    with fuseops.autocast(recipe=RECIPES["mx"]):
        call(first)
        assert max(distances(run(call, x, model), expected)) < 1e-6


def test_explain() -> None:
    x = torch.randn(96, WIDTH)
    model = nn.Sequential(FeedForward(), nn.Linear(WIDTH, 8))
    recipe = Float8BlockScaling(override={"0.up": None})
    explanation = fuseops.explain(model, x, options={"recipe": recipe})
    (pipeline,) = explanation.graphs[0].pipelines
    assert [entry.name for entry in pipeline.entries] == ["forward", "backward", "prepare"]
    reasons = {reason.partition("condition ")[2] for reason in pipeline.high_precision}
    assert reasons == {
        "1, its recipe is `none`",
        "5, an operand or the result has fewer than 16 columns",
    }
    assert "without the recipe" in str(explanation)
