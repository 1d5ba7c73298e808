# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FuseOps: compile the fusible part of a training step and run it.

import fuseops

program = fuseops.compile_ir("examples/llama_mlp.mlir", target="cpu")
results, context = program.forward(*arrays)
gradients = context.backward(*result_gradients)

Importing it imports no part of it, and neither NumPy nor PyTorch: each part is
imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuseops import cache, nn, recipe, torch, torch_mlir
    from fuseops.compiler import compile_ir, emit
    from fuseops.errors import FuseOpsError
    from fuseops.options import c_flags
    from fuseops.program import Context, Program
    from fuseops.torch.aten import use_aten
    from fuseops.torch.explain import explain
    from fuseops.torch.fp8 import autocast

# Where each public name is; a module is in the package itself.
_PLACES = {
    "Context": "fuseops.program",
    "FuseOpsError": "fuseops.errors",
    "Program": "fuseops.program",
    "autocast": "fuseops.torch.fp8",
    "c_flags": "fuseops.options",
    "cache": "fuseops",
    "compile_ir": "fuseops.compiler",
    "emit": "fuseops.compiler",
    "explain": "fuseops.torch.explain",
    "nn": "fuseops",
    "recipe": "fuseops",
    "torch": "fuseops",
    "torch_mlir": "fuseops",
    "use_aten": "fuseops.torch.aten",
}

__all__ = [
    "Context",
    "FuseOpsError",
    "Program",
    "autocast",
    "c_flags",
    "cache",
    "compile_ir",
    "emit",
    "explain",
    "nn",
    "recipe",
    "torch",
    "torch_mlir",
    "use_aten",
]


def __getattr__(name: str) -> Any:
    """Imports a public name at its first use."""
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module `fuseops` has no attribute `{name}`")
    if place == __name__:
        return import_module(f"{__name__}.{name}")
    value = getattr(import_module(place), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
