# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `fuseops.explain` says is what the backend does."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import fuseops
import pytest
import torch
import torch.nn.functional as F
from fuseops.torch.backend import Options, compile_graph
from fuseops.torch.explanation import Traffic
from torch._dynamo.testing import CompileCounter
from torch.fx import GraphModule
from torch.utils.checkpoint import checkpoint

ROWS, WIDTH = 6, 64


class Gated(torch.nn.Module):
    """A norm, a gated MLP, and an operation that nothing fuses."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.RMSNorm(WIDTH)
        self.up = torch.nn.Linear(WIDTH, 2 * WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, value = self.up(self.norm(x)).chunk(2, -1)
        y = F.silu(gate) * value
        y = torch.cumsum(y, 0)  # Refused.
        return torch.sigmoid(y) * x


class Stateful(torch.nn.Module):
    """Writes a buffer, draws random numbers, and breaks the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        x = F.dropout(F.gelu(x), 0.5)
        torch._dynamo.graph_break()
        return torch.sigmoid(x) * x


def bias_gelu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.gelu(x + bias)


def test_names_what_was_taken_and_what_was_not():
    (graph,) = fuseops.explain(Gated(), torch.randn(ROWS, WIDTH)).graphs
    names = [operation.name for operation in graph.operations]
    assert names == ["rms_norm", "linear", "chunk", "silu", "mul", "cumsum", "sigmoid", "mul"]
    assert [o.pipeline for o in graph.operations] == [0, 0, 0, 0, 0, None, 1, 1]
    assert all((o.pipeline is None) == (o.reason is not None) for o in graph.operations)
    refused = graph.operations[5]
    assert refused.reason == "cannot convert `torch.aten.cumsum`: not a fusible operation"


def test_names_the_users_source_lines():
    (graph,) = fuseops.explain(Gated(), torch.randn(ROWS, WIDTH)).graphs
    source = Path(__file__).read_text().splitlines()
    for operation in graph.operations:
        assert operation.location.file == __file__
        line = source[operation.location.line - 1].strip()
        assert line == operation.location.code
    refused = next(o for o in graph.operations if o.reason)
    assert refused.location.code == "y = torch.cumsum(y, 0)  # Refused."


def test_share_of_operations():
    explanation = fuseops.explain(Gated(), torch.randn(ROWS, WIDTH))
    assert (explanation.num_taken, explanation.num_operations) == (7, 8)
    assert explanation.share == 7 / 8


def test_is_what_the_backend_does():
    model, x = Gated(), torch.randn(ROWS, WIDTH)
    records = []

    def backend(module: GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        call, compiled = compile_graph(module, Options(rest="eager"))
        records.append(compiled)
        return call

    torch.compile(model, backend=backend)(x)
    (graph,) = fuseops.explain(model, x).graphs
    (compiled,) = records
    assert [p.name for p in graph.pipelines] == [t.pipeline.name for t in compiled.taken]
    for pipeline, taken in zip(graph.pipelines, compiled.taken, strict=True):
        report = taken.pipeline.program(taken.needs).report
        for entry, expected in zip(pipeline.entries, report["entries"], strict=True):
            assert [k.name for k in entry.kernels] == [k["name"] for k in expected["kernels"]]
            assert entry.traffic.floor == expected["floor_bytes"][0]
    assert [o.reason for o in graph.operations if o.reason] == list(compiled.refused.values())


def test_kernels_and_bytes_forward_and_backward():
    def model(gate: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return F.silu(gate) * value

    explanation = fuseops.explain(model, *torch.randn(2, ROWS, WIDTH).requires_grad_().unbind())
    (pipeline,) = explanation.graphs[0].pipelines
    forward, backward = pipeline.entries
    assert [kernel.members for kernel in forward.kernels] == [("silu", "mul")]
    assert [kernel.template for kernel in backward.kernels] == ["pointwise"]
    tensor = 4 * ROWS * WIDTH
    # Reads both, writes the result; silu alone reads one and writes one.
    assert forward.traffic == Traffic(moved=3 * tensor, floor=3 * tensor, unfused=5 * tensor)
    # Reads both and the result's gradient, writes two.
    assert backward.traffic.moved == backward.traffic.floor == 5 * tensor
    assert backward.traffic.unfused > 5 * tensor
    assert {saved.source for saved in pipeline.saved} == {"gate", "value"}
    assert explanation.saved_bytes == 0
    assert explanation.traffic() == forward.traffic + backward.traffic
    assert explanation.traffic("backward") == backward.traffic


def test_views_move_no_bytes():
    def model(x: torch.Tensor) -> torch.Tensor:
        gate, value, _ = x.chunk(3, -1)
        return F.silu(gate) * value

    tensor = 4 * ROWS * WIDTH
    traffic = fuseops.explain(model, torch.randn(ROWS, 3 * WIDTH)).traffic()
    # Two thirds of x; the floor counts all of it.
    assert traffic == Traffic(moved=3 * tensor, floor=4 * tensor, unfused=5 * tensor)


@pytest.mark.parametrize(
    ("moved", "unfused", "text"),
    [(3, 4, " (25% saved)"), (5, 4, " (25% more)"), (4, 4, ""), (1, 0, "")],
)
def test_text_of_bytes(moved: int, unfused: int, text: str):
    traffic = Traffic(moved=moved << 20, floor=1 << 10, unfused=unfused << 20)
    sizes = [f"{count}.0 MiB" if count else "0 B" for count in (moved, unfused)]
    assert str(traffic) == f"{sizes[0]} moved, floor 1.0 KiB, op by op {sizes[1]}{text}"


def test_refused_fusions():
    pipeline = fuseops.explain(Gated(), torch.randn(ROWS, WIDTH)).graphs[0].pipelines[0]
    reasons = [text for text in pipeline.refused_fusions if "rms_norm with fuseops.linear" in text]
    (reason,) = reasons
    assert reason.startswith(f"{__file__}:")
    assert "condition 1" in reason


def test_saved_tensors():
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(WIDTH, 3 * WIDTH, bias=False)
            self.second = torch.nn.Linear(3 * WIDTH, WIDTH, bias=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.second(F.relu(self.first(x)))

    x = torch.randn(ROWS, WIDTH)
    (pipeline,) = fuseops.explain(Model(), x).graphs[0].pipelines
    assert set(pipeline.inputs) == {"x", "first.weight", "second.weight"}
    assert set(pipeline.differentiated) == {"first.weight", "second.weight"}
    sources = {saved.source for saved in pipeline.saved}
    # The first weight's gradient needs x; no gradient needs the first weight.
    assert sources == {None, "x", "second.weight"}
    kept = [saved for saved in pipeline.saved if saved.source is None]
    assert all(saved.dtype == "f32" for saved in kept)
    assert {saved.shape for saved in kept} == {(ROWS, 3 * WIDTH)}
    explanation = fuseops.explain(Model(), x)
    assert explanation.saved_bytes == sum(saved.bytes for saved in kept)
    assert explanation.saved_bytes == len(kept) * ROWS * 3 * WIDTH * 4


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_without_gradients_there_is_no_backward(mode: Callable[[], Any]):
    model, x = Gated(), torch.randn(ROWS, WIDTH)
    with mode():
        explanation = fuseops.explain(model, x)
    for pipeline in explanation.graphs[0].pipelines:
        assert [entry.name for entry in pipeline.entries] == ["forward"]
        assert pipeline.saved == ()
        assert pipeline.differentiated == ()
    assert explanation.saved_bytes == 0
    assert explanation.num_taken == 7


def test_frozen_parameters():
    model = Gated()
    model.up.weight.requires_grad_(False)
    pipeline = fuseops.explain(model, torch.randn(ROWS, WIDTH)).graphs[0].pipelines[0]
    assert "up.weight" in pipeline.inputs
    assert pipeline.differentiated == ("norm.weight",)


def test_symbolic_sizes_are_those_of_the_inputs():
    static = fuseops.explain(bias_gelu, torch.randn(ROWS, WIDTH), torch.randn(WIDTH))
    x = torch.randn(ROWS, WIDTH)
    torch._dynamo.mark_dynamic(x, 0)
    dynamic = fuseops.explain(bias_gelu, x, torch.randn(WIDTH))
    assert dynamic.traffic() == static.traffic()


def test_a_compiled_model_is_taken_as_it_was():
    model, x = Gated(), torch.randn(ROWS, WIDTH)
    expected = fuseops.explain(model, x).to_dict()
    assert fuseops.explain(torch.compile(model), x).to_dict() == expected
    function = torch.compile(bias_gelu)
    arguments = x, torch.randn(WIDTH)
    assert fuseops.explain(function, *arguments) == fuseops.explain(bias_gelu, *arguments)


def test_what_is_compiled_stays_compiled():
    model, x = Gated(), torch.randn(ROWS, WIDTH)
    counter = CompileCounter()
    model.compile(backend=counter)
    model(x)
    explanation = fuseops.explain(model, x)
    model(x)
    assert counter.frame_count == 1
    assert explanation.num_taken == 7


def test_a_graph_break_is_named_and_the_rest_explained():
    explanation = fuseops.explain(Stateful(), torch.randn(ROWS, WIDTH))
    first, second = explanation.graphs
    assert __file__ in first.graph_break
    assert second.graph_break is None
    assert [operation.name for operation in second.operations] == ["sigmoid", "mul"]
    assert "the graph ends early" in str(explanation)


def test_an_explanation_changes_nothing():
    model = Stateful()
    x = torch.randn(ROWS, WIDTH, requires_grad=True)
    state = torch.get_rng_state()
    explanations = {str(fuseops.explain(model, x)) for _ in range(12)}
    assert len(explanations) == 1
    assert model.calls == 0
    assert x.grad is None
    assert torch.equal(torch.get_rng_state(), state)


def test_parts_under_checkpoints():
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(WIDTH, WIDTH)

        def part(self, x: torch.Tensor) -> torch.Tensor:
            return F.silu(self.layer(x)) * x

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.gelu(checkpoint(self.part, x, use_reentrant=False)) + x

    explanation = fuseops.explain(Model(), torch.randn(ROWS, WIDTH))
    (graph,) = explanation.graphs
    assert sorted(o.name for o in graph.operations) == ["add", "gelu", "linear", "mul", "silu"]
    assert explanation.share == 1
    assert sorted(i for p in graph.pipelines for i in p.inputs if "layer" in i) == [
        "layer.bias",
        "layer.weight",
    ]


def test_text_has_all_of_it():
    text = str(fuseops.explain(Gated(), torch.randn(ROWS, WIDTH)))
    assert "graph 0: 7 of 8 operations in 2 pipelines" in text
    assert f"{__file__}:" in text
    assert "cumsum" in text
    assert "not a fusible operation" in text
    assert "-> silu, mul" in text
    assert "rms_norm_grad" in text
    for words in ("forward: ", "backward: ", "floor", "op by op", "saved for backward: "):
        assert words in text
    assert "7 of 8 operations (88%) taken" in text


def test_json():
    explanation = fuseops.explain(Gated(), torch.randn(ROWS, WIDTH))
    read = json.loads(explanation.to_json())
    assert read == json.loads(json.dumps(explanation.to_dict()))
    assert read["share"] == 7 / 8
    assert read["traffic"]["forward"]["moved"] == explanation.traffic("forward").moved
    assert read["graphs"][0]["operations"][5]["name"] == "cumsum"
    assert read["graphs"][0]["pipelines"][0]["entries"][1]["kernels"]


def test_keywords_go_to_the_model():
    explanation = fuseops.explain(bias_gelu, torch.randn(ROWS, WIDTH), bias=torch.randn(WIDTH))
    assert explanation.graphs[0].pipelines[0].inputs == ("x", "bias")


def test_options_are_those_of_compile():
    arguments = torch.randn(ROWS, WIDTH), torch.randn(WIDTH)
    explanation = fuseops.explain(bias_gelu, *arguments, options={"target": "cpu:x86-64-v3"})
    assert explanation.graphs[0].pipelines[0].target == "cpu (x86-64-v3)"
    with pytest.raises(fuseops.FuseOpsError, match="but got `speed`"):
        fuseops.explain(bias_gelu, *arguments, options={"speed": 9})


def test_no_graph():
    explanation = fuseops.explain(lambda: 3)
    assert explanation.graphs == ()
    assert explanation.share == 1
    assert "0 graphs" in str(explanation)


def test_a_device_that_is_not_ours():
    (graph,) = fuseops.explain(bias_gelu, *torch.randn(2, 4, 4, device="meta")).graphs
    assert graph.pipelines == ()
    assert {o.reason for o in graph.operations} == {"the graph has no tensor on cpu or cuda"}


def test_a_builtin_function():
    explanation = fuseops.explain(torch.sigmoid, torch.randn(ROWS, WIDTH))
    assert [operation.name for operation in explanation.graphs[0].operations] == ["sigmoid"]
