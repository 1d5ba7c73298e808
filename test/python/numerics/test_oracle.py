# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The oracle's derivatives against central finite differences of the oracle's own values."""

import numpy as np
import oracle
import pytest
from oracle import Node
from table import TABLE

# What rounds or picks a maximum has no derivative that differences could show.
NAMES = [n for n in TABLE if not n.startswith(("cast", "quantize", "amax")) and "max" not in n]


@pytest.mark.parametrize("name", NAMES)
def test_derivatives(name: str):
    spec = TABLE[name](("M",), 4, "f64")
    rng = np.random.default_rng(5)
    values = [np.asarray(a.sample(rng, 3), np.float64) for a in spec.args]

    def run(arrays: list[np.ndarray]) -> tuple[list[Node], list[Node]]:
        nodes = [Node(a) for a in arrays]
        outputs = spec.oracle(*nodes)
        return ([outputs] if isinstance(outputs, Node) else list(outputs)), nodes

    outputs, nodes = run(values)
    incoming = [
        np.zeros(o.shape) if i in spec.frozen else rng.standard_normal(o.shape)
        for i, o in enumerate(outputs)
    ]
    for argument, got in enumerate(oracle.gradients(outputs, incoming, nodes)):
        for position in np.ndindex(values[argument].shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [v.copy() for v in values]
                moved[argument][position] += step
                ends.append(
                    sum((g * o.value).sum() for g, o in zip(incoming, run(moved)[0], strict=True))
                )
            want = (ends[0] - ends[1]) / 2e-6
            assert np.asarray(got)[position] == pytest.approx(want, rel=1e-6, abs=1e-7)
