// Answers of the KServe inference protocol, version 2: tensors as JSON, or as bytes after the JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "server/exchange/http_message.h"

namespace alate::server {

/// Throws RequestError if there are more numbers than an answer may hold as JSON: some 50 MB.
void check_json_numbers(std::size_t numbers);

/// An output tensor of datatype FP32, or BYTES where it has texts.
struct InferResult {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<const float> values;
  std::shared_ptr<const void> owner = nullptr;  // of the values; lives as long as the answer
  bool binary = false;
  std::shared_ptr<const std::vector<std::string>> texts = nullptr;
};

/// The answer with the tensors in order. `parameters` is an object, or null for none.
Response infer_response(std::string_view model, const std::optional<std::string>& id,
                        std::span<const InferResult> results, const formats::Json& parameters = {});

}  // namespace alate::server
