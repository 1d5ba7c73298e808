# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The oracle: numpy f64 functions that record how to differentiate themselves.

Nothing here comes from FuseOps. test_oracle.py compares every derivative with finite differences.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

Array = np.ndarray
_erf = np.frompyfunc(math.erf, 1, 1)
_erfc = np.frompyfunc(math.erfc, 1, 1)


def erf_array(x: Array) -> Array:
    """erf of each element, by the C library."""
    return np.asarray(_erf(x), np.float64).reshape(np.shape(x))


def erfc_array(x: Array) -> Array:
    """erfc of each element, by the C library."""
    return np.asarray(_erfc(x), np.float64).reshape(np.shape(x))


class Node:
    """A value and, for each parent, the map from its gradient to the parent's."""

    def __init__(
        self, value: Array, parents: Sequence[tuple["Node", Callable[[Array], Array]]] = ()
    ) -> None:
        self.value = np.asarray(value, np.float64)
        self.parents = parents

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    def __add__(self, other: "Node | float") -> "Node":
        return binary(self, other, np.add, lambda a, b: (1.0, 1.0))

    def __sub__(self, other: "Node | float") -> "Node":
        return binary(self, other, np.subtract, lambda a, b: (1.0, -1.0))

    def __mul__(self, other: "Node | float") -> "Node":
        return binary(self, other, np.multiply, lambda a, b: (b, a))

    def __truediv__(self, other: "Node | float") -> "Node":
        return binary(self, other, np.divide, lambda a, b: (1.0 / b, -a / (b * b)))

    def __neg__(self) -> "Node":
        return self * -1.0

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: float) -> "Node":
        return node(other) - self

    def __rtruediv__(self, other: float) -> "Node":
        return node(other) / self


def node(value: "Node | Array | float") -> Node:
    """The value as a Node."""
    return value if isinstance(value, Node) else Node(value)


def _sum_to(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Sums what broadcasting from `shape` repeated."""
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, extent in enumerate(shape):
        if extent == 1 and gradient.shape[axis] != 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


def binary(a: "Node | float", b: "Node | float", function: Callable, partials: Callable) -> Node:
    """An elementwise function of two arguments that broadcast."""
    a, b = node(a), node(b)
    value = function(a.value, b.value)

    def toward(index: int, parent: Node) -> Callable[[Array], Array]:
        return lambda g: _sum_to(
            g * np.broadcast_to(partials(a.value, b.value)[index], value.shape), parent.shape
        )

    return Node(value, [(a, toward(0, a)), (b, toward(1, b))])


def unary(x: Node, value: Array, derivative: Callable[[], Array]) -> Node:
    """An elementwise function of one argument."""
    return Node(value, [(x, lambda g: g * derivative())])


def exp(x: Node) -> Node:
    value = np.exp(x.value)
    return unary(x, value, lambda: value)


def tanh(x: Node) -> Node:
    return unary(x, np.tanh(x.value), lambda: 1.0 / np.cosh(x.value) ** 2)


def sqrt(x: Node) -> Node:
    return unary(x, np.sqrt(x.value), lambda: 0.5 / np.sqrt(x.value))


def log1p(x: Node) -> Node:
    return unary(x, np.log1p(x.value), lambda: 1.0 / (1.0 + x.value))


def sin(x: Node) -> Node:
    return unary(x, np.sin(x.value), lambda: np.cos(x.value))


def erfc(x: Node) -> Node:
    return unary(x, erfc_array(x.value), lambda: -2.0 / math.sqrt(math.pi) * np.exp(-(x.value**2)))


def sigmoid(x: Node) -> Node:
    small = np.exp(-np.abs(x.value))
    value = np.where(x.value >= 0, 1.0, small) / (1.0 + small)
    return unary(x, value, lambda: small / (1.0 + small) ** 2)


def relu(x: Node) -> Node:
    return unary(x, np.where(x.value > 0, x.value, 0.0), lambda: (x.value > 0).astype(np.float64))


def total(x: Node, axis: tuple[int, ...], keepdims: bool = False) -> Node:
    value = x.value.sum(axis=axis, keepdims=keepdims)
    kept = tuple(1 if i in axis else extent for i, extent in enumerate(x.shape))
    return Node(value, [(x, lambda g: np.broadcast_to(g.reshape(kept), x.shape).copy())])


def reshape(x: Node, shape: tuple[int, ...]) -> Node:
    return Node(x.value.reshape(shape), [(x, lambda g: g.reshape(x.shape))])


def columns(x: Node, first: int, count: int) -> Node:
    def back(g: Array) -> Array:
        whole = np.zeros(x.shape)
        whole[..., first : first + count] = g
        return whole

    return Node(x.value[..., first : first + count], [(x, back)])


def concat(parts: Sequence[Node]) -> Node:
    ends = np.cumsum([0] + [p.shape[-1] for p in parts])

    def back(index: int) -> Callable[[Array], Array]:
        return lambda g: g[..., ends[index] : ends[index + 1]]

    value = np.concatenate([p.value for p in parts], axis=-1)
    return Node(value, [(p, back(i)) for i, p in enumerate(parts)])


def matmul(a: Node, b: Node) -> Node:
    """Product of two matrices."""
    return Node(a.value @ b.value, [(a, lambda g: g @ b.value.T), (b, lambda g: a.value.T @ g)])


def transpose(a: Node) -> Node:
    return Node(a.value.T, [(a, lambda g: g.T)])


def straight_through(x: Node, value: Array) -> Node:
    """Another value with x's gradient, as a rounding has it."""
    return Node(value, [(x, lambda g: g)])


def gradients(
    outputs: Sequence[Node], incoming: Sequence[Array | None], inputs: Sequence[Node]
) -> list[Array | None]:
    """d sum(incoming * outputs) / d inputs; None where no output depends on an input."""
    order: list[Node] = []
    seen: set[int] = set()

    def visit(item: Node) -> None:
        if id(item) in seen:
            return
        seen.add(id(item))
        for parent, _ in item.parents:
            visit(parent)
        order.append(item)

    adjoint: dict[int, Array] = {}
    for output, gradient in zip(outputs, incoming, strict=True):
        visit(output)
        if gradient is not None:
            adjoint[id(output)] = adjoint.get(id(output), 0.0) + np.asarray(gradient, np.float64)
    for item in reversed(order):
        if id(item) not in adjoint:
            continue
        for parent, back in item.parents:
            adjoint[id(parent)] = adjoint.get(id(parent), 0.0) + back(adjoint[id(item)])
    return [adjoint.get(id(item)) for item in inputs]


# ------------------------------------------------------------------------------------------------
# The formulas of the operations, from their papers and PyTorch's documentation
# ------------------------------------------------------------------------------------------------


def silu(x: Node) -> Node:
    return x * sigmoid(x)


def gelu(x: Node) -> Node:
    return x * 0.5 * erfc(x * (-1.0 / math.sqrt(2.0)))


def gelu_tanh(x: Node) -> Node:
    # (1 + tanh u) / 2 = sigmoid(2u).
    u = (x + x * x * x * 0.044715) * math.sqrt(2.0 / math.pi)
    return x * sigmoid(u * 2.0)


def layer_norm(
    x: Node, gamma: Node | None, beta: Node | None, eps: float, centered: bool
) -> tuple[Node, Node, Node]:
    """Result, mean and reciprocal standard deviation."""
    last, count = (len(x.shape) - 1,), x.shape[-1]
    mean = total(x, last, keepdims=True) / float(count)
    distance = x - mean
    rstd = 1.0 / sqrt(total(distance * distance, last, keepdims=True) / float(count) + eps)
    y = distance * rstd
    if gamma is not None:
        y = y * (gamma + 1.0 if centered else gamma)
    return (y if beta is None else y + beta), mean, rstd


def rms_norm(x: Node, gamma: Node | None, eps: float, centered: bool) -> tuple[Node, Node]:
    """Result and reciprocal root mean square."""
    last, count = (len(x.shape) - 1,), x.shape[-1]
    rstd = 1.0 / sqrt(total(x * x, last, keepdims=True) / float(count) + eps)
    y = x * rstd
    if gamma is not None:
        y = y * (gamma + 1.0 if centered else gamma)
    return y, rstd
