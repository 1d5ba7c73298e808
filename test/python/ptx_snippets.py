# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels written by hand for the tests of the PTX simulator, and faults in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import ptx_simulator as ptx

TIMES = [(late, seed) for seed in range(3) for late in (True, False)]


def write_kernel(
    body: str, threads: int, *, buffers: int, maps: int = 0, cluster: int = 1, head: str = ""
) -> str:
    """Register `%t` is the thread, `%b0` and so on are the buffers, `%m0` the maps."""
    count = buffers + maps
    kinds = [".u64 {}"] * buffers + [".align 64 .b8 {}[128]"] * maps + [".u64 {}"] * 2
    parameters = ",\n".join(f".param {kind.format(f'k_param_{i}')}" for i, kind in enumerate(kinds))
    given = [f"ld.param.u64 %b{i}, [k_param_{i}];" for i in range(buffers)]
    given += [f"mov.b64 %m{i - buffers}, k_param_{i};" for i in range(buffers, count)]
    return (
        f".extern .shared .align 1024 .b8 smem[];\n.visible .entry k({parameters})\n"
        f".maxntid {threads}, 1, 1\n.reqnctapercluster {cluster}, 1, 1\n"
        f"{{\n{head}\nmov.u32 %t, %tid.x;\n" + "\n".join(given) + f"\n{body}\nret;\n}}\n"
    )


def run(
    text: str,
    buffers: Sequence[np.ndarray],
    maps: Sequence[ptx.TensorMap] = (),
    *,
    grid: int = 1,
    cluster: int = 1,
    late: bool = False,
    seed: int = 0,
) -> None:
    kernel = ptx.parse(text, "k")
    options = {"shared_bytes": 128 * 1024, "late": late, "seed": seed, "cluster": cluster}
    data = [buffer.reshape(-1).view(np.uint8) for buffer in buffers]
    ptx.run(kernel, data, (0, 0), grid, maps=maps, **options)


@dataclass
class Fault:
    """A change of a kernel, and what is said of it: that it is wrong, or an error."""

    old: str
    new: str
    message: str


def check(text: str, is_right: Callable[[str, bool, int], bool], fault: Fault | None) -> None:
    """The kernel is right at any time. With the fault it is refused or wrong at some."""
    if not fault:
        assert all(is_right(text, late, seed) for late, seed in TIMES)
        return
    assert fault.old in text
    text = text.replace(fault.old, fault.new)
    said = set()
    for seed in range(64):
        try:
            said.add("right" if is_right(text, seed % 2 == 0, seed) else "wrong")
        except ptx.SimulationError as error:
            said.add(str(error))
        if any(re.search(fault.message, one) for one in said):
            return
    raise AssertionError(said)
