// RUN: fuse-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected `tensor` of at least 0, but got -1}}
module attributes {test.map = #fuseops.tensor_map<tensor = -1, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected sizes of at most 4 factors, none of them negative, but got [-1]}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [-1], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected at most 4294967296 `columns`, but got [4294967297]}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [4294967297], rows = [0, 1], pitch = [4294967304], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected sizes of at most 4 factors, none of them negative, but got [0, 1, 2, 3, 4]}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1, 2, 3, 4], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected sizes of at most 4 factors, none of them negative, but got [0, -1]}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, -1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected sizes of at most 4 factors, none of them negative, but got [-8]}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128, batch = [-8], batch_pitch = 64>} {}

// -----

// expected-error @below {{expected `columns`, `rows` and `pitch` of at least one factor each}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [64], rows = [], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected `pitch` of at least 64, but got [56]}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [56], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected `pitch` of at least 1, but got [0]}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [0], rows = [0, 1], pitch = [0], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected sizes of at most 4 factors, none of them negative, but got [0, -1]}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [0, 1], rows = [0, 1], pitch = [0, -1], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected `columns`, `rows` and `pitch` of at least one factor each}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected `columns`, `rows` and `pitch` of at least one factor each}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected at most 4294967296 `columns`, but got [4294967297, 1]}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [4294967297, 1], rows = [0, 1], pitch = [4294967312, 1], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected `pitch` of at least 1, but got [0, 0]}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [0, 1], rows = [0, 1], pitch = [0, 0], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected '['}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = 64, rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected a box of 1 to 256 rows and columns, but got 128 x 257}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [64], box_columns = 257, box_rows = 128, swizzle = 128>} {}

// -----

// expected-error @below {{expected a box of 1 to 256 rows and columns, but got 0 x 64}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 0, swizzle = 128>} {}

// -----

// expected-error @below {{expected `swizzle` of 0, 32, 64 or 128 bytes, but got 16}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 16>} {}

// -----

// expected-error @below {{expected `batch_pitch` of at least 1 with `batch` and none without, but got 0}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128, batch = [8], batch_pitch = 0>} {}

// -----

// expected-error @below {{expected 'batch'}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128, batch_pitch = 64>} {}

// -----

// expected-error @below {{expected `batch_pitch` of at least 1 with `batch` and none without, but got -64}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128, batch = [8], batch_pitch = -64>} {}

// -----

// expected-error @below {{expected ','}}
module attributes {test.map = #fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128>} {}

// -----

fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xf32>
forward {
  // expected-error @below {{'fuseops.launch' op attribute 'maps' failed to satisfy constraint: an array of tensor maps}}
  %y = fuseops.launch @kernels::@forward_0(%x) {bytes = array<i64: 0>, kernel_template = #fuseops<kernel_template pointwise>, maps = [1 : i64], max_workers = 64 : i64, members = [], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, unfused_bytes = array<i64: 0>} : (tensor<?x64xbf16>) -> tensor<?x64xf32>
  fuseops.return %y : tensor<?x64xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xf32>
forward {
  // expected-error @below {{'fuseops.launch' op expected a tensor map of one of 2 tensors, but got 2}}
  %y = fuseops.launch @kernels::@forward_0(%x) {bytes = array<i64: 0>, kernel_template = #fuseops<kernel_template pointwise>, maps = [#fuseops.tensor_map<tensor = 2, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128>], max_workers = 64 : i64, members = [], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, unfused_bytes = array<i64: 0>} : (tensor<?x64xbf16>) -> tensor<?x64xf32>
  fuseops.return %y : tensor<?x64xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xf32>
forward {
  // expected-error @below {{'fuseops.launch' op expected the tensor map of tensor 0 to have a pitch that is a multiple of 16 bytes below 2^40, but got 68 elements of 2 bytes}}
  %y = fuseops.launch @kernels::@forward_0(%x) {bytes = array<i64: 0>, kernel_template = #fuseops<kernel_template pointwise>, maps = [#fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [68], box_columns = 64, box_rows = 128, swizzle = 128>], max_workers = 64 : i64, members = [], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, unfused_bytes = array<i64: 0>} : (tensor<?x64xbf16>) -> tensor<?x64xf32>
  fuseops.return %y : tensor<?x64xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xf32>
forward {
  // expected-error @below {{'fuseops.launch' op expected the tensor map of tensor 1 to have a pitch that is a multiple of 16 bytes below 2^40, but got 274877906944 elements of 4 bytes}}
  %y = fuseops.launch @kernels::@forward_0(%x) {bytes = array<i64: 0>, kernel_template = #fuseops<kernel_template pointwise>, maps = [#fuseops.tensor_map<tensor = 1, columns = [64], rows = [0, 1], pitch = [274877906944], box_columns = 32, box_rows = 128, swizzle = 128>], max_workers = 64 : i64, members = [], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, unfused_bytes = array<i64: 0>} : (tensor<?x64xbf16>) -> tensor<?x64xf32>
  fuseops.return %y : tensor<?x64xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xf32>
forward {
  // expected-error @below {{'fuseops.launch' op expected the tensor map of tensor 0 to have a pitch that is a multiple of 16 bytes below 2^40, but got 4611686018427387904 elements of 2 bytes}}
  %y = fuseops.launch @kernels::@forward_0(%x) {bytes = array<i64: 0>, kernel_template = #fuseops<kernel_template pointwise>, maps = [#fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [4611686018427387904], box_columns = 64, box_rows = 128, swizzle = 128>], max_workers = 64 : i64, members = [], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, unfused_bytes = array<i64: 0>} : (tensor<?x64xbf16>) -> tensor<?x64xf32>
  fuseops.return %y : tensor<?x64xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xf32>
forward {
  // expected-error @below {{'fuseops.launch' op expected the tensor map of tensor 0 to have a pitch that is a multiple of 16 bytes below 2^40, but got 4611686018427387904 elements of 2 bytes}}
  %y = fuseops.launch @kernels::@forward_0(%x) {bytes = array<i64: 0>, kernel_template = #fuseops<kernel_template pointwise>, maps = [#fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [0, 4611686018427387904], box_columns = 64, box_rows = 128, swizzle = 128>], max_workers = 64 : i64, members = [], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, unfused_bytes = array<i64: 0>} : (tensor<?x64xbf16>) -> tensor<?x64xf32>
  fuseops.return %y : tensor<?x64xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xf32>
forward {
  // expected-error @below {{'fuseops.launch' op expected the tensor map of tensor 0 to have a pitch that is a multiple of 16 bytes below 2^40, but got 1028 elements of 2 bytes}}
  %y = fuseops.launch @kernels::@forward_0(%x) {bytes = array<i64: 0>, kernel_template = #fuseops<kernel_template pointwise>, maps = [#fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128, batch = [4], batch_pitch = 1028>], max_workers = 64 : i64, members = [], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, unfused_bytes = array<i64: 0>} : (tensor<?x64xbf16>) -> tensor<?x64xf32>
  fuseops.return %y : tensor<?x64xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xf32>
forward {
  // expected-error @below {{'fuseops.launch' op expected the tensor map of tensor 0 to have boxes whose rows are multiples of 16 bytes, but got 60 elements of 2 bytes}}
  %y = fuseops.launch @kernels::@forward_0(%x) {bytes = array<i64: 0>, kernel_template = #fuseops<kernel_template pointwise>, maps = [#fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [64], box_columns = 60, box_rows = 128, swizzle = 128>], max_workers = 64 : i64, members = [], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, unfused_bytes = array<i64: 0>} : (tensor<?x64xbf16>) -> tensor<?x64xf32>
  fuseops.return %y : tensor<?x64xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xf32>
forward {
  // expected-error @below {{'fuseops.launch' op expected the tensor map of tensor 0 to have boxes whose rows are at most the 64 bytes of `swizzle`, but got 64 elements of 2 bytes}}
  %y = fuseops.launch @kernels::@forward_0(%x) {bytes = array<i64: 0>, kernel_template = #fuseops<kernel_template pointwise>, maps = [#fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 64>], max_workers = 64 : i64, members = [], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, unfused_bytes = array<i64: 0>} : (tensor<?x64xbf16>) -> tensor<?x64xf32>
  fuseops.return %y : tensor<?x64xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xf32>
forward {
  // expected-error @below {{'fuseops.launch' op expected the tensor map of tensor 1 to have boxes whose rows are at most the 128 bytes of `swizzle`, but got 64 elements of 4 bytes}}
  %y = fuseops.launch @kernels::@forward_0(%x) {bytes = array<i64: 0>, kernel_template = #fuseops<kernel_template pointwise>, maps = [#fuseops.tensor_map<tensor = 1, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 128, swizzle = 128>], max_workers = 64 : i64, members = [], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, unfused_bytes = array<i64: 0>} : (tensor<?x64xbf16>) -> tensor<?x64xf32>
  fuseops.return %y : tensor<?x64xf32>
}
