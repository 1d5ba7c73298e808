# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The modes of PyTorch in which the nodes of Dynamo's graph run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.amp import autocast_mode
from torch.autograd import grad_mode
from torch.fx import Graph, Node

from fuseops.torch import fp8

_DEVICES = ("cpu", "cuda")
_CHANGES = (
    fp8.enter_marker,
    fp8.exit_marker,
    torch._C._set_grad_enabled,
    autocast_mode._enter_autocast,
    autocast_mode._exit_autocast,
    grad_mode._enter_inference_mode,
    grad_mode._exit_inference_mode,
)


@dataclass(frozen=True)
class Modes:
    """Whether autograd records, what autocast casts to on each device type, and the
    recipe of linear layers."""

    is_grad_enabled: bool
    autocast: tuple[tuple[str, torch.dtype | None], ...]
    quantization: fp8.Quantization | None = None

    @classmethod
    def current(cls) -> Modes:
        """Those of this thread."""
        casts = tuple(
            (kind, torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None)
            for kind in _DEVICES
        )
        is_grad_enabled = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
        return cls(is_grad_enabled, casts, fp8.current())

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Within them."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.set_grad_enabled(self.is_grad_enabled))
            stack.enter_context(fp8.within(self.quantization))
            for kind, dtype in self.autocast:
                stack.enter_context(torch.autocast(kind, dtype=dtype, enabled=dtype is not None))
            yield


def is_mode_change(node: Node) -> bool:
    """Whether a node changes a mode for the nodes after it."""
    return node.op == "call_function" and node.target in _CHANGES


def in_grad_mode(is_enabled: bool, node: Node) -> Callable[..., Any]:
    """The function or method that a node calls, as it is in a mode of its own."""
    function = node.target
    if node.op == "call_method":
        function = getattr(torch.Tensor, node.target)

    def call(*args: Any, **kwargs: Any) -> Any:
        with torch.inference_mode(False), torch.set_grad_enabled(is_enabled):
            return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = node.name
    return call


def modes_of(graph: Graph) -> dict[Node, Modes]:
    """The modes of each node, from those of this thread on."""
    current = Modes.current()
    # What a node that leaves a mode goes back to.
    before: dict[Node, Modes] = {}
    entered: list[fp8.Quantization | None] = []
    found = {}
    for node in graph.nodes:
        found[node] = current
        if not is_mode_change(node):
            continue
        if node.target is torch._C._set_grad_enabled:
            current = replace(current, is_grad_enabled=bool(node.args[0]))
            continue
        if node.target is fp8.enter_marker:
            entered.append(current.quantization)
            current = replace(current, quantization=fp8.entered_by(node))
            continue
        if node.target is fp8.exit_marker:
            current = replace(current, quantization=entered.pop())
            continue
        before[node] = current
        if node.target is autocast_mode._enter_autocast:
            kind, dtype, is_enabled = (*node.args, None, True)[:3]
            casts = dict(current.autocast)
            casts[kind] = (dtype or torch.get_autocast_dtype(kind)) if is_enabled else None
            current = replace(current, autocast=tuple(casts.items()))
        elif node.target is grad_mode._enter_inference_mode:
            is_grad_enabled = current.is_grad_enabled and not node.args[0]
            current = replace(current, is_grad_enabled=is_grad_enabled)
        else:
            current = before[node.args[0]]
    return found
