# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.utils.checkpoint` in Dynamo's graph: its part compiled like a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils.checkpoint import checkpoint

from fuseops.torch.modes import modes_of

_OPERATOR = torch.ops.higher_order.tag_activation_checkpoint


class Checkpointed:
    """Calls a compiled part, which backward runs again."""

    def __init__(self, name: str, call: Callable[..., Any], has_effect: bool, context: Any) -> None:
        # FX names what it calls.
        self.__name__ = self.__qualname__ = name
        self._call = call
        self.has_effect = has_effect
        self._context = {} if context is None else {"context_fn": context}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        options, given = _OPERATOR.divide_kwargs(kwargs)
        options["use_reentrant"] = False
        return checkpoint(self._call, *args, **self._context, **options, **given)


def is_checkpoint(node: Node) -> bool:
    """Whether a node runs a part of the graph under a checkpoint."""
    return node.op == "call_function" and node.target is _OPERATOR


def replace_checkpoints(
    module: GraphModule, compile_part: Callable[[GraphModule], tuple[Callable[..., Any], bool]]
) -> GraphModule:
    """The module with compiled parts under its checkpoints; `compile_part` also
    says whether a part has effects."""
    if not any(map(is_checkpoint, module.graph.nodes)):
        return module
    result = GraphModule(module, module.graph)
    modes = modes_of(result.graph)
    for node in list(result.graph.nodes):
        if not is_checkpoint(node):
            continue
        part = getattr(result, node.args[0].target)
        with modes[node].entered():
            call, has_effect = compile_part(part)
        context = part.meta.get("_checkpoint_context_fn")
        node.target = Checkpointed(node.name, call, has_effect, context)
        source, node.args = node.args[0], node.args[1:]
        if not source.users:
            result.graph.erase_node(source)
    result.recompile()
    return result
