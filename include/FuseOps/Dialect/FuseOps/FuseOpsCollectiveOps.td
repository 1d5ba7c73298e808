//===- FuseOpsCollectiveOps.td - Communication between processes
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSCOLLECTIVEOPS_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSCOLLECTIVEOPS_TD

include "FuseOps/Dialect/FuseOps/FuseOpsConstraints.td"

// A collective among the `size` processes of `group`.
class FuseOps_CollectiveOp<string mnemonic> : FuseOps_Op<mnemonic, [Pure, FuseOps_Differentiable]> {
  let arguments = (ins FuseOps_FloatTensor:$input, StrAttr:$group,
    ConfinedAttr<I64Attr, [IntPositive]>:$size);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = [{
    $input `group` `` `(` $group `)` `size` `` `(` custom<Integer>($size) `)` attr-dict
    `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def FuseOps_AllReduceOp : FuseOps_CollectiveOp<"all_reduce"> {
  let summary = "The sum of all processes' tensors, on each of them";
  let description = [{
    `result = sum over the processes of input`. The result is replicated: what
    follows computes the same on every process.

    Gradient: the incoming one, which is replicated as the result is
    (TransformerEngine's AllReduce). Saved: nothing.

    FP8: a sum is of high-precision values.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.all_reduce %x group("tp") size(4) : tensor<?x64xbf16> -> tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def FuseOps_AllGatherOp : FuseOps_CollectiveOp<"all_gather"> {
  let hasCanonicalizeMethod = 1;
  let summary = "All processes' tensors, joined along dimension 0";
  let description = [{
    `result = concat over the processes, in order, of input` along dimension 0,
    which is static. Of a `reduce_scatter` among the same processes it folds, with
    that, to one `all_reduce`.

    Gradient: `reduce_scatter`. Saved: nothing.

    FP8: commutes with a quantize whose scale covers a row or less.

    ```mlir
    fuseops.fusible @f(%x: tensor<32x64xbf16>) -> tensor<128x64xbf16>
    forward {
      %y = fuseops.all_gather %x group("tp") size(4) : tensor<32x64xbf16> -> tensor<128x64xbf16>
      fuseops.return %y : tensor<128x64xbf16>
    }
    ```
  }];
}

def FuseOps_ReduceScatterOp : FuseOps_CollectiveOp<"reduce_scatter"> {
  let summary = "A share of the sum of all processes' tensors";
  let description = [{
    The sum over the processes of `input`, cut along dimension 0, which is static,
    into `size` parts: process i gets part i.

    Gradient: `all_gather`. Saved: nothing.

    FP8: a sum is of high-precision values.

    ```mlir
    fuseops.fusible @f(%x: tensor<128x64xbf16>) -> tensor<32x64xbf16>
    forward {
      %y = fuseops.reduce_scatter %x group("tp") size(4) : tensor<128x64xbf16> -> tensor<32x64xbf16>
      fuseops.return %y : tensor<32x64xbf16>
    }
    ```
  }];
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSCOLLECTIVEOPS_TD
