# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The state of delayed scaling: a scale and a history of amaxes for each tensor.

Both are buffers of the module that has the weight of the linear layer, so that they
are saved, loaded, copied and moved with it. Their memory stays where it is, and a
captured CUDA graph goes on with it. The state of a weight that no module has is held
as long as the weight, that of a product without one by the compiled graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from weakref import ref

import torch

from fuseops._capi import TensorInfo
from fuseops.compiler import compile_ir
from fuseops.program import Program
from fuseops.recipe import DelayedScaling, Format
from fuseops.torch import fp8

# The names of the buffers are `fp8_<input|weight|output_gradient>_<scale|history>`.
_PREFIX = "fp8_"


class TensorState:
    """The scale `[]` and the history `[H]` of one tensor, both float32, newest last."""

    def __init__(self, owner: torch.nn.Module | None, name: str) -> None:
        self._owner = None if owner is None else ref(owner)
        self._names = (f"{_PREFIX}{name}_scale", f"{_PREFIX}{name}_history")
        self._own: dict[str, torch.Tensor | None] = {}
        self._fixed: list[torch.Tensor] = []
        # The scale of the last forward that counted, which a checkpoint runs again.
        self.used: torch.Tensor | None = None

    def tensors(self, length: int, device: torch.device) -> list[torch.Tensor]:
        """Both, with a history of that length; made where there are none yet."""
        owner = self._owner and self._owner()
        buffers = self._own if owner is None else owner._buffers
        given = [buffers.get(name) for name in self._names]
        fixed = self._fixed
        is_fit = bool(fixed) and _is_fit(fixed, length, device)
        if is_fit and given[0] is fixed[0] and given[1] is fixed[1]:
            return fixed
        found = _fit(given, length, device)
        if is_fit:
            # Others came in their place: loaded, or moved and back.
            found = [a.copy_(b) for a, b in zip(fixed, found, strict=True)]
        self._fixed = found
        for name, tensor in zip(self._names, found, strict=True):
            if owner is None or name in buffers:
                buffers[name] = tensor
            else:
                owner.register_buffer(name, tensor)
        return found


def _is_fit(tensors: Sequence[torch.Tensor | None], length: int, device: torch.device) -> bool:
    for tensor, shape in zip(tensors, ((), (length,)), strict=True):
        if tensor is None or tensor.shape != shape:
            return False
        if tensor.device != device or tensor.dtype != torch.float32:
            return False
    return True


def _fit(
    given: Sequence[torch.Tensor | None], length: int, device: torch.device
) -> list[torch.Tensor]:
    """Buffers as the recipe has them; another length keeps the newest amaxes."""
    if _is_fit(given, length, device):
        return list(given)
    scale, history = torch.ones((), device=device), torch.zeros(length, device=device)
    if given[0] is not None:
        scale.copy_(given[0])
    if given[1] is not None:
        kept = min(length, given[1].numel())
        history[length - kept :] = given[1][given[1].numel() - kept :]
    return [scale, history]


@dataclass(frozen=True)
class Pair:
    """A scale `[n]` and a history `[H, n]` among the arguments of an entry."""

    # The number of the scale; the history is behind it.
    scale: int
    # `<name of a product>.<role>` for each column.
    names: tuple[str, ...]
    # The output with the next scale, before that with the next history; None where
    # backward gives both in the place of gradients.
    next: int | None
    length: int


def find_pairs(
    arguments: Sequence[Mapping[str, Any]], infos: Sequence[TensorInfo]
) -> tuple[Pair, ...]:
    """The state among arguments, as a program's report has them."""
    return tuple(
        Pair(index, tuple(argument["tensors"]), argument["next"], infos[index + 1].shape[0])
        for index, argument in enumerate(arguments)
        if argument.get("role") == "state" and "tensors" in argument
    )


class Columns:
    """The state of a pair: the memory of each column."""

    def __init__(self, states: Sequence[TensorState], pair: Pair, device: torch.device) -> None:
        self._states = states
        tensors = [state.tensors(pair.length, device) for state in states]
        self._scales = [scale for scale, _ in tensors]
        self._histories = [history for _, history in tensors]

    def read(self, *, is_again: bool = False) -> list[torch.Tensor]:
        """Both arguments, in memory of their own; for what runs again with the scale of
        the first time."""
        scales = self._scales
        if is_again and all(state.used is not None for state in self._states):
            scales = [state.used for state in self._states]
        return [torch.stack(scales), torch.stack(self._histories, 1)]

    def keep_used(self, scale: torch.Tensor) -> None:
        """Keeps the scale for a checkpoint."""
        for state, used in zip(self._states, scale.unbind(), strict=True):
            state.used = used

    def write(self, made: Sequence[torch.Tensor]) -> None:
        """Puts what a program made of both into their memory."""
        scale, history = made
        torch._foreach_copy_(self._scales, scale.unbind())
        torch._foreach_copy_(self._histories, history.t().contiguous().unbind())


def reduce(
    pair: Pair,
    given: Sequence[torch.Tensor],
    made: Sequence[torch.Tensor],
    quantization: fp8.Quantization,
) -> Sequence[torch.Tensor]:
    """What a program made of both, with the largest amaxes of all processes."""
    recipe = quantization.recipe
    if not isinstance(recipe, DelayedScaling) or not recipe.reduce_amax:
        return made
    group = fp8.find_group(quantization.group)
    if group is None:
        return made
    amax = made[1][-1].clone()
    torch.distributed.all_reduce(amax, torch.distributed.ReduceOp.MAX, group)
    program = _update_program(recipe, pair.next is not None, len(pair.names), amax.device.type)
    return program.run_forward((*given, amax))[:2]


def is_recomputation() -> bool:
    """Whether a checkpoint runs forward for the second time."""
    if torch._C._current_graph_task_id() == -1:
        return False
    hooks = torch._C._autograd._top_saved_tensors_default_hooks(True)
    return hooks is not None and "_recomputation_hook" in getattr(hooks[0], "__qualname__", "")


@cache
def _update_program(recipe: DelayedScaling, is_forward: bool, count: int, target: str) -> Program:
    """`fuseops.update_scale` by itself."""
    is_e4m3 = is_forward or recipe.fp8_format is Format.E4M3
    row, rows = f"tensor<{count}xf32>", f"tensor<{recipe.amax_history_len}x{count}xf32>"
    words = ["most_recent"] if recipe.amax_compute_algo == "most_recent" else []
    words += [f"{{margin = {recipe.margin} : i64}}"] if recipe.margin else []
    return compile_ir(
        f"fuseops.fusible @update_scale(%s: {row}, %h: {rows}, %a: {row}) -> ({row}, {rows})\n"
        "forward {\n"
        f"  %s1, %h1 = fuseops.update_scale %s, %h, %a format({_FORMATS[is_e4m3]})"
        f" {' '.join(words)} : {row}, {rows}\n"
        f"  fuseops.return %s1, %h1 : {row}, {rows}\n"
        "}\n",
        target=target,
    )


_FORMATS = {True: "f8E4M3FN", False: "f8E5M2"}
