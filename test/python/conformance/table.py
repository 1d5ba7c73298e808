# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table: every entry, from the modules that define them."""

from importlib import import_module

from conformance.case import TABLE

for _name in (
    "ops_pointwise",
    "ops_scalar",
    "ops_glu",
    "ops_random",
    "ops_norm",
    "ops_softmax",
    "ops_layout",
    "ops_matmul",
    "ops_quantize",
    "programs",
    "torch_pointwise",
    "torch_tensor",
    "torch_direct",
):
    import_module(f"conformance.{_name}")

__all__ = ["TABLE"]
