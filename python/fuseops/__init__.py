# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FuseOps: compile the fusible part of a training step and run it.

import fuseops

program = fuseops.compile_ir("examples/llama_mlp.mlir", target="cpu")
results, context = program.forward(*arrays)
gradients = context.backward(*result_gradients)
"""

from fuseops.compiler import compile_ir, emit
from fuseops.errors import FuseOpsError
from fuseops.program import Context, Program

__all__ = ["Context", "FuseOpsError", "Program", "compile_ir", "emit"]
