# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's OpInfo database as an oracle: each sample imported, compiled and compared."""
