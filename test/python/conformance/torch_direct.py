# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries of single aten overloads, called as they are: aliases, forms with numbers, composites."""

import torch

from conformance.ops_scalar import INEXACT, QUIRKS
from conformance.runner import FLOATS
from conformance.torch_case import ALL, INTS, NUMBERS, From, Of, direct, last, torch_op
from conformance.torch_pointwise import POSITIVE, STEP, TIES, UNIT
from conformance.torch_tensor import LOGITS, ROW, TARGET, own

SPECIAL = {"special gradient": "torch's is 0 times infinity"}
X = Of()
# Other names of what INEXACT has.
KNOWN = {"special_digamma": "digamma", "special_psi": "digamma", "special_sinc": "sinc"}

# Aliases of one tensor
for _name, _of in [
    ("absolute", X),
    ("negative", X),
    ("arccos", UNIT),
    ("arccosh", Of((1.5, 9.0))),
    ("arcsin", UNIT),
    ("arcsinh", X),
    ("arctan", X),
    ("arctanh", UNIT),
    ("special_digamma", POSITIVE),
    ("special_erf", X),
    ("special_erfc", X),
    ("special_erfinv", UNIT),
    ("special_exp2", X),
    ("special_expit", X),
    ("special_expm1", X),
    ("special_gammaln", POSITIVE),
    ("special_i0", Of((-4.0, 4.0))),
    ("special_log1p", Of((-0.9, 9.0))),
    ("special_logit", Of((0.02, 0.98))),
    ("special_ndtr", X),
    ("special_psi", POSITIVE),
    ("special_sinc", X),
    ("log_sigmoid", X),
    ("selu", X),
    ("relu6", X),
    ("square", X),
]:
    direct(
        _name,
        _of,
        cancels=True,
        roundings=2,
        inexact=INEXACT.get(KNOWN.get(_name, ""), 0.0),
        excluded={**TIES, **QUIRKS["sinc"]},
    )
direct("special_polygamma", 1, POSITIVE, cancels=True, special=False, inexact=INEXACT["polygamma"])
direct("mvlgamma", Of((2.0, 9.0)), 2, cancels=True, special=False, roundings=2)
direct("special_multigammaln", Of((2.0, 9.0)), 2, cancels=True, special=False, roundings=2)
for _name in ("fix", "special_round"):
    direct(_name, X, excluded=STEP)
direct("special_round", X, decimals=1, cancels=True, excluded=STEP, variant="decimals")
direct("angle", X, excluded=STEP)
direct("frexp.Tensor", X, frozen=[0], special=False, excluded=STEP)
_ROUNDED = {"differences": "a rounding is a step function"}
direct("to.device", X, torch.device("cpu"), torch.float32, excluded=_ROUNDED)
for _name in ("isfinite", "isreal"):
    direct(_name, X, dtypes=NUMBERS)
for _name in ("positive", "real", "conj", "conj_physical", "resolve_conj", "resolve_neg"):
    direct(_name, X)
for _name in ("alias", "alias_copy", "detach_copy", "lift_fresh", "lift_fresh_copy", "contiguous"):
    _frozen = [0] if _name in ("lift_fresh", "detach_copy") else []
    direct(_name, X, dtypes=ALL, frozen=_frozen)

# Two tensors
for _name, _a, _b in [
    ("arctan2", X, X),
    ("divide.Tensor", X, Of((1, 5), away=0.3)),
    ("true_divide.Tensor", X, Of((1, 5), away=0.3)),
    ("multiply.Tensor", X, X),
    ("subtract.Tensor", X, X),
    ("rsub.Tensor", X, X),
    ("special_xlogy", X, POSITIVE),
    ("float_power.Tensor_Tensor", POSITIVE, X),
]:
    direct(_name, _a, _b, cancels=True, units=128.0, excluded=SPECIAL)
for _name in ("max.other", "min.other"):
    direct(_name, X, X, dtypes=NUMBERS, excluded=TIES)
for _name in ("clamp_max.Tensor", "clamp_min.Tensor"):
    direct(_name, X, X, dtypes=NUMBERS, excluded={**TIES, **SPECIAL})
direct("clip", X, -1.0, 1.0)
direct("clip.Tensor", X, Of(offset=-1.0), Of(offset=1.0), excluded=SPECIAL)
for _name in ("greater", "greater_equal", "less", "less_equal", "not_equal"):
    direct(f"{_name}.Tensor", Of((-3, 3)), Of((-3, 3)), dtypes=ALL)
    direct(f"{_name}.Scalar", Of((-3, 3)), 1, dtypes=NUMBERS)
direct("isclose", X, X, rtol=0.5, dtypes=FLOATS)
direct("divide.Tensor_mode", X, Of((1, 5), away=0.3), rounding_mode="floor", excluded=STEP)
for _name in ("__and__", "__or__", "__xor__"):
    direct(f"{_name}.Tensor", X, X, dtypes=(*INTS, "i1"))
    direct(f"{_name}.Scalar", X, 6, dtypes=INTS)
for _name in ("__lshift__", "__rshift__"):
    direct(f"{_name}.Tensor", X, Of((0, 7)), dtypes=INTS)
    direct(f"{_name}.Scalar", X, 3, dtypes=INTS)

# A number in place of a tensor
for _name in ("add", "sub", "mul", "div", "multiply", "subtract", "divide", "true_divide"):
    direct(f"{_name}.Scalar", X, 3, dtypes=NUMBERS, special=False)
for _name in ("div", "divide"):
    direct(f"{_name}.Scalar_mode", X, 3, rounding_mode="trunc", dtypes=NUMBERS, excluded=STEP)
direct("copysign.Scalar", X, -2.0)
direct("floor_divide.Scalar", X, 3, dtypes=NUMBERS, frozen=[0], excluded=STEP)
direct("float_power.Tensor_Scalar", POSITIVE, 1.7, cancels=True, units=128.0, special=False)
direct("float_power.Scalar", 1.7, X, cancels=True, units=128.0, special=False)
direct("remainder.Scalar_Tensor", 7, Of((1, 5), away=0.3), cancels=True, special=False, frozen=[0])
for _name in ("xlogy.Scalar_Self", "special_xlogy.self_scalar", "special_xlog1py.self_scalar"):
    direct(_name, 2.5, POSITIVE, cancels=True, special=False)
for _name in ("xlogy.Scalar_Other", "special_xlogy.other_scalar", "special_xlog1py.other_scalar"):
    direct(_name, X, 2.5, cancels=True, special=False)
ZETA = {"dtypes": ("f32", "f64"), "cancels": True, "special": False, "units": 128.0}
direct("special_zeta", Of((1.5, 5.0), index=True), POSITIVE, frozen=[0], **ZETA)
direct("special_zeta.self_scalar", 2.5, POSITIVE, **ZETA)
direct("special_zeta.other_scalar", Of((1.5, 5.0)), 2.5, frozen=[0], **ZETA)
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    direct(f"{_name}.Scalar", X, 6, dtypes=INTS)
    direct(f"{_name}.Scalar_Tensor", 6, X, dtypes=INTS)
for _name in ("bitwise_left_shift", "bitwise_right_shift"):
    direct(f"{_name}.Tensor_Scalar", X, 3, dtypes=INTS)
    direct(f"{_name}.Scalar_Tensor", 99, Of((0, 7)), dtypes=INTS)
MASK = Of(dtype="i1", index=True)
direct("where.ScalarSelf", MASK, 2.5, X)
direct("where.ScalarOther", MASK, X, 2.5)
direct("where.Scalar", MASK, 2.5, -1.0, special=False, excluded={"kinks": "no float argument"})
direct("masked_fill.Tensor", X, MASK, Of(shape=lambda s: ()))
direct("prelu", X, Of(shape=lambda s: (1,)), min_rank=1, special=False)

# Reductions
DIMS = {"cancels": True, "roundings": 1, "special": False, **ROW}
for _name in ("all", "any"):
    direct(_name, X, dtypes=ALL, variant="whole")
    direct(f"{_name}.dims", X, [0, -1], dtypes=ALL, variant="dims", min_rank=2)
for _name in ("argmax", "argmin"):
    direct(_name, X, -1, dtypes=NUMBERS, **ROW)
direct("aminmax", X, dim=-1, dtypes=NUMBERS, special=False, frozen=[0, 1], **ROW)
direct("count_nonzero", X, dtypes=NUMBERS)
direct("count_nonzero.dim_IntList", X, [-1], dtypes=NUMBERS, min_rank=1)
for _name in ("max.dim", "min.dim"):
    direct(_name, X, -1, dtypes=NUMBERS, special=False, excluded={"kinks": "any may win"}, **ROW)
direct("nansum", X, [-1], min_rank=1, cancels=True)
direct("prod", Of((0.8, 1.2)), variant="whole", cancels=True, max_rank=1, special=False)
direct("frobenius_norm.dim", X, [-1], **DIMS)
direct("norm.Scalar", X, 2, **DIMS)
direct("norm.ScalarOpt_dim", X, 2, [-1], **DIMS)
direct("norm.ScalarOpt_dim_dtype", X, 2, [-1], False, dtype=torch.float64, **DIMS)
WIDE = {**DIMS, "excluded": {"differences": "a row of one element has no deviation"}}
for _name in ("std", "var", "std_mean", "var_mean"):
    direct(_name, X, variant="whole", max_rank=2, **{**WIDE, "min_rank": 2})
    direct(f"{_name}.dim", X, [-1], False, **WIDE)
    direct(f"{_name}.correction", X, [-1], correction=0, keepdim=True, variant="0", **WIDE)

# Layout
EXACT = {"dtypes": ALL, "units": 1.0}
PAIRS = {**EXACT, "min_rank": 2}
for _name in ("mT", "adjoint", "numpy_T", "fliplr", "flipud"):
    direct(_name, X, **(PAIRS if _name != "adjoint" else {**PAIRS, "dtypes": NUMBERS}))
direct("t_copy", X, **PAIRS, max_rank=2)
direct("ravel", X, **EXACT)
direct("broadcast_to", X, From(lambda s: [3, *s]), **EXACT, special=False)
direct("chunk", X, 2, -1, **ROW, **EXACT)
direct("concat", [X, X], -1, **EXACT, min_rank=1)
direct("expand_as", Of(shape=own), X, **EXACT, min_rank=1)
direct("expand_copy", X, From(lambda s: [3, *s]), **EXACT, special=False)
direct("flatten.using_ints", X, **EXACT)
direct("movedim.int", X, 0, -1, **PAIRS)
direct("movedim.intlist", X, [0, 1], [1, 0], **PAIRS)
direct("narrow", X, 0, 0, 2, **EXACT, min_rank=3)
direct("permute_copy", X, [1, 0], **PAIRS, max_rank=2)
for _name in ("reshape", "view_copy", "_reshape_alias", "_unsafe_view"):
    if _name != "_reshape_alias":
        direct(_name, X, [-1], **EXACT, min_rank=1)
direct("reshape_as", X, X, **EXACT)
direct("view_as", X, X, **EXACT)
direct("select_copy.int", X, -1, 0, **ROW, **EXACT)
direct("select_scatter", X, Of(shape=lambda s: s[:-1]), -1, 0, **ROW, **EXACT)
direct("slice_copy.Tensor", X, -1, 0, 2, **ROW, **EXACT)
direct("slice_scatter", X, Of(shape=last(1)), -1, 0, 1, **ROW, **EXACT)
direct(
    "split.sizes", X, From(lambda s: [1, s[0] - 1]), **EXACT, min_rank=2, empty=False, special=False
)
direct(
    "split_with_sizes",
    X,
    From(lambda s: [1, s[0] - 1]),
    **EXACT,
    min_rank=2,
    empty=False,
    special=False,
)
for _name in ("squeeze", "squeeze_copy"):
    direct(_name, X, **EXACT, special=False)
direct("squeeze.dims", X, [0], **EXACT, min_rank=1, special=False)
direct("squeeze_copy.dim", X, 0, **EXACT, min_rank=1, special=False)
direct("swapaxes", X, 0, 1, **PAIRS)
direct("swapdims", X, 0, 1, **PAIRS)
direct("tile", X, [2, 1], **EXACT, special=False)
direct("transpose_copy.int", X, 0, 1, **PAIRS)
direct("unflatten.int", X, 0, [1, -1], **EXACT, min_rank=2, special=False)
direct("unsqueeze_copy", X, 0, **EXACT)
direct("repeat_interleave.self_int", X, 2, 0, **EXACT, min_rank=1, special=False)
direct("constant_pad_nd", X, [1, 2], 0.5, min_rank=1, units=1.0)
direct("copy", X, X, frozen=[0], **EXACT)
direct("roll", X, [1], [-1], **EXACT, min_rank=1)
direct("diagonal", X, 0, 0, 1, **EXACT, min_rank=2, empty=False)
# torch's own gradient of a matrix with more rows than columns goes on below the square part.
direct(
    "trace",
    X,
    oracle=lambda x: x.diagonal().sum(),
    dtypes=("f32", "f64"),
    cancels=True,
    min_rank=2,
    max_rank=2,
)
WHOLE = From(list)
direct("slice_backward", Of(shape=last(1)), WHOLE, -1, 0, 1, 1, units=1.0, **ROW)
direct("select_backward", Of(shape=lambda s: s[:-1]), WHOLE, -1, 0, units=1.0, **ROW)

# Casts
for _name in ("type_as", "to.other"):
    direct(_name, X, Of(dtype="f32"), dtypes=FLOATS, frozen=[], special=False, excluded=STEP)
direct("to.dtype", X, torch.float32, dtypes=FLOATS, special=False, excluded=STEP)
torch_op(
    "prims.convert_element_type",
    lambda x: torch.ops.prims.convert_element_type(x, torch.float32),
    dtypes=ALL,
    frozen=[0],
    special=False,
    excluded={**STEP, "chain": "torch has no gradient for it"},
)

# Creation, which fuses into what uses it
torch_op("arange", lambda x: x + torch.arange(x.shape[-1]), min_rank=1)
torch_op("arange.start", lambda x: x + torch.arange(1, 1 + x.shape[-1]), min_rank=1)
torch_op("arange.start_step", lambda x: x * torch.arange(1, 1 + 2 * x.shape[-1], 2), min_rank=1)
torch_op("eye", lambda x: x + torch.eye(x.shape[-1]), min_rank=1, max_rank=1)
torch_op("full", lambda x: x + torch.full(x.shape, 0.5))
torch_op("ones", lambda x: x + torch.ones(x.shape) - torch.zeros(x.shape))
for _name, _more in [
    ("full_like", (0.5,)),
    ("ones_like", ()),
    ("zeros_like", ()),
]:
    direct(_name, X, *_more, dtypes=NUMBERS if not _more else FLOATS, frozen=[0], special=False)
direct("new_full", X, [3], 0.5, frozen=[0], special=False)
direct("new_ones", X, [3], frozen=[0], special=False)
direct("new_zeros", X, [3], frozen=[0], special=False)

# Losses, and their backward operations
# Tracing the chain takes it apart into operations that write.
APART = {"chain": "tracing takes it apart"}
SIGNS = Of(constant=True)
LOSS = {"cancels": True, "roundings": 3, "special": False, **ROW}
direct("mse_loss_backward", X, X, X, 0, **LOSS)
direct("soft_margin_loss_backward", X, X, SIGNS, 0, frozen=[0], **LOSS)
direct("smooth_l1_loss_backward", X, X, X, 0, 1.0, frozen=[0], **LOSS)
direct("huber_loss_backward", X, X, X, 0, 1.0, frozen=[0], **LOSS)
# The second derivative of torch has 1e-12 added to both factors below the line.
direct(
    "binary_cross_entropy_backward",
    X,
    Of((0.1, 0.9)),
    Of((0.1, 0.9)),
    None,
    0,
    inexact=1e-10,
    **LOSS,
)
direct("l1_loss", X, X, 1, **LOSS)
direct("kl_div", X, Of((0.05, 0.9)), **LOSS)
direct("soft_margin_loss", X, SIGNS, **LOSS)
direct("hinge_embedding_loss", X, X, excluded={**APART, "kinks": "targets are 1 or -1"}, **LOSS)
direct("margin_ranking_loss", X, X, X, excluded=APART, **LOSS)
direct("poisson_nll_loss", X, X, True, False, 1e-8, 1, **LOSS)
direct("binary_cross_entropy_with_logits", X, Of((0.1, 0.9)), **LOSS)
direct("log_softmax.int", X, -1, **LOSS)
direct("softmax.int", X, -1, **LOSS)
FLAT = {"cancels": True, "roundings": 3, "special": False, "min_rank": 1, "max_rank": 1}
direct("nll_loss", LOGITS, TARGET, **FLAT)
direct("nll_loss_nd", LOGITS, TARGET, **FLAT)
SCALAR, TOTAL = Of(shape=lambda s: ()), Of((1.0, 9.0), shape=lambda s: (), constant=True)
direct("nll_loss_backward", SCALAR, LOGITS, TARGET, None, 1, -100, TOTAL, frozen=[0], **FLAT)
direct("one_hot", TARGET, 9, dtypes=("i64",), min_rank=1, max_rank=1)
direct(
    "glu_backward",
    X,
    Of(shape=lambda s: (*s[:-1], 2 * s[-1])),
    -1,
    special=False,
    cancels=True,
    min_rank=1,
)

# Norms
W = Of(scale=0.1, offset=1.0, shape=own)
N = From(lambda s: [s[-1]])
COLUMN = Of(scale=0.3, shape=lambda s: (*s[:-1], 1))
SCALE = Of((0.5, 2.0), shape=lambda s: (*s[:-1], 1))
NORM = {"cancels": True, "roundings": 1, "special": False, **ROW}
direct("_fused_rms_norm", X, N, W, 0.01, frozen=[1], excluded=APART, **NORM)
direct(
    "native_layer_norm_backward",
    X,
    X,
    N,
    COLUMN,
    SCALE,
    W,
    W,
    [True] * 3,
    frozen=[0, 1, 2],
    dtypes=("f32", "f64"),
    **NORM,
)
CHANNELS = {"cancels": True, "roundings": 1, "special": False, "min_rank": 3, "max_rank": 3}
C = Of(scale=0.1, offset=1.0, shape=lambda s: (s[1],))
direct("group_norm", X, 1, C, C, 0.01, empty=False, **CHANNELS)
COUNTS = [From(lambda s, i=i: s[i]) for i in range(3)]
direct("native_group_norm", X, C, C, *COUNTS, 1, 0.01, empty=False, frozen=[1, 2], **CHANNELS)

# Products
PRODUCT = {"cancels": True, "special": False, "empty_columns": False, "roundings": 1}
K = 17
SQUARE = {**PRODUCT, "min_rank": 2, "max_rank": 2}
BATCH = {**PRODUCT, "min_rank": 3, "max_rank": 3}
direct("mv", X, Of(shape=own), **SQUARE)
direct("addmv", Of(shape=lambda s: s[:-1]), X, Of(shape=own), **SQUARE)
direct("dot", X, X, **{**PRODUCT, "min_rank": 1, "max_rank": 1})
direct("vdot", X, X, **{**PRODUCT, "min_rank": 1, "max_rank": 1})
INNER = Of(shape=lambda s: (s[0], s[2], K))
direct("bmm", X, INNER, **BATCH)
direct("baddbmm", Of(shape=last(K)), X, INNER, **BATCH)
direct("addbmm", Of(shape=lambda s: (s[1], K)), X, INNER, **BATCH)
direct("einsum", "bij,bjk->bik", [X, INNER], **BATCH)
direct(
    "linear",
    Of(shape=last(K)),
    Of(shape=lambda s: (s[-1], K)),
    variant="direct",
    **PRODUCT,
    min_rank=1,
)
direct(
    "matmul",
    Of(shape=last(K)),
    Of(shape=lambda s: (K, s[-1])),
    variant="direct",
    **PRODUCT,
    min_rank=1,
)
