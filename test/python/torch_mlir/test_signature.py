# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types of functions, read from text."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("torch")

from fuseops import FuseOpsError
from fuseops.torch_mlir.signature import Signature, read_signatures


def test_pretty_text():
    text = """
module {
  func.func @main(%arg0: A loc("a,b"(#loc1)), %arg1: B {x.y = [1, 2]}) -> (C, D) attributes {x.z} {
  }
  func.func private @hidden(%arg0: !torch.int) -> !torch.int
  func.func @"odd name"(%arg0: !torch.list<int>) -> !torch.vtensor<[?,4],bf16> {
  }
  func.func @nothing() {
  }
}
"""
    types = {
        "A": "!torch.vtensor<[2,3],f32>",
        "B": "!torch.int",
        "C": "!torch.vtensor<[],si64>",
        "D": "!torch.none",
    }
    text = re.sub(r"\b[ABCD]\b", lambda found: types[found[0]], text)
    assert list(read_signatures(text)) == [
        Signature("main", (types["A"], types["B"]), (types["C"], types["D"])),
        Signature("odd name", ("!torch.list<int>",), ("!torch.vtensor<[?,4],bf16>",)),
        Signature("nothing", (), ()),
    ]


def test_generic_text():
    text = """
"builtin.module"() ({
  "func.func"() <{function_type = (A, !torch.float) -> (!torch.bool, A), sym_name = "main"}> ({
  }) : () -> ()
  "func.func"() <{function_type = () -> A, sym_name = "f", sym_visibility = "private"}> ({
  }) : () -> ()
}) : () -> ()
"""
    text = text.replace("A,", "!torch.vtensor<[2],f32>,").replace("A)", "!torch.vtensor<[2],f32>)")
    assert list(read_signatures(text)) == [
        Signature(
            "main",
            ("!torch.vtensor<[2],f32>", "!torch.float"),
            ("!torch.bool", "!torch.vtensor<[2],f32>"),
        )
    ]


def test_text_that_ends_within_a_type():
    with pytest.raises(FuseOpsError, match="end of the text"):
        list(read_signatures("func.func @f(%x: !torch.vtensor<[2,"))
