# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FuseOps as a backend of torch-mlir.

backend = FuseOpsBackend()
module = export_and_import(model, x)
invoker = backend.load(backend.compile(module))
y = invoker.main(x)

Imports torch; torch_mlir itself is imported by `export_and_import` alone, so that text compiles
without it.
"""

from fuseops.torch_mlir.backend import Artifact, FuseOpsBackend, Invoker
from fuseops.torch_mlir.importing import export_and_import

__all__ = ["Artifact", "FuseOpsBackend", "Invoker", "export_and_import"]
