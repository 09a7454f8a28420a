// Requests of KServe's inference protocol, version 2: tensors as JSON, or behind the JSON as bytes (its binary
// extension).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "formats/json.h"

namespace alate::server {

struct InferTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<std::string> texts;  // of datatype BYTES, in row-major order
  Tensor numbers;                  // of INT32 and INT64: i32 and i64; empty for BYTES

  bool holds_texts() const { return numbers.empty(); }
};

struct InferOutput {
  std::string name;
  bool binary = false;
};

struct InferRequest {
  std::optional<std::string> id;
  std::vector<InferTensor> inputs;   // names are distinct
  std::vector<InferOutput> outputs;  // names are distinct; empty: all that the model has
  bool binary_outputs = false;       // for those that `outputs` does not name
  formats::Json parameters;          // of the request: an object, or null

  /// Null where there is none of that name.
  const InferTensor* input(std::string_view name) const;
  /// Of the outputs that there are, those that the request asks for, in its order. Throws RequestError for others.
  std::vector<InferOutput> chosen_outputs(const std::vector<std::string>& available) const;
};

struct InferLimits {
  std::size_t max_texts = 2048;
  std::size_t max_numbers = 65536;  // of one tensor
};

/// Reads a whole body. `json_length` is the header Inference-Header-Content-Length: how many bytes of the body are
/// JSON; null: all. Throws RequestError: malformed for what is no JSON, invalid for everything else that is wrong with
/// the body, too_many and too_large over the limits.
InferRequest parse_infer_request(std::string_view body, const std::string* json_length, const InferLimits& limits);

}  // namespace alate::server
