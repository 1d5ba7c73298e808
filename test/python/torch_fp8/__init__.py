# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the backend of torch.compile; they need torch."""
