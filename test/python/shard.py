# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The option --shard of suites that one machine's processes, or several machines, share."""

from __future__ import annotations

import argparse


def part_of(text: str) -> tuple[int, int]:
    """`2/8` is the third of eight parts: its number and theirs."""
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and int(index) < int(count)):
        raise argparse.ArgumentTypeError(f"expected a number below the one after `/`, got `{text}`")
    return int(index), int(count)


def add_shard(parser: argparse.ArgumentParser) -> None:
    """Adds the option."""
    parser.add_argument(
        "--shard", type=part_of, default=(0, 1), help="2/8 runs the third of eight parts"
    )
