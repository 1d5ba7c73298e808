# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch programs as text of the torch dialect, which `fuseops.compile_ir` takes.

Imports torch; `import fuseops` alone doesn't.
"""

from fuseops.torch.importer import import_function, import_graph, import_program

__all__ = ["import_function", "import_graph", "import_program"]
