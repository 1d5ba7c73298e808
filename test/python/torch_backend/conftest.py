# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each test starts with nothing compiled and the same random numbers."""

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Forgets what Dynamo compiled, and seeds PyTorch's generators."""
    torch._dynamo.reset()
    torch.manual_seed(0)
