# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is kept for a weight between calls: its module, the state of its layer, and the
weight in FP8.

A call finds it by the weight that it is given: one graph is of many equal layers, and
one layer part of many graphs, in training and in evaluation, of any batch size. A
weight is quantized once for each of its versions and each step of an optimizer, whatever
number of microbatches there are.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, ref

import torch
from torch.fx import Graph, Node
from torch.multiprocessing.reductions import StorageWeakRef
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils.weak import WeakIdKeyDictionary

from fuseops.program import Program
from fuseops.torch import fp8
from fuseops.torch.fp8_state import TensorState


class Mark:
    """A weight as it is: another tensor, other memory or a write is another mark."""

    def __init__(self, weight: torch.Tensor) -> None:
        self._weight = ref(weight)
        # Keeps no memory, but its name from being that of other memory.
        self._storage = StorageWeakRef(weight.untyped_storage())
        self._rest = self._find_rest(weight)

    def is_of(self, weight: torch.Tensor) -> bool:
        """Whether nothing has changed."""
        return (
            self._weight() is weight
            and self._storage.cdata == weight.untyped_storage()._cdata
            and self._rest == self._find_rest(weight)
        )

    @staticmethod
    def _find_rest(weight: torch.Tensor) -> tuple[Any, ...]:
        return (weight._version, _steps.count, weight.data_ptr(), weight.stride())


@dataclass
class Prepared:
    """What a program's `prepare` made of weights."""

    marks: tuple[Mark, ...]
    outputs: tuple[Any, ...]
    # Whether it moved the state of delayed scaling on.
    is_trained: bool


class Weight:
    """What is kept for a weight."""

    def __init__(self, owner: torch.nn.Module | None) -> None:
        self._owner = None if owner is None else ref(owner)
        self._states: dict[str, TensorState] = {}
        # Of the programs whose first weight it is.
        self._prepared: WeakKeyDictionary[Program, Prepared] = WeakKeyDictionary()
        # Whether a CUDA graph was captured with it: its replays write what no version
        # tells of, and prepare the weight themselves.
        self.is_captured = False
        # Whether it's gathered from several processes, which keeps its version.
        self.is_sharded = False

    def state(self, name: str) -> TensorState:
        """The state of a tensor of its layer."""
        found = self._states.get(name)
        if found is None:
            owner = self._owner and self._owner()
            found = self._states[name] = TensorState(owner, name)
        return found

    def find(
        self, program: Program, weights: Sequence[torch.Tensor], *, is_trained: bool
    ) -> tuple[Any, ...] | None:
        """What was prepared of these weights as they are; None if nothing was, or
        nothing in training where that's asked for."""
        found = self._prepared.get(program)
        if found is None or is_trained > found.is_trained or self.is_captured:
            return None
        is_same = all(m.is_of(w) for m, w in zip(found.marks, weights, strict=True))
        return found.outputs if is_same else None

    def keep(
        self,
        program: Program,
        weights: Sequence[torch.Tensor],
        outputs: tuple[Any, ...],
        *,
        is_trained: bool,
    ) -> None:
        """Keeps what was prepared, unless nothing would tell that it's out of date."""
        self._prepared.pop(program, None)
        is_seen = not any(weight.is_inference() for weight in weights)
        if is_seen and not self.is_captured and not self.is_sharded:
            marks = tuple(map(Mark, weights))
            self._prepared[program] = Prepared(marks, outputs, is_trained)


_WEIGHTS: WeakIdKeyDictionary = WeakIdKeyDictionary()


class _Steps:
    """Counts the steps of all optimizers. Fused ones write without a new version, and
    others write copies of the parameters that are copied back without one."""

    count = 0

    def __call__(self, *_: Any) -> None:
        self.count += 1


_steps = _Steps()
register_optimizer_step_post_hook(_steps)


def look_up(weights: Sequence[torch.Tensor]) -> list[Weight]:
    """What is kept for each of the weights."""
    new = [weight for weight in weights if weight not in _WEIGHTS]
    if new:
        modules = [module for kept in _MODULES if (module := kept()) is not None]
        owners = _find_owners(new, modules)
        if len(owners) < sum(isinstance(w, torch.nn.Parameter) for w in new) or _fsdp_kinds():
            modules = _find_modules()
            _MODULES[:] = map(ref, modules)
            owners = _find_owners(new, modules)
        sharded = _find_sharded(modules)
        for weight in new:
            owner = owners.get(id(weight))
            _WEIGHTS[weight] = kept = Weight(owner)
            kept.is_sharded = id(owner) in sharded
    return [_WEIGHTS[weight] for weight in weights]


# Those that were there at the last look, oldest first.
_MODULES: list[ref[torch.nn.Module]] = []


def _find_modules() -> list[torch.nn.Module]:
    """All modules that there are: nothing in PyTorch leads to one from a parameter."""
    return [found for found in gc.get_objects() if issubclass(type(found), torch.nn.Module)]


def _find_owners(
    weights: Sequence[torch.Tensor], modules: Iterable[torch.nn.Module]
) -> dict[int, torch.nn.Module]:
    """The modules that have these parameters, by the parameters' ids; of several, as
    of a tied weight, the first that is a linear layer."""
    wanted = {id(weight) for weight in weights if isinstance(weight, torch.nn.Parameter)}
    found: dict[int, torch.nn.Module] = {}
    for module in modules:
        for parameter in module.__dict__.get("_parameters", {}).values():
            known = found.get(id(parameter))
            is_better = isinstance(module, torch.nn.Linear) > isinstance(known, torch.nn.Linear)
            if id(parameter) in wanted and (known is None or is_better):
                found[id(parameter)] = module
    return found


def _fsdp_kinds() -> tuple[type, ...]:
    """The classes of modules under FSDP; none where it cannot be."""
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return ()
    fsdp = sys.modules.get("torch.distributed.fsdp")
    names = ("FSDPModule", "FullyShardedDataParallel")
    return tuple(kind for name in names if (kind := getattr(fsdp, name, None)))


def _find_sharded(modules: Iterable[torch.nn.Module]) -> set[int]:
    """The ids of the modules under FSDP."""
    roots = [module for module in modules if isinstance(module, _fsdp_kinds())]
    return {id(module) for root in roots for module in root.modules()}


def number_calls(graph: Graph) -> None:
    """Numbers the products of Dynamo's graph with the same weight, beyond the first."""
    counts: dict[Node, int] = {}
    for node in graph.nodes:
        weight = weight_of(node)
        if weight is not None:
            counts[weight] = count = counts.get(weight, -1) + 1
            if count:
                fp8.set_call(node, count)


def weight_of(node: Node) -> Node | None:
    """The input that the right side of a product is made of; None where it's none."""
    name = str(getattr(node.target, "__name__", node.target))
    operands = [argument for argument in node.args if isinstance(argument, Node)]
    position = 2 if name.startswith(("addmm", "baddbmm")) else 1
    if node.op not in ("call_function", "call_method") or len(operands) <= position:
        return None
    weight = operands[position]
    while weight.op not in ("placeholder", "get_attr"):
        sources = weight.all_input_nodes
        if len(sources) != 1:
            return None
        weight = sources[0]
    return weight
