# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The entry of dropout: its mask is Philox4x32-10 of the element's number on every target."""

import torch
from philox import keep_mask
from torch import Tensor

from conformance.case import Arg, Case, Shape, Variant, add, tensor


def dropout(p: float) -> None:
    """A share of elements is dropped."""

    def build(shape: Shape, dtype: str) -> Case:
        t = tensor(shape, dtype)
        body = f"%r0 = fuseops.dropout %a0, %a1 p({p!r}) : {t}, tensor<2xi64>"
        args = [Arg(shape, dtype), Arg((2,), "i64", range=(0, 2**40), index=True)]

        def oracle(x: Tensor, state: Tensor) -> Tensor:
            seed, offset = (int(v) for v in state)
            keep = torch.from_numpy(keep_mask(tuple(x.shape), seed, offset, p))
            # A dropped infinity is 0.
            return torch.where(keep, x / (1 - p), 0.0)

        attributes = {1: " {fuseops.random_state}"}
        return Case(args, [(shape, dtype)], body, oracle, attributes=attributes)

    add("fuseops.dropout", f"{p:g}", Variant(build))


for _p in (0.0, 0.1, 0.5, 0.9):
    dropout(_p)
