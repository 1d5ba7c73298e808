# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table: every entry, from the modules that define them."""

import ops_glu  # noqa: F401
import ops_layout  # noqa: F401
import ops_matmul  # noqa: F401
import ops_norm  # noqa: F401
import ops_pointwise  # noqa: F401
import ops_random  # noqa: F401
import ops_scalar  # noqa: F401
import torch_pointwise  # noqa: F401
import torch_tensor  # noqa: F401
from case import TABLE

__all__ = ["TABLE"]
