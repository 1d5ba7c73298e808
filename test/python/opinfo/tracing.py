# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a call to a graph, and from its text to a program."""

from __future__ import annotations

import subprocess
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import fuseops
import torch
from fuseops.torch.importer import export
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedOperatorException,
)
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import (
    GuardOnDataDependentSymNode,
    PendingUnbackedSymbolNotFound,
)
from torch.utils import _pytree as pytree

from opinfo.reasons import find_reason, reason_of_operation

# What PyTorch raises where a shape or a branch depends on values.
_UNTRACEABLE = (
    DataDependentOutputException,
    DynamicOutputShapeException,
    GuardOnDataDependentSymNode,
    PendingUnbackedSymbolNotFound,
)


class Excluded(Exception):
    """A sample that isn't compared; the argument is the reason."""


class Failed(Exception):
    """A sample that is wrong; the argument says how."""


class Different(Failed):
    """A sample whose result is another one than eager's."""


class Programs:
    """Compiled programs by their text: samples often differ in values only. With a `fuse_opt` every
    value is rounded to its element type, as eager PyTorch does it."""

    def __init__(self, fuse_opt: Path | None = None, capacity: int = 64) -> None:
        self._fuse_opt = fuse_opt
        self._capacity = capacity
        self._programs: OrderedDict[str, fuseops.Program | Exception] = OrderedDict()

    def compile(self, text: str) -> fuseops.Program:
        """The program of a text; raises as the first attempt did."""
        if text not in self._programs:
            try:
                self._programs[text] = fuseops.compile_ir(self._rounded(text))
            except fuseops.FuseOpsError as error:
                self._programs[text] = error
            while len(self._programs) > self._capacity:
                self._programs.popitem(last=False)
        self._programs.move_to_end(text)
        found = self._programs[text]
        if isinstance(found, fuseops.Program):
            return found
        reason = find_reason(found.diagnostics or str(found))
        if reason is None:
            raise Failed(f"refused: {(found.diagnostics or str(found)).strip()}")
        raise Excluded(reason)

    def _rounded(self, text: str) -> str:
        if self._fuse_opt is None:
            return text
        fused = fuseops.emit(text, "ir", compile_to="fusion")
        option = "--convert-fuseops-to-kernels=target=cpu round-intermediates"
        command = [str(self._fuse_opt), option]
        return subprocess.run(command, input=fused, capture_output=True, check=True).stdout.decode()


def operations_of(graph: GraphModule) -> list[str]:
    """The names of the operations that make tensors, as the converter knows them."""
    found = {}
    for node in graph.graph.nodes:
        if not isinstance(node.target, torch._ops.OpOverload):
            continue
        reason = reason_of_operation(node.target)
        if reason is not None:
            raise Excluded(reason)
        leaves = pytree.tree_leaves(node.meta.get("val"))
        if any(isinstance(leaf, torch.Tensor) for leaf in leaves):
            schema = node.target._schema
            name = schema.name.replace("::", ".")
            found[f"{name}.{schema.overload_name}".rstrip(".")] = None
    return list(found)


def is_mutating(graph: GraphModule) -> bool:
    """Whether an operation writes a tensor."""
    return any(
        isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
        for node in graph.graph.nodes
    )


def trace(
    function: Callable[..., Any], tensors: Sequence[torch.Tensor], pre_dispatch: bool
) -> GraphModule:
    """The graph of a call, before or after composite operations are taken apart;
    after, it writes no tensor."""
    try:
        if pre_dispatch:
            with torch.no_grad():
                return make_fx(function, tracing_mode="fake", pre_dispatch=True)(*tensors)
        graph = make_fx(function, tracing_mode="fake")(*tensors)
        if not is_mutating(graph):
            return graph
        pure = torch.func.functionalize(graph, remove="mutations")
        return make_fx(pure, tracing_mode="fake")(*tensors)
    except _UNTRACEABLE as error:
        raise Excluded("depends on the values of a tensor") from error
    except UnsupportedOperatorException as error:
        raise Excluded("PyTorch cannot trace it") from error
    except RuntimeError as error:
        # What is traced has no values.
        if "data is not allocated" not in str(error):
            raise
        raise Excluded("depends on the values of a tensor") from error


def export_call(function: Callable[..., Any], tensors: Sequence[torch.Tensor]) -> ExportedProgram:
    """The call as torch.export gives it, without mutation."""
    try:
        return export(function, tensors)
    except Exception as error:  # The exporter has no one type for what it refuses.
        raise Excluded("torch.export refuses it") from error
