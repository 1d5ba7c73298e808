//===- FuseOpsScalarOps.td - Scalar functions that arith and math lack
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSSCALAROPS_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSSCALAROPS_TD

include "FuseOps/Dialect/FuseOps/FuseOpsConstraints.td"

def FuseOps_SpecialFunction : FuseOps_Enum<"SpecialFunction",
    "a scalar function that is expanded late", [
  I32EnumAttrCase<"Lgamma", 0, "lgamma">,
  I32EnumAttrCase<"Polygamma", 1, "polygamma">,
  I32EnumAttrCase<"Zeta", 2, "zeta">,
  I32EnumAttrCase<"Erfinv", 3, "erfinv">,
  I32EnumAttrCase<"Erfcx", 4, "erfcx">,
  I32EnumAttrCase<"LogNdtr", 5, "log_ndtr">,
  I32EnumAttrCase<"Ndtri", 6, "ndtri">,
  I32EnumAttrCase<"I0", 7, "i0">,
  I32EnumAttrCase<"I0e", 8, "i0e">,
  I32EnumAttrCase<"I1", 9, "i1">,
  I32EnumAttrCase<"I1e", 10, "i1e">,
  I32EnumAttrCase<"Sinc", 11, "sinc">,
  I32EnumAttrCase<"Entr", 12, "entr">,
  I32EnumAttrCase<"Xlogy", 13, "xlogy">,
  I32EnumAttrCase<"Xlog1py", 14, "xlog1py">,
  I32EnumAttrCase<"Hypot", 15, "hypot">,
  I32EnumAttrCase<"LogAddExp", 16, "logaddexp">,
  I32EnumAttrCase<"LogAddExp2", 17, "logaddexp2">,
  I32EnumAttrCase<"NextAfter", 18, "nextafter">,
  I32EnumAttrCase<"Logit", 19, "logit">]>;
def FuseOps_SpecialFunctionAttr
    : FuseOps_EnumAttr<FuseOps_SpecialFunction, "special_function">;

def FuseOps_SpecialOp : FuseOps_Op<"special", [Pure, SameOperandsAndResultType,
    Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "A scalar function with a derivative of its own";
  let description = [{
    In the body of a `fuseops.pointwise`: a function whose expansion in `arith`
    and `math` is too long to read, or has a symbolic derivative that is wrong
    at single points or inaccurate. It is differentiated as one operation and
    expanded when kernels are lowered (`fuseops-expand-math`), so that kernels
    see it on vectors too. In f32 the longer ones compute in f64.

    Unary, with their derivatives: `lgamma` (digamma), `polygamma` of `order` n
    (order n + 1; 0 is digamma), `erfinv` (`sqrt(pi)/2 exp(y^2)`), `erfcx`
    (`2 x y - 2/sqrt(pi)`), `log_ndtr` (`sqrt(2/pi) / erfcx(-x/sqrt 2)`),
    `ndtri` (`sqrt(2 pi) exp(y^2/2)`), `i0` (i1), `i0e` (`i1e - sign(x) y`), `i1`
    (`i0 - y/x`), `i1e` (`i0e - y (sign(x) + 1/x)`), `sinc = sin(pi x)/(pi x)` (0
    at 0), `entr = -x log x` (`-log x - 1`), `logit` (NaN outside [0, 1]).

    Binary: `zeta(s, q)` of Hurwitz, for `q < 0` and an integer s too
    (`-s zeta(s + 1, q)` in q, none in s), `xlogy = x log y` and `xlog1py`, 0
    where x is 0 and y no NaN, also in their derivative in x where the
    logarithm's argument is not positive; `hypot`, `logaddexp`, `logaddexp2`,
    `nextafter` (no derivative).

    FP8: none; the scalars are f32 or f64.

    ```mlir
    fuseops.fusible @log_gamma(%x: tensor<?x64xf32>) -> tensor<?x64xf32>
    forward {
      %y = fuseops.pointwise (%a = %x) : (tensor<?x64xf32>) -> tensor<?x64xf32> {
        %g = fuseops.special lgamma(%a) : f32
        fuseops.yield %g : f32
      }
      fuseops.return %y : tensor<?x64xf32>
    }
    ```
  }];
  let arguments = (ins FuseOps_SpecialFunctionAttr:$function,
    Variadic<FloatLike>:$inputs, DefaultValuedAttr<I64Attr, "0">:$order);
  let results = (outs FloatLike:$result);
  let assemblyFormat = [{
    `` $function `(` $inputs `)` (`order` `(` $order^ `)`)? attr-dict `:`
    type($result)
  }];
  let hasVerifier = 1;
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSSCALAROPS_TD
