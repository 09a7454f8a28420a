// Requests of the KServe inference protocol, version 2: tensors as JSON, or as bytes after the JSON (its binary
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
  std::vector<std::string> texts;  // datatype BYTES, in row-major order; U+FFFD for what is no UTF-8
  Tensor numbers;                  // datatypes INT32 and INT64, as i32 and i64; empty for BYTES

  bool holds_texts() const { return numbers.empty(); }
};

struct InferOutput {
  std::string name;
  bool binary = false;
};

struct InferRequest {
  std::optional<std::string> id;
  std::vector<InferTensor> inputs;   // names are distinct
  std::vector<InferOutput> outputs;  // names are distinct; empty: all outputs of the model
  std::optional<std::string> model_version;
  bool binary_outputs = false;  // default for outputs not listed in `outputs`
  formats::Json parameters;     // of the request: an object, or null

  /// Null if there is no input of that name.
  const InferTensor* input(std::string_view name) const;
  /// The available outputs that the request asks for, in its order. Throws RequestError if it asks for others.
  std::vector<InferOutput> chosen_outputs(const std::vector<std::string>& available) const;
};

struct InferLimits {
  std::size_t max_texts = 2048;
  std::size_t max_numbers = 65536;  // per tensor
};

/// Parses a whole body. `json_length` is the header Inference-Header-Content-Length, the number of body bytes that are
/// JSON; null: all. Throws RequestError: malformed for invalid JSON, invalid for any other fault of the body, too_many
/// and too_large for exceeded limits.
InferRequest parse_infer_request(std::string_view body, const std::string* json_length, const InferLimits& limits);

}  // namespace alate::server
