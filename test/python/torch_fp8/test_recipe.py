# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recipes are values, with TransformerEngine's names and defaults."""

from __future__ import annotations

from typing import Any

import fuseops
import pytest
from fuseops.recipe import (
    DelayedScaling,
    Float8BlockScaling,
    Float8CurrentScaling,
    Format,
    MXFP8BlockScaling,
    Recipe,
    Rowwise,
)

SPELLED = {
    DelayedScaling(): "delayed, format = hybrid, margin = 0, history = 1024, amax_algorithm = max",
    DelayedScaling(margin=2, amax_history_len=16, amax_compute_algo="most_recent"): (
        "delayed, format = hybrid, margin = 2, history = 16, amax_algorithm = most_recent"
    ),
    Float8CurrentScaling(): "current, format = hybrid, power_of_two = false, epsilon = 0.0",
    Float8CurrentScaling(fp8_format=Format.E4M3, use_power_2_scales=True): (
        "current, format = e4m3, power_of_two = true, epsilon = 0.0"
    ),
    Float8BlockScaling(): "block, format = e4m3, power_of_two = true, epsilon = 0.0",
    Float8BlockScaling(use_f32_scales=True, amax_epsilon=1e-12): (
        "block, format = e4m3, power_of_two = false, epsilon = 1.0e-12"
    ),
    MXFP8BlockScaling(): "mx, format = e4m3",
    Rowwise(): (
        "rowwise, format = e4m3, power_of_two = false, epsilon = 0.0, high_precision_wgrad = false"
    ),
    Rowwise(high_precision_wgrad=True, fp8_format=Format.HYBRID): (
        "rowwise, format = hybrid, power_of_two = false, epsilon = 0.0, high_precision_wgrad = true"
    ),
}


@pytest.mark.parametrize("recipe", SPELLED, ids=lambda recipe: recipe.kind)
def test_attribute(recipe: Recipe) -> None:
    assert recipe.attribute() == f"#fuseops.recipe<{SPELLED[recipe]}>"
    # The compiler reads it.
    text = (
        "fuseops.fusible @f(%x: tensor<16x32xf32>, %w: tensor<16x32xf32>) -> tensor<16x16xf32>\n"
        f"attributes {{fuseops.recipe = {recipe.attribute()}}} forward {{\n"
        "  %y = fuseops.linear %x, %w : (tensor<16x32xf32>, tensor<16x32xf32>)"
        " -> tensor<16x16xf32>\n"
        "  fuseops.return %y : tensor<16x16xf32>\n}\n"
    )
    quantized = fuseops.emit(text, "ir", compile_to="quantize").decode()
    assert quantized.count("fuseops.quantize ") == 3


@pytest.mark.parametrize("recipe", SPELLED, ids=lambda recipe: recipe.kind)
def test_parse_reads_what_spell_writes(recipe: Recipe) -> None:
    assert Recipe.parse(recipe.spell()) == recipe
    within = Rowwise(override={"head": None, "layers.0.*": recipe})
    assert Recipe.parse(within.spell()) == within
    assert hash(Recipe.parse(within.spell())) == hash(within)


def test_override() -> None:
    recipe = Float8BlockScaling(
        override={"layers.0": None, "layers.*.down": Rowwise(), "layers.1*": None}
    )
    assert recipe.of(["layers.0.up", "layers.0"]) is None
    assert recipe.of(["layers.0.down", "layers.0"]) is None
    assert recipe.of(["layers.1.down", "layers.1"]) == Rowwise()
    assert recipe.of(["layers.1.up", "layers.1"]) is None
    assert recipe.of(["head"]) == recipe
    assert recipe.of([]) == recipe


def test_state() -> None:
    assert DelayedScaling().has_state
    assert not Float8BlockScaling(override={"a": None}).has_state
    assert Float8BlockScaling(override={"a": DelayedScaling()}).has_state


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        (DelayedScaling, {"margin": -1}, "expected `margin` to be from 0 to 127, but got -1"),
        (DelayedScaling, {"margin": 0.5}, "expected `margin` to be from 0 to 127, but got 0.5"),
        (
            DelayedScaling,
            {"amax_history_len": 0},
            "expected `amax_history_len` to be at least 1, but got 0",
        ),
        (
            DelayedScaling,
            {"amax_compute_algo": max},
            "expected `amax_compute_algo` to be `max` or `most_recent`, but got "
            "<built-in function max>",
        ),
        (
            Float8BlockScaling,
            {"fp8_format": "e5m2"},
            "expected `fp8_format` to be `Format.HYBRID` or `Format.E4M3`, but got 'e5m2'",
        ),
        (
            Rowwise,
            {"amax_epsilon": float("nan")},
            "expected `amax_epsilon` to be a finite number of at least 0, but got nan",
        ),
        (
            MXFP8BlockScaling,
            {"override": {"head": "bf16"}},
            "expected `override` to have recipes or None for values, but got 'bf16'",
        ),
        (
            MXFP8BlockScaling,
            {"override": {0: None}},
            "expected `override` to have names for keys, but got 0",
        ),
    ],
)
def test_bad_arguments(kind: type[Recipe], given: dict[str, Any], expected: str) -> None:
    with pytest.raises(fuseops.FuseOpsError) as error:
        kind(**given)
    assert str(error.value) == expected


def test_override_has_no_override() -> None:
    inner = Rowwise(override={"head": None})
    with pytest.raises(fuseops.FuseOpsError, match="to have recipes without `override`"):
        Rowwise(override={"layers.*": inner})
