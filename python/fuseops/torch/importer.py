# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FX graphs as text of the torch dialect, the form that torch-mlir's raw import has."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from fuseops.errors import FuseOpsError
from fuseops.recipe import Recipe, attribute_of
from fuseops.torch import fp8, symbols
from fuseops.torch.writer import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    FunctionWriter,
    ModuleWriter,
    Value,
    quote,
    tensor_type,
)

# Namespaces of the operations that the dialect spells out; others are custom.
_NAMESPACES = ("aten", "prims", "prim")
# Arithmetic of sizes, which FX leaves to Python.
_SCALAR_OPERATIONS: dict[Callable[..., Any], str] = {
    operator.add: "aten.add",
    operator.sub: "aten.sub",
    operator.mul: "aten.mul",
    operator.floordiv: "aten.floordiv",
    operator.truediv: "aten.div",
    operator.mod: "aten.remainder",
    operator.pow: "aten.pow",
    operator.neg: "aten.neg",
    operator.eq: "aten.eq",
    operator.ne: "aten.ne",
    operator.lt: "aten.lt",
    operator.le: "aten.le",
    operator.gt: "aten.gt",
    operator.ge: "aten.ge",
    operator.and_: "aten.__and__",
    operator.or_: "aten.__or__",
    torch.sym_not: "aten.__not__",
    torch.sym_max: "prim.max",
    torch.sym_min: "prim.min",
    torch.sym_float: "aten.Float",
    torch.sym_int: "aten.Int",
}
# Type of a list's element by the kind of its type in the schema.
_ELEMENTS = {
    "TensorType": "vtensor",
    "IntType": "int",
    "SymIntType": "int",
    "FloatType": "float",
    "BoolType": "bool",
    "NumberType": "number",
    "StringType": "str",
}
# What a number is as a tensor.
_NUMBERS = {INT: torch.int64, FLOAT: torch.float64, BOOL: torch.bool}


def import_program(program: ExportedProgram, name: str = "main") -> str:
    """The text of an exported program. Parameters, buffers and constants become
    literals; an input that the program writes becomes a `!torch.tensor`."""
    signature = program.graph_signature
    written = {}
    for spec in signature.output_specs:
        if spec.kind == OutputKind.USER_INPUT_MUTATION:
            written[spec.arg.name] = spec.target
        elif spec.kind == OutputKind.BUFFER_MUTATION:
            raise FuseOpsError(
                f"cannot import a program that writes its buffer `{spec.target}`: expected state "
                "to be an argument and a result"
            )
    literals = {}
    for spec in signature.input_specs:
        if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR):
            is_stored = spec.target in program.state_dict
            literals[spec.arg.name] = (program.state_dict if is_stored else program.constants)[
                spec.target
            ]
        elif spec.kind != InputKind.USER_INPUT:
            raise FuseOpsError(f"cannot import an input of kind {spec.kind.name}: `{spec.target}`")
    module = ModuleWriter()
    importer = _GraphImporter(program.graph_module, FunctionWriter(module, name))
    importer.run(literals, written, program.range_constraints)
    return module.text()


@dataclass(frozen=True)
class Gradients:
    """Which gradients there are, by index of an input or a result."""

    # Inputs whose gradient nobody asks for.
    frozen: Sequence[int] = ()
    # Results whose gradient nobody provides.
    frozen_results: Sequence[int] = ()
    # Results whose gradient is missing in one call of backward.
    missing: Sequence[int] = ()


def import_graph(
    graph: GraphModule,
    name: str = "main",
    gradients: Gradients | None = None,
    recipe: Recipe | None = None,
    bounds: Mapping[Any, Any] | None = None,
) -> str:
    """The text of a functional graph whose nodes have their values in
    `meta["val"]`, such as those of AOTAutograd; every input is an argument. Matrix
    products have the recipe, as far as it doesn't override it for their modules.
    `bounds` are those of symbolic sizes, by default as they are known now."""
    module = ModuleWriter()
    _GraphImporter(graph, FunctionWriter(module, name), gradients, recipe).run(bounds=bounds)
    return module.text()


def import_function(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    dynamic: Any = None,
    name: str = "main",
) -> str:
    """The text of a call. Its tensors are arguments, other values are constants;
    `dynamic` is torch.export's `dynamic_shapes`."""
    return import_program(export(function, args, kwargs, dynamic), name)


def export(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    dynamic: Any = None,
) -> ExportedProgram:
    """The call as a program without mutation, its operations as they were written."""
    if not isinstance(function, torch.nn.Module):
        function = _Call(function)
    # The second form hides behind views what an operator writes.
    with torch._export.config.patch(enable_auto_functionalized_v2_for_export=False):
        program = torch.export.export(
            function, tuple(args), dict(kwargs or {}), dynamic_shapes=dynamic, strict=False
        )
        return program.run_decompositions({})


class _Call(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


class _GraphImporter:
    """One graph. A node's value is a Value, or a list of them where it makes several."""

    def __init__(
        self,
        graph: GraphModule,
        writer: FunctionWriter,
        gradients: Gradients | None = None,
        recipe: Recipe | None = None,
    ) -> None:
        self._graph = graph
        self._recipe = recipe
        self._names = fp8.name_calls(graph) if recipe and recipe.has_state else {}
        self._gradients = gradients or Gradients()
        self._writer = writer
        self._values: dict[Node, Any] = {}
        self._bounds: dict[Any, Any] = {}
        self._symbols: list[Value] = []

    def run(
        self,
        literals: Mapping[str, torch.Tensor] | None = None,
        written: Mapping[str, str] | None = None,
        bounds: Mapping[Any, Any] | None = None,
    ) -> None:
        """Writes the function. `literals` are the values of inputs that have one,
        `written` says which input a result's node is stored to."""
        literals, written = literals or {}, written or {}
        nodes = list(self._graph.graph.nodes)
        inputs = [node for node in nodes if node.op == "placeholder"]
        mutable = self._add_arguments(inputs, literals, set(written.values()))
        self._add_symbols(nodes, bounds or {})
        for node in inputs:
            self._set_location(node)
            if node.name in mutable:
                kind = _type_of(node.meta["val"])
                argument = mutable[node.name]
                text = f"torch.copy.to_vtensor {argument.name} : {kind}"
                self._values[node] = self._writer.define(text, kind)
            elif node in self._values:
                self._bind(self._values[node], node.meta["val"])
            elif node.users:
                self._values[node] = self._constant(literals.get(node.name, node.meta.get("val")))
        for node in nodes:
            self._set_location(node)
            try:
                if node.op == "call_function":
                    self._values[node] = self._call(node)
                elif node.op == "get_attr":
                    self._values[node] = self._get_attribute(node)
                elif node.op == "output":
                    self._return(node, written, mutable)
                elif node.op != "placeholder":
                    raise FuseOpsError(f"expected a graph of functions, but got a {node.op}")
            except FuseOpsError as error:
                raise FuseOpsError(f"cannot import `{node.target}`: {error}") from error

    def _set_location(self, node: Node) -> None:
        # An input is where it's used first.
        users = iter(node.users) if node.op == "placeholder" else iter(())
        self._writer.set_location(next(users, node).stack_trace)

    def _add_arguments(
        self, inputs: list[Node], literals: Mapping[str, torch.Tensor], written: set[str]
    ) -> dict[str, Value]:
        """Makes the arguments; returns those that are written."""
        mutable: dict[str, Value] = {}
        for index, node in enumerate(inputs):
            value = node.meta.get("val")
            if node.name in literals or isinstance(value, (int, float, str, type(None))):
                continue
            self._set_location(node)
            value_type = _type_of(value, node.name in written)
            is_frozen = index in self._gradients.frozen
            argument = self._writer.argument(value_type, is_frozen)
            self._values[node] = argument
            if node.name in written:
                mutable[node.name] = argument
        return mutable

    def _constant(self, value: Any) -> Value:
        is_tensor = isinstance(value, torch.Tensor)
        return self._writer.literal(value) if is_tensor else self._writer.constant(value)

    # Symbolic sizes

    def _add_symbols(self, nodes: list[Node], bounds: Mapping[Any, Any]) -> None:
        self._bounds = symbols.find(node.meta.get("val") for node in nodes)
        for symbol, own in self._bounds.items():
            lower, upper = symbols.limits(bounds.get(symbol, own))
            limits = f"{{min_val = {lower}, max_val = {upper}}}"
            text = f"torch.symbolic_int {quote(str(symbol))} {limits} : {INT}"
            self._symbols.append(self._writer.define(text, INT))

    def _bind(self, value: Value, example: Any) -> None:
        if not isinstance(example, torch.Tensor) or not symbols.is_dynamic(example):
            return
        used = symbols.find([example])
        mapping = symbols.affine_map(example, used)
        if mapping is None:
            return
        names = [
            declared.name
            for symbol, declared in zip(self._bounds, self._symbols, strict=True)
            if symbol in used
        ]
        text = f"torch.bind_symbolic_shape {value.name}, [{', '.join(names)}], {mapping}"
        self._writer.line(f"{text} : {value.type}")

    # Operations

    def _call(self, node: Node) -> Any:
        target = node.target
        if target is operator.getitem:
            source, index = node.args
            return self._values[source][index]
        if target in _SCALAR_OPERATIONS:
            return self._call_scalar(node)
        if isinstance(target, torch._ops.HigherOrderOperator):
            return self._call_functionalized(node)
        if not isinstance(target, torch._ops.OpOverload):
            raise FuseOpsError("expected an operator")
        if target._schema.is_mutable:
            raise FuseOpsError("expected a functional graph, but it writes its argument")
        target = _scalar_overload(target, node.args)
        operands = self._operands(target._schema, node.args, node.kwargs)
        attributes = self._recipe_attributes(node)
        return self._write_call(target, operands, node.meta.get("val"), attributes)

    def _recipe_attributes(self, node: Node) -> dict[str, str]:
        """What the matrix products of a node's module are told."""
        if self._recipe is None:
            return {}
        name = self._names.get(node)
        attributes = {} if name is None else {"fuseops.name": quote(name)}
        recipe = self._recipe.of(fp8.paths_of(node))
        if recipe != self._recipe:
            attributes["fuseops.recipe"] = attribute_of(recipe)
        return attributes

    def _write_call(
        self,
        target: torch._ops.OpOverload,
        operands: list[Value],
        example: Any,
        attributes: Mapping[str, str],
    ) -> Any:
        name, is_custom = _name_of(target)
        returns = target._schema.returns
        if len(returns) == 1 and _kind(returns[0].type) == "ListType":
            # A list of tensors is one value, and its elements are another operation's.
            made = self._writer.call(name, operands, ["!torch.list<vtensor>"], is_custom)
            types = [_type_of(element) for element in example]
            results: Any = self._writer.call("prim.ListUnpack", made, types)
        else:
            examples = example if len(returns) > 1 else [example] * len(returns)
            types = [_type_of(element) for element in examples]
            results = self._writer.call(name, operands, types, is_custom, attributes)
            if len(returns) == 1:
                self._bind(results[0], example)
                return results[0]
        for result, element in zip(results, example or (), strict=True):
            self._bind(result, element)
        return results

    def _call_scalar(self, node: Node) -> Value:
        operands = [self._operand(argument, None) for argument in node.args]
        types = {operand.type for operand in operands}
        suffix = {INT: "int", FLOAT: "float", BOOL: "bool"}.get(next(iter(types)))
        name = f"{_SCALAR_OPERATIONS[node.target]}.{suffix if len(types) == 1 else 'Scalar'}"
        return self._writer.call(name, operands, [_type_of(node.meta["val"])])[0]

    def _call_functionalized(self, node: Node) -> list[Any]:
        """An operator that writes arguments, in either form that gives their new
        values after its results."""
        if str(node.target) not in ("auto_functionalized", "auto_functionalized_v2"):
            raise FuseOpsError("expected an operator, but got one of higher order")
        target = node.args[0]
        written = [
            argument.name
            for argument in target._schema.arguments
            if argument.alias_info is not None and argument.alias_info.is_write
        ]
        given = dict(node.kwargs)
        examples = list(node.meta["val"])
        bases = given.pop("_all_bases", written)
        first = len(examples) - len(bases)
        positions = list(range(first, len(examples)))
        if bases is not written:
            # The second form names tensors of which the arguments may be views.
            positions = []
            for name in written:
                base = given.pop(f"_{name}_base_index")
                if any(key.startswith(f"_{name}_") for key in given):
                    raise FuseOpsError(f"expected `{name}` to be a whole tensor, but got a view")
                given[name] = bases[base]
                positions.append(first + base)
        # An operator without results has None in their place.
        positions = [*range(first if target._schema.returns else 0), *positions]
        operands = self._operands(target._schema, (), given)
        name, is_custom = _name_of(target)
        types = [_type_of(examples[position]) for position in positions]
        made = self._writer.call(name, operands, types, is_custom)
        found = dict(zip(positions, made, strict=True))
        return [found.get(position) for position in range(len(examples))]

    def _operands(
        self, schema: torch.FunctionSchema, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> list[Value]:
        """One operand for each argument of the schema, defaults included."""
        operands = []
        for index, argument in enumerate(schema.arguments):
            if index < len(args) and not argument.kwarg_only:
                given = args[index]
            else:
                given = kwargs.get(argument.name, argument.default_value)
            operands.append(self._operand(given, argument.type))
        return operands

    def _operand(self, value: Any, expected: Any) -> Value:
        is_optional = expected is not None and _kind(expected) == "OptionalType"
        if is_optional and value is not None:
            expected = expected.getElementType()
        kind = None if expected is None else _kind(expected)
        if isinstance(value, Node):
            value = self._values[value]
        if isinstance(value, (list, tuple)):
            element = expected.getElementType() if kind == "ListType" else None
            return self._list(value, element)
        if isinstance(value, Value):
            is_tensor = kind != "TensorType" or value.type not in _NUMBERS
            return value if is_tensor else self._number_as_tensor(value)
        if kind == "TensorType" and _is_number(value):
            return self._number_as_tensor(value)
        if kind == "ListType" and value is not None:
            # The schema's `int[2] stride=1`: one number for all.
            return self._list([value], expected.getElementType())
        if kind == "FloatType" and value is not None:
            value = float(value)
        return self._writer.constant(value)

    def _number_as_tensor(self, number: Any) -> Value:
        """A tensor of rank 0, of the dtype that PyTorch gives it."""
        operand = number if isinstance(number, Value) else self._writer.constant(number)
        dtype = _NUMBERS[operand.type]
        types = [tensor_type(torch.empty((), dtype=dtype, device="meta"))]
        return self._writer.call("prim.NumToTensor.Scalar", [operand], types)[0]

    def _list(self, elements: Sequence[Any], expected: Any) -> Value:
        kind = None if expected is None else _kind(expected)
        operands = [self._operand(element, expected) for element in elements]
        if kind == "OptionalType":
            name = f"optional<{_ELEMENTS[_kind(expected.getElementType())]}>"
        elif kind in _ELEMENTS:
            name = _ELEMENTS[kind]
        else:
            raise FuseOpsError(f"cannot import a list of {kind}")
        return self._writer.list_of(operands, name)

    def _get_attribute(self, node: Node) -> Value:
        value: Any = self._graph
        for part in node.target.split("."):
            value = getattr(value, part)
        if not isinstance(value, torch.Tensor) or type(value) is FakeTensor:
            raise FuseOpsError(f"expected a tensor with values, but got {type(value).__name__}")
        return self._writer.literal(value)

    def _return(self, node: Node, written: Mapping[str, str], mutable: Mapping[str, Value]) -> None:
        results = []
        for element in pytree.tree_leaves(node.args[0], is_leaf=lambda leaf: leaf is None):
            value = self._operand(element, None)
            target = written.get(element.name) if isinstance(element, Node) else None
            if target is None:
                results.append(value)
                continue
            argument = mutable[target]
            text = f"{value.name} overwrites {argument.name} : {value.type}, {argument.type}"
            self._writer.line(f"torch.overwrite.tensor.contents {text}")
        lists = {
            "frozen_results": self._gradients.frozen_results,
            "missing_gradients": self._gradients.missing,
        }
        attributes = {} if self._recipe is None else {"recipe": self._recipe.attribute()}
        self._writer.finish(results, lists, attributes)


def _is_number(value: Any) -> bool:
    if isinstance(value, Node):
        value = value.meta.get("val")
    return isinstance(value, (int, float, torch.SymInt, torch.SymFloat, torch.SymBool))


def _kind(schema_type: Any) -> str:
    return schema_type.kind()


def _name_of(target: torch._ops.OpOverload) -> tuple[str, bool]:
    """The operation's name, and whether the dialect has no such operation."""
    namespace, name = target._schema.name.split("::")
    if name.startswith("sym_") and namespace == "aten":
        name = name.removeprefix("sym_")
    full = f"{namespace}.{name}"
    overload = target._schema.overload_name
    return f"{full}.{overload}" if overload else full, namespace not in _NAMESPACES


def _scalar_overload(target: torch._ops.OpOverload, args: Sequence[Any]) -> torch._ops.OpOverload:
    """The overload that takes numbers where tracing left one for a tensor."""
    arguments = target._schema.arguments
    expected = [_kind(argument.type) for argument in arguments]
    for index, value in enumerate(args):
        if expected[index] == "TensorType" and _is_number(value):
            expected[index] = "NumberType"
    packet = target.overloadpacket
    for name in packet.overloads():
        candidate = getattr(packet, name)
        if [_kind(argument.type) for argument in candidate._schema.arguments] == expected:
            return candidate
    return target


def _type_of(value: Any, is_mutable: bool = False) -> str:
    """The type of what a node makes, from an example of it."""
    if isinstance(value, torch.Tensor):
        return tensor_type(value, is_mutable)
    for kinds, name in (
        ((bool, torch.SymBool), BOOL),
        ((int, torch.SymInt), INT),
        ((float, torch.SymFloat), FLOAT),
        (type(None), NONE),
    ):
        if isinstance(value, kinds):
            return name
    raise FuseOpsError(f"cannot import a value of type {type(value).__name__}")
