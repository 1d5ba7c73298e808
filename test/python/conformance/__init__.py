# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One table of operations and the checks that each goes through."""
