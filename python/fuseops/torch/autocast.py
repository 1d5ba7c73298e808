# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Autocast's casts, written into a traced graph.

Autocast works below where composite operators are traced, so that a traced graph
has its results but not its casts. Which there are is seen by calling each operator
with and without it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from fuseops.errors import FuseOpsError
from fuseops.torch.symbols import hint


class _Casts(TorchDispatchMode):
    """Counts the casts that calls make: which tensor to which dtype."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[tuple[int, torch.dtype]] = Counter()
        # Tensors stay, so that an address is one tensor's.
        self._kept: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.ops.aten._to_copy.default and kwargs.get("dtype") is not None:
            self.found[id(args[0]), kwargs["dtype"]] += 1
            self._kept.append(args[0])
        return func(*args, **kwargs)


def is_enabled(values: list[Any]) -> bool:
    """Whether autocast is on for the device of a tensor."""
    devices = {value.device.type for value in values if isinstance(value, torch.Tensor)}
    return any(torch.is_autocast_enabled(device) for device in devices)


def insert_casts(traced: GraphModule, fake_mode: Any) -> None:
    """Adds a cast before each operator whose inputs autocast would cast; raises
    FuseOpsError where it casts inside of one."""
    for node in list(traced.graph.nodes):
        if not isinstance(node.target, torch._ops.OpOverload):
            continue
        for source, dtype in _casts_of(node).items():
            with traced.graph.inserting_before(node):
                cast = traced.graph.call_function(torch.ops.aten.to.dtype, (source, dtype))
            cast.meta = dict(node.meta)
            with fake_mode:
                cast.meta["val"] = torch.empty_like(source.meta["val"], dtype=dtype)
            node.replace_input_with(source, cast)


def _casts_of(node: Node) -> dict[Node, torch.dtype]:
    mode = FakeTensorMode()
    made: dict[Node, Any] = {}

    def example(value: Any) -> Any:
        """A value of the same kind, with sizes that are numbers."""
        if isinstance(value, torch.Tensor):
            sizes = [hint(size) for size in value.shape]
            return torch.empty(sizes, dtype=value.dtype, device=value.device)
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return value.node.hint
        return value

    def argument(value: Any) -> Any:
        if not isinstance(value, Node):
            return value
        if value not in made:
            made[value] = pytree.tree_map(example, value.meta["val"])
        return made[value]

    with mode:
        args, kwargs = pytree.tree_map(argument, (node.args, dict(node.kwargs)))
        with torch.no_grad(), _Casts() as cast:
            node.target(*args, **kwargs)
        with (
            torch.no_grad(),
            torch.autocast("cpu", enabled=False),
            torch.autocast("cuda", enabled=False),
            _Casts() as plain,
        ):
            node.target(*args, **kwargs)
    inputs = {id(value): source for source, value in made.items()}
    # Tensors inside of an operator differ from call to call.
    inner = [sum(n for (key, _), n in c.found.items() if key not in inputs) for c in (cast, plain)]
    if inner[0] != inner[1]:
        raise FuseOpsError(f"autocast casts inside of `{node.target}`")
    extra = cast.found - plain.found
    return {inputs[key]: dtype for key, dtype in extra if key in inputs}
