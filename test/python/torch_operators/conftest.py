# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""These tests need PyTorch, which not every machine has, and run on each device of it."""

import importlib.util

import pytest

HAS_TORCH = importlib.util.find_spec("torch") is not None
collect_ignore_glob = [] if HAS_TORCH else ["test_*.py"]


def _devices() -> list[str]:
    if not HAS_TORCH:
        return []
    import torch  # noqa: PLC0415

    return ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=_devices())
def device(request: pytest.FixtureRequest) -> str:
    """Each device of this machine."""
    return request.param
