# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text that fuseops.torch makes of calls and graphs."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from fuseops import FuseOpsError, compile_ir  # noqa: E402
from fuseops.torch import import_function, import_graph, import_program  # noqa: E402
from fuseops.torch.writer import FunctionWriter, ModuleWriter, spell_float  # noqa: E402
from torch.export import Dim  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

F = torch.nn.functional
ROOT = Path(__file__).resolve().parents[3]


def body(text: str) -> list[str]:
    """The operations of the one function, without locations."""
    lines = [re.sub(r" loc\(.*?\)(?=$|,|\))", "", line).strip() for line in text.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("func.func"))
    end = next(i for i, line in enumerate(lines) if line.startswith("return"))
    return lines[start + 1 : end + 1]


def imported(function: Any, *args: Any, **options: Any) -> list[str]:
    return body(import_function(function, args, **options))


def test_fuseops_does_not_import_torch() -> None:
    code = "import sys, fuseops; sys.exit('torch' in sys.modules)"
    path = {"PYTHONPATH": str(ROOT / "python")}
    assert subprocess.run([sys.executable, "-c", code], env=path).returncode == 0


def test_high_level_operations_stay() -> None:
    x, w = torch.randn(4, 8), torch.randn(8)
    lines = imported(lambda x, w: F.silu(F.rms_norm(x, [8], w, 1e-6)), x, w)
    tensor = "!torch.vtensor<[4,8],f32>"
    weight = "!torch.vtensor<[8],f32>"
    assert lines == [
        "%0 = torch.constant.int 8",
        "%1 = torch.prim.ListConstruct %0 : (!torch.int) -> !torch.list<int>",
        "%2 = torch.constant.float 1.0e-06",
        f"%3 = torch.aten.rms_norm %arg0, %1, %arg1, %2 : {tensor}, !torch.list<int>, {weight}, "
        f"!torch.float -> {tensor}",
        f"%4 = torch.aten.silu %3 : {tensor} -> {tensor}",
        f"return %4 : {tensor}",
    ]


def test_numbers_choose_the_overload_that_takes_them() -> None:
    x = torch.randn(3)
    text = "\n".join(imported(lambda x: torch.where(x > 0, x * 2, 1.5) ** 2, x))
    for name in ("gt.Scalar", "mul.Scalar", "pow.Tensor_Scalar"):
        assert f"torch.aten.{name}" in text


def test_mutation_inside_is_gone() -> None:
    lines = imported(lambda x: x.clone().add_(1).relu_(), torch.randn(3))
    assert any("torch.aten.add.Scalar" in line for line in lines)
    assert not any("_ %" in line for line in lines)


def test_written_argument_is_a_mutable_tensor() -> None:
    lines = imported(lambda x, y: x.add_(y) * 2, torch.randn(3), torch.randn(3))
    assert lines[0] == "%0 = torch.copy.to_vtensor %arg0 : !torch.vtensor<[3],f32>"
    assert any(line.startswith("torch.overwrite.tensor.contents") for line in lines)


def test_written_buffer_is_refused() -> None:
    class Counter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.add_(1)
            return x * 2

    with pytest.raises(FuseOpsError, match="writes its buffer `count`"):
        import_function(Counter(), (torch.randn(3),))


def test_parameters_are_literals() -> None:
    text = import_function(torch.nn.Linear(3, 2), (torch.randn(4, 3),))
    assert "dense_resource<torch_tensor_2_3_torch.float32> : tensor<2x3xf32>" in text
    assert re.search(r'torch_tensor_2_torch.float32: "0x04000000[0-9a-f]{16}"', text)


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (torch.tensor(1.5), "dense<1.5> : tensor<f32>"),
        (torch.tensor([1], dtype=torch.int8), "dense<1> : tensor<1xsi8>"),
        (torch.tensor(math.inf, dtype=torch.bfloat16), "dense<0x7F80> : tensor<bf16>"),
        (torch.tensor(-math.inf), "dense<0xFF800000> : tensor<f32>"),
        (torch.tensor(0.5).to(torch.float8_e4m3fn), "dense<0.5> : tensor<f8E4M3FN>"),
        (torch.tensor(True), "dense<1> : tensor<ui8>"),
        (torch.zeros(0, 3), "dense_resource<torch_tensor_0_3_torch.float32> : tensor<0x3xf32>"),
    ],
)
def test_literals(tensor: torch.Tensor, expected: str) -> None:
    module = ModuleWriter()
    writer = FunctionWriter(module, "f")
    writer.finish([writer.literal(tensor)])
    assert expected in module.text()


def test_equal_literals_share_their_bytes() -> None:
    module = ModuleWriter()
    names = [module.resource(torch.tensor(values)) for values in ([1, 2], [3, 4], [1, 2])]
    assert names == ["torch_tensor_2_torch.int64", "torch_tensor_2_torch.int64_1", names[0]]


@pytest.mark.parametrize("number", [0.1, -0.0, 1e-300, 1e22, 5e-324, 1.0, 123456789.125])
def test_floats_are_exact(number: float) -> None:
    text = spell_float(number)
    assert float(text) == number
    assert "." in text


def test_infinite_and_nan_constants() -> None:
    assert spell_float(math.inf) == "0x7FF0000000000000"
    assert spell_float(-math.inf) == "0xFFF0000000000000"
    assert spell_float(math.nan) == "0x7FF8000000000000"


def test_lists_of_tensors_and_their_elements() -> None:
    lines = imported(lambda x: torch.cat(torch.split(x, 2, 1), 0), torch.randn(3, 4))
    part = "!torch.vtensor<[3,2],f32>"
    assert any(
        line.endswith(f"torch.prim.ListUnpack %2 : !torch.list<vtensor> -> {part}, {part}")
        for line in lines
    )
    assert any(": (!torch.vtensor<[3,2],f32>, " in line for line in lines)


def test_several_results_and_none() -> None:
    def call(g: Any, x: Any, mean: Any, rstd: Any) -> Any:
        return torch.ops.aten.native_layer_norm_backward(
            g, x, [8], mean, rstd, None, None, [True, False, False]
        )[0]

    column = torch.randn(4, 1)
    lines = imported(call, torch.randn(4, 8), torch.randn(4, 8), column, column.clone())
    assert lines[-2].startswith("%6:3 = torch.aten.native_layer_norm_backward")
    assert lines[-2].endswith("-> !torch.vtensor<[4,8],f32>, !torch.none, !torch.none")
    assert lines[-1] == "return %6#0 : !torch.vtensor<[4,8],f32>"


def test_custom_operators() -> None:
    @torch.library.custom_op("fuseops_test::scale", mutates_args=())
    def scale(x: torch.Tensor, factor: float = 2.0) -> torch.Tensor:
        return x * factor

    scale.register_fake(lambda x, factor=2.0: torch.empty_like(x))
    lines = imported(scale, torch.randn(3))
    tensor = "!torch.vtensor<[3],f32>"
    assert lines[1] == (
        f'%1 = torch.operator "torch.fuseops_test.scale"(%arg0, %0) : ({tensor}, !torch.float) -> '
        f"{tensor}"
    )


@pytest.mark.parametrize("second_form", [False, True])
def test_operators_that_write_give_the_new_value(second_form: bool) -> None:
    name = f"fuseops_test::add_{second_form}_"

    @torch.library.custom_op(name, mutates_args={"x"})
    def add_(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(y)
        return y.clone()

    class Writes(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
            z = x * 2
            return add_(z, y), z

    add_.register_fake(lambda x, y: torch.empty_like(y))
    x, y = torch.randn(4), torch.randn(4)
    if second_form:
        program = torch.export.export(Writes(), (x, y)).run_decompositions({})
        assert "auto_functionalized_v2" in str(program.graph)
        lines = body(import_program(program))
    else:
        lines = imported(Writes(), x, y)
    operator = f'%2:2 = torch.operator "torch.{name.replace("::", ".")}"(%1, %arg1)'
    assert lines[2].startswith(operator)
    assert lines[3].startswith("return %2#0, %2#1")


def test_symbolic_sizes() -> None:
    def call(x: torch.Tensor) -> torch.Tensor:
        return x.reshape(x.shape[0] * 4, 2) * 2

    sizes = ({0: Dim("rows", min=2, max=512)},)
    text = "\n".join(imported(call, torch.randn(8, 8), dynamic=(sizes,)))
    assert re.search(r'%0 = torch.symbolic_int "s\d+" {min_val = 2, max_val = 512}', text)
    assert "bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0, 8)>" in text
    assert "affine_map<()[s0] -> (s0 * 4, 2)>" in text
    assert "torch.aten.mul.int" in text


class Gate(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.silu(x)


class Outer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gate(x)


def test_locations_are_the_calls_of_modules() -> None:
    text = import_function(Outer(), (torch.randn(3),))
    inner = Gate.forward.__code__.co_firstlineno + 1
    outer = Outer.forward.__code__.co_firstlineno + 1
    assert re.search(rf'#loc0 = loc\("[^"]*test_importer.py":{outer}:0\)', text)
    assert re.search(rf'#loc1 = loc\("[^"]*test_importer.py":{inner}:0\)', text)
    assert "#loc2 = loc(callsite(#loc1 at #loc0))" in text
    assert re.search(r"torch.aten.silu .* loc\(#loc2\)", text)


def test_graphs_take_every_input() -> None:
    graph = make_fx(lambda x, y: torch.add(x, y, alpha=3), tracing_mode="fake")(
        torch.randn(3), torch.randn(3)
    )
    lines = body(import_graph(graph, "backward"))
    assert lines[0] == "%0 = torch.constant.int 3"
    assert lines[1].startswith("%1 = torch.aten.add.Tensor %arg0, %arg1, %0")


def test_writing_graph_is_refused() -> None:
    graph = make_fx(lambda x: x.clone().add_(1), tracing_mode="fake")(torch.randn(3))
    with pytest.raises(FuseOpsError, match=r"cannot import `aten.add_.Tensor`.*functional"):
        import_graph(graph)


def test_imported_program_runs() -> None:
    class Block(torch.nn.Module):
        def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            return F.silu(x) * w

    x, w = torch.randn(4, 8), torch.randn(8)
    exported = torch.export.export(Block(), (x, w)).run_decompositions({})
    program = compile_ir(import_program(exported))
    torch.testing.assert_close(program(x, w), F.silu(x) * w)
