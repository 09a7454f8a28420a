// The committed tiny models and the reference implementation's recorded results.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/tensor_file.h"
#include "tests/source_folder.h"

namespace alate::tests {

inline std::filesystem::path tiny_model(const std::string& name) {
  return source_folder() / "tests" / "golden" / "models" / name;
}

/// A call of sentence-transformers that record_embeddings.py recorded.
struct RecordedCall {
  std::vector<std::string> texts;
  std::vector<std::int64_t> truncated;
  std::int64_t tokens = 0;
  Tensor embeddings;
};

inline RecordedCall recorded_call(const std::string& model, const std::string& call) {
  const std::filesystem::path path = tiny_model(model) / ("embed_" + call);
  const auto json = formats::parse_json(base::read_text_file(path.string() + ".json"), path.string());
  RecordedCall recorded;
  for (const auto& text : json.find("texts")->as_array("texts")) recorded.texts.push_back(text.as_string("text"));
  for (const auto& index : json.find("truncated")->as_array("truncated"))
    recorded.truncated.push_back(index.as_int("index"));
  for (const auto& count : json.find("token_counts")->as_array("token_counts"))
    recorded.tokens += count.as_int("count");
  for (auto& each : formats::read_tensors(path.string() + ".safetensors")) {
    if (each.name == "embeddings") recorded.embeddings = each.tensor;
  }
  return recorded;
}

/// Within 1e-5 of the largest value that is wanted.
inline void expect_near(std::span<const float> got, std::span<const float> want) {
  ASSERT_EQ(got.size(), want.size());
  float largest = 0;
  for (const float value : want) largest = std::max(largest, std::abs(value));
  float worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float difference = std::abs(got[i] - want[i]);
    worst = difference > worst || std::isnan(difference) ? difference : worst;
  }
  EXPECT_LE(worst, 1e-5f * largest);
}

}  // namespace alate::tests
