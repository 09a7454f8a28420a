// Recorded cases of Model::forward: case_*.safetensors with inputs and the outputs of transformers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/model.h"
#include "formats/tensor_file.h"

namespace alate::tests {

inline void expect_close(const Tensor& found, const Tensor& wanted, const std::string& what) {
  ASSERT_EQ(to_string(found.shape()), to_string(wanted.shape())) << what;
  float largest = 0, difference = 0;
  for (std::size_t i = 0; i < wanted.values<float>().size(); ++i) {
    largest = std::max(largest, std::abs(wanted.values<float>()[i]));
    const float apart = std::abs(found.values<float>()[i] - wanted.values<float>()[i]);
    difference = std::isnan(apart) ? INFINITY : std::max(difference, apart);
  }
  EXPECT_LE(difference, 1e-5f * largest) << what;
}

inline void expect_case(const Model& model, const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 8> kOutputs = {
      "last_hidden_state", "pooler_output",           "logits",    "start_logits", "end_logits",
      "prediction_logits", "seq_relationship_logits", "sop_logits"};
  NamedTensors inputs, wanted;
  for (formats::NamedTensor& named : formats::read_tensors(file)) {
    const bool is_output = std::ranges::find(kOutputs, named.name) != kOutputs.end();
    (is_output ? wanted : inputs).emplace(named.name, std::move(named.tensor));
  }
  const NamedTensors found = model.forward(inputs);
  ASSERT_EQ(found.size(), wanted.size()) << file;
  for (const auto& [name, tensor] : wanted) {
    ASSERT_TRUE(found.contains(name)) << file << " " << name;
    expect_close(found.find(name)->second, tensor, file.string() + " " + name);
  }
}

inline std::vector<std::filesystem::path> sorted_entries(const std::filesystem::path& folder,
                                                         const std::string& prefix) {
  std::vector<std::filesystem::path> found;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Names of the folders in `folder` that have recorded cases.
inline std::vector<std::string> folders_with_cases(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const std::filesystem::path& each : sorted_entries(folder, "")) {
    if (std::filesystem::is_directory(each) && !sorted_entries(each, "case_").empty())
      names.push_back(each.filename().string());
  }
  return names;
}

}  // namespace alate::tests
