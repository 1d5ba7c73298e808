# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions and modules of PyTorch, each one kernel forward and one backward.

Imports torch. Functions are in `fuseops.nn.functional`, modules here.
"""

from fuseops.nn import functional
from fuseops.nn.modules import (
    GEGLU,
    GLU,
    BiasDropoutAdd,
    BiasGELU,
    CrossEntropyLoss,
    Dropout,
    DropoutAddLayerNorm,
    DropoutAddRMSNorm,
    L2Norm,
    LayerNorm,
    LogSoftmax,
    ReGLU,
    RMSNorm,
    SkipLayerNorm,
    SkipRMSNorm,
    Softmax,
    SwiGLU,
)

__all__ = [
    "GEGLU",
    "GLU",
    "BiasDropoutAdd",
    "BiasGELU",
    "CrossEntropyLoss",
    "Dropout",
    "DropoutAddLayerNorm",
    "DropoutAddRMSNorm",
    "L2Norm",
    "LayerNorm",
    "LogSoftmax",
    "RMSNorm",
    "ReGLU",
    "SkipLayerNorm",
    "SkipRMSNorm",
    "Softmax",
    "SwiGLU",
    "functional",
]
