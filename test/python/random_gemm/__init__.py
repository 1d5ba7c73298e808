# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random products with their neighbours; on a GPU they need torch."""
