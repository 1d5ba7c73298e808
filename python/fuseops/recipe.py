# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the linear layers of a model are quantized to FP8, named as TransformerEngine's.

options = {"recipe": fuseops.recipe.Float8BlockScaling(override={"lm_head": None})}
compiled = torch.compile(model, backend="fuseops", options=options)

A recipe is a value: two with equal fields are one. Its fields have
TransformerEngine's names and defaults; `override` is FuseOps's own. Needs no torch.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from fnmatch import fnmatchcase
from typing import ClassVar

from fuseops.errors import FuseOpsError


class Format(Enum):
    """The FP8 formats of a recipe."""

    # For activations, weights and gradients.
    E4M3 = "e4m3"
    # E4M3 for activations and weights, E5M2 for gradients.
    HYBRID = "hybrid"


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What all recipes have.

    `override` gives layers a recipe of their own, or None for the precision that
    they have without one: a mapping from patterns of fnmatch to recipes. A pattern
    is compared with a module's path, such as `layers.0.gate`, and with those of the
    modules around it; the first pattern that matches counts.
    """

    override: Mapping[str, Recipe | None] = field(default_factory=dict)

    # `#fuseops.recipe<kind>`.
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        given = self.override
        pairs = given.items() if isinstance(given, Mapping) else given
        for pattern, recipe in pairs:
            _expect(isinstance(pattern, str), "override", "have names for keys", pattern)
            is_recipe = recipe is None or isinstance(recipe, Recipe)
            _expect(is_recipe, "override", "have recipes or None for values", recipe)
            is_plain = recipe is None or not recipe.override
            _expect(is_plain, "override", "have recipes without `override`", recipe)
        # Hashable, and equal where it says the same in the same order.
        object.__setattr__(self, "override", tuple(pairs))

    def attribute(self) -> str:
        """The attribute of the IR."""
        words = [self.kind, *(f"{key} = {value}" for key, value in self._settings().items())]
        return f"#fuseops.recipe<{', '.join(words)}>"

    def of(self, paths: Sequence[str]) -> Recipe | None:
        """The recipe of a layer, by the paths of its module and those around it."""
        for pattern, recipe in self.override:
            if any(fnmatchcase(path, pattern) for path in paths):
                return recipe
        return self

    def spell(self) -> str:
        """All of it as text, which `parse` reads."""
        values = [getattr(self, one.name) for one in fields(self)]
        spelled = [v.value if isinstance(v, Format) else v for v in values]
        spelled[0] = tuple((p, None if r is None else r.spell()) for p, r in self.override)
        return repr((type(self).__name__, tuple(spelled)))

    @staticmethod
    def parse(text: str) -> Recipe:
        """The recipe that `spell` wrote."""
        name, (override, *values) = ast.literal_eval(text)
        kind = globals()[name]
        given = dict(zip([one.name for one in fields(kind)[1:]], values, strict=True))
        given["fp8_format"] = Format(given["fp8_format"])
        pairs = {p: None if r is None else Recipe.parse(r) for p, r in override}
        return kind(override=pairs, **given)

    @property
    def has_state(self) -> bool:
        """Whether a call depends on the calls before it, of any layer."""
        return any(r is not None and r.kind == "delayed" for r in self._all())

    def _all(self) -> list[Recipe | None]:
        return [self, *(recipe for _, recipe in self.override)]

    def _settings(self) -> dict[str, object]:
        """What the attribute says beside its kind."""
        return {}


@dataclass(frozen=True, kw_only=True)
class DelayedScaling(Recipe):
    """One scale a tensor, from the amaxes of the calls before.

    A scale is `max_value / amax / 2**margin`, with amax the largest of the last
    `amax_history_len` calls, or with `amax_compute_algo="most_recent"` that of the
    last one. With `reduce_amax` amaxes are the largest of all processes of the
    group that `fuseops.autocast` or torch.compile's options name.
    """

    margin: int = 0
    fp8_format: Format = Format.HYBRID
    amax_history_len: int = 1024
    amax_compute_algo: str = "max"
    reduce_amax: bool = True

    kind = "delayed"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_format(self.fp8_format)
        margin, history = self.margin, self.amax_history_len
        _expect(_is_int(margin) and 0 <= margin <= 127, "margin", "be from 0 to 127", margin)
        is_length = _is_int(history) and history >= 1
        _expect(is_length, "amax_history_len", "be at least 1", history)
        is_known = self.amax_compute_algo in ("max", "most_recent")
        algorithm = self.amax_compute_algo
        _expect(is_known, "amax_compute_algo", "be `max` or `most_recent`", algorithm)

    def _settings(self) -> dict[str, object]:
        return {
            "format": self.fp8_format.value,
            "margin": self.margin,
            "history": self.amax_history_len,
            "amax_algorithm": self.amax_compute_algo,
        }


@dataclass(frozen=True, kw_only=True)
class Float8CurrentScaling(Recipe):
    """One scale a tensor, from the tensor's own amax."""

    fp8_format: Format = Format.HYBRID
    use_power_2_scales: bool = False
    amax_epsilon: float = 0.0

    kind = "current"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_format(self.fp8_format)
        _check_epsilon(self.amax_epsilon)

    def _settings(self) -> dict[str, object]:
        return {
            "format": self.fp8_format.value,
            "power_of_two": _word(self.use_power_2_scales),
            "epsilon": _number(self.amax_epsilon),
        }


@dataclass(frozen=True, kw_only=True)
class Float8BlockScaling(Recipe):
    """One scale for each 1x128 of activations and gradients and for each 128x128 of
    weights. Scales are powers of two unless `use_f32_scales`."""

    fp8_format: Format = Format.E4M3
    use_f32_scales: bool = False
    amax_epsilon: float = 0.0

    kind = "block"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_format(self.fp8_format)
        _check_epsilon(self.amax_epsilon)

    def _settings(self) -> dict[str, object]:
        return {
            "format": self.fp8_format.value,
            "power_of_two": _word(not self.use_f32_scales),
            "epsilon": _number(self.amax_epsilon),
        }


@dataclass(frozen=True, kw_only=True)
class MXFP8BlockScaling(Recipe):
    """One power of two for each 1x32."""

    fp8_format: Format = Format.E4M3

    kind = "mx"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_format(self.fp8_format)

    def _settings(self) -> dict[str, object]:
        return {"format": self.fp8_format.value}


@dataclass(frozen=True, kw_only=True)
class Rowwise(Recipe):
    """One scale a row, as torchao's. With `high_precision_wgrad` weight gradients are
    computed from the operands as they were before quantization."""

    fp8_format: Format = Format.E4M3
    use_power_2_scales: bool = False
    amax_epsilon: float = 0.0
    high_precision_wgrad: bool = False

    kind = "rowwise"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_format(self.fp8_format)
        _check_epsilon(self.amax_epsilon)

    def _settings(self) -> dict[str, object]:
        return {
            "format": self.fp8_format.value,
            "power_of_two": _word(self.use_power_2_scales),
            "epsilon": _number(self.amax_epsilon),
            "high_precision_wgrad": _word(self.high_precision_wgrad),
        }


# The attribute of a layer that no recipe is for.
NO_RECIPE = "#fuseops.recipe<none>"


def attribute_of(recipe: Recipe | None) -> str:
    """The attribute of the IR."""
    return NO_RECIPE if recipe is None else recipe.attribute()


def check(recipe: object, name: str = "recipe") -> None:
    """Raises FuseOpsError unless it's a recipe or None."""
    is_recipe = recipe is None or isinstance(recipe, Recipe)
    _expect(is_recipe, name, "be a recipe of `fuseops.recipe` or None", recipe)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _word(value: bool) -> str:
    return "true" if value else "false"


def _number(value: float) -> str:
    mantissa, mark, exponent = repr(float(value)).partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + mark + exponent


def _check_format(value: object) -> None:
    expected = "be `Format.HYBRID` or `Format.E4M3`"
    _expect(isinstance(value, Format), "fp8_format", expected, value)


def _check_epsilon(value: object) -> None:
    is_number = isinstance(value, (int, float)) and math.isfinite(value) and value >= 0
    _expect(is_number, "amax_epsilon", "be a finite number of at least 0", value)


def _expect(condition: bool, name: str, expected: str, got: object) -> None:
    if not condition:
        raise FuseOpsError(f"expected `{name}` to {expected}, but got {got!r}")
