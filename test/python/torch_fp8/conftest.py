# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each test starts with nothing compiled and the same random numbers. With
FUSEOPS_TEST_DEVICE=cuda the tensors of all tests are on that device."""

import os
from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Forgets what Dynamo compiled, and seeds PyTorch's generators."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    with torch.device(os.environ.get("FUSEOPS_TEST_DEVICE", "cpu")):
        yield
