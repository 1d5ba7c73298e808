# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One table of operations and the checks that each goes through.

An entry is made by `variant` (a program in the dialect's text and a torch function that runs in
f64), by `torch_op` (a torch function, imported) or by `direct` (one aten overload, as it is). From
it come, for each dtype and shape of suite.py:

    roundtrip    what is printed parses to the same
    values       forward and torch's autograd gradients in f64, for M of 0, 1, odd, many workers
    differences  the derived backward against central differences of our own forward, in f64
    kinks        inputs from a few numbers, so that ties, zeros and bounds are met
    special      NaN, infinities, zeros and denormals: the kinds of eager, the numbers of f64
    chain        between two pointwise operations and a residual, in one program
    unfused      that program against one program an operation

Tolerances are derived in tolerance.py. mutations.py shows that wrong rules are found.
"""
