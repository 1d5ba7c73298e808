# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fuseops.autocast`: which recipe linear layers have, and the path of a layer.

The recipe is a mode of a thread, as torch.autocast's dtype is. Inside of a compiled
function Dynamo leaves two markers in the graph; around one a call looks which
recipe there is.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import torch
from torch.fx import GraphModule, Node

from fuseops import recipe as recipes
from fuseops.errors import FuseOpsError
from fuseops.recipe import DelayedScaling, Recipe


@dataclass(frozen=True)
class Quantization:
    """A recipe, and the process group, by name, over which amaxes are reduced; all
    processes if None."""

    recipe: Recipe
    group: str | None = None


class _Thread(threading.local):
    def __init__(self) -> None:
        self.entered: list[Quantization | None] = []


_thread = _Thread()


def current(default: Quantization | None = None) -> Quantization | None:
    """That of the innermost `autocast` of this thread; `default` outside of any."""
    return _thread.entered[-1] if _thread.entered else default


def make_quantization(recipe: Any, group: Any = None) -> Quantization | None:
    """What a user asked for; raises FuseOpsError for what is no recipe or group."""
    recipes.check(recipe)
    name = getattr(group, "group_name", None)
    if group is not None and name is None:
        expected = "expected `amax_reduction_group` to be a process group"
        raise FuseOpsError(f"{expected}, but got {group!r}")
    return None if recipe is None else Quantization(recipe, name)


class autocast:
    """Runs linear layers of compiled functions in FP8.

    with fuseops.autocast(recipe=fuseops.recipe.Float8BlockScaling()):
        loss = compiled(x)

    As TransformerEngine's it sets no dtype: put it in or around torch.autocast for
    BF16 from FP32 parameters. `enabled=False` turns a recipe around it off, also one
    of torch.compile's options. Without `recipe` it's DelayedScaling. Amaxes of
    DelayedScaling are reduced over `amax_reduction_group`, by default over all
    processes. Backward has the recipe of its forward, wherever it runs.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        recipe: Recipe | None = None,
        amax_reduction_group: Any = None,
    ) -> None:
        if recipe is None:
            recipe = DelayedScaling()
        self._quantization = make_quantization(recipe if enabled else None, amax_reduction_group)

    def __enter__(self) -> autocast:
        if torch.compiler.is_dynamo_compiling():
            found = self._quantization
            enter_marker(found and found.recipe.spell(), found and found.group)
        else:
            _thread.entered.append(self._quantization)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if torch.compiler.is_dynamo_compiling():
            exit_marker()
        else:
            _thread.entered.pop()


class within:
    """The same for what is known already: a mode of a graph."""

    def __init__(self, quantization: Quantization | None) -> None:
        self._quantization = quantization

    def __enter__(self) -> None:
        _thread.entered.append(self._quantization)

    def __exit__(self, *_: object) -> None:
        _thread.entered.pop()


@torch.compiler.allow_in_graph
def enter_marker(recipe: str | None, group: str | None) -> None:
    """Where a graph enters `autocast`; does nothing."""


@torch.compiler.allow_in_graph
def exit_marker() -> None:
    """Where a graph leaves it."""


def entered_by(node: Node) -> Quantization | None:
    """What the node of an `enter_marker` enters."""
    text, group = node.args
    return None if text is None else Quantization(Recipe.parse(text), group)


def find_group(name: str | None) -> Any:
    """The process group of that name, all processes if None; None where there is but
    one process."""
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return None
    group = torch.distributed.group.WORLD
    if name is not None:
        group = torch.distributed.distributed_c10d._resolve_process_group(name)
    return group if torch.distributed.get_world_size(group) > 1 else None


def paths_of(node: Node) -> list[str]:
    """The paths of the module that calls a node and of those around it, innermost
    first, as `named_modules` of the outermost has them."""
    return [path for path, _ in map(_split_path, reversed(_stack_of(node))) if path]


def name_calls(graph: GraphModule) -> dict[Node, str]:
    """What a program calls its contractions, by their calls: the same in equal
    layers."""
    calls = [node for node in graph.graph.nodes if node.op == "call_function"]
    return {node: str(index) for index, node in enumerate(calls)}


def call_of(node: Node) -> int:
    """Which call of its module by the graph a node is."""
    return (node.meta.get("custom") or {}).get(_CALL, 0)


def set_call(node: Node, count: int) -> None:
    """Numbers a node; tracing keeps it."""
    node.meta["custom"] = {**(node.meta.get("custom") or {}), _CALL: count}


_CALL = "fuseops_call"


def _stack_of(node: Node) -> list[str]:
    stack = node.meta.get("nn_module_stack") or {}
    return [entry[0] for entry in stack.values()]


def _split_path(spelled: str) -> tuple[str, str]:
    """The path of a module, and the expression of the outermost one."""
    spelled = re.sub(r"\._modules\['([^']*)'\]", r".\1", spelled)
    root = re.match(r"[LG]\['[^']*'\](\.cell_contents)?(\._orig_mod)?", spelled)
    base = root.group() if root else ""
    return spelled[len(base) :].strip("."), base
