# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs: see scripts/random_programs.py."""
