# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of `fuseops.explain` and of the backend's log; they need torch."""
