# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each ```mlir example of the .td files and the docs parses and verifies."""

import check_examples
import pytest
import tablegen
from conftest import ROOT

EXAMPLES = tablegen.examples(ROOT)


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{e.owner}-{e.line}" for e in EXAMPLES])
def test_example(example: tablegen.Example):
    fault = check_examples.check(example)
    assert fault is None, f"{example.path}:{example.line}: {fault}"


def test_every_op_has_an_example():
    owners = {example.owner for example in EXAMPLES}
    assert [op["!name"] for op in tablegen.fuseops_ops(ROOT) if op["!name"] not in owners] == []
