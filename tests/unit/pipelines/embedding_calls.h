// Recorded calls of sentence-transformers: texts, options and the embeddings they gave.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/tensor_file.h"

namespace alate::tests {

struct EmbeddingCall {
  std::vector<std::string> texts;
  EmbedOptions options;
  std::optional<std::vector<std::size_t>> truncated;
  Tensor embeddings;
};

/// embed_NAME.json, with embed_NAME.safetensors beside it.
inline EmbeddingCall read_call(std::filesystem::path json_file) {
  const formats::Json json = formats::parse_json(base::read_text_file(json_file), json_file.string());
  EmbeddingCall call;
  for (const formats::Json& text : json.find("texts")->as_array("texts")) call.texts.push_back(text.as_string("text"));
  call.options.prompt_name = json.get_string("prompt_name", "");
  call.options.task = json.get_string("task", "");
  if (json.find("truncate_dim") != nullptr)
    call.options.dimensions = static_cast<std::size_t>(json.get_int("truncate_dim", 0));
  if (json.get_bool("normalize_embeddings", false)) call.options.normalize = true;
  if (const formats::Json* truncated = json.find("truncated")) {
    call.truncated.emplace();
    for (const formats::Json& index : truncated->as_array("truncated"))
      call.truncated->push_back(static_cast<std::size_t>(index.as_int("index")));
  }
  for (formats::NamedTensor& named : formats::read_tensors(json_file.replace_extension(".safetensors"))) {
    if (named.name == "embeddings") call.embeddings = std::move(named.tensor);
  }
  return call;
}

inline void expect_equal_embeddings(const Tensor& found, const Tensor& wanted, const std::string& what) {
  ASSERT_EQ(to_string(found.shape()), to_string(wanted.shape())) << what;
  const auto width = static_cast<std::size_t>(wanted.extent(1));
  float largest = 0;
  for (const float value : wanted.values<float>()) largest = std::max(largest, std::abs(value));
  for (std::size_t row = 0; row < static_cast<std::size_t>(wanted.extent(0)); ++row) {
    double dot = 0, a = 0, b = 0;
    for (std::size_t i = row * width; i < (row + 1) * width; ++i) {
      const double x = found.values<float>()[i], y = wanted.values<float>()[i];
      EXPECT_NEAR(x, y, 1e-5 * largest) << what << " row " << row << " column " << i - row * width;
      dot += x * y;
      a += x * x;
      b += y * y;
    }
    EXPECT_GE(dot / std::sqrt(a * b), 0.999999) << what << " row " << row;
  }
}

/// The recorded calls of a folder, in order.
inline std::vector<std::filesystem::path> calls_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> calls;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("embed_") && name.ends_with(".json")) calls.push_back(entry.path());
  }
  std::ranges::sort(calls);
  return calls;
}

/// The names of the folders in `folder` that have recorded calls, in order.
inline std::vector<std::string> folders_with_calls(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory() && !calls_of(entry.path()).empty()) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace alate::tests
