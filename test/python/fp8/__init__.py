# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FP8 bit for bit, against an independent reference."""
