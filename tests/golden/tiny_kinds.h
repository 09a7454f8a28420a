// The models of several kinds of embeddings that tests/golden/record_kinds.py recorded, and what the reference made of
// texts.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "alate/embedding_kinds.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/tensor_file.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"

namespace alate::tests {

/// Writes the model `name` ("splade_max", "m3") into `folder`.
inline void write_tiny_kinds(const std::filesystem::path& folder, const std::string& name) {
  write_tiny_model(golden_folder("kinds/" + name), folder);
}

struct RecordedKinds {
  std::vector<std::string> texts;
  std::string task;
  std::optional<std::size_t> top_k;
  KindEmbeddings embeddings;  // `tokens` is not recorded
};

inline std::vector<std::size_t> counts_in(const formats::Json& json, std::string_view name) {
  std::vector<std::size_t> counts;
  if (const formats::Json* list = json.find(name)) {
    for (const formats::Json& count : list->as_array(name))
      counts.push_back(static_cast<std::size_t>(count.as_int(name)));
  }
  return counts;
}

/// A case of a recorded model, "texts".
inline RecordedKinds read_kinds(const std::string& name, const std::string& its_case) {
  std::filesystem::path file = golden_folder("kinds/" + name) / ("case_" + its_case + ".json");
  const formats::Json json = formats::parse_json(base::read_text_file(file), file.string());
  RecordedKinds recorded;
  for (const formats::Json& text : json.find("texts")->as_array("texts"))
    recorded.texts.push_back(text.as_string("text"));
  recorded.task = json.get_string("task", "");
  if (const std::int64_t most = json.get_int("top_k", 0); most > 0) recorded.top_k = static_cast<std::size_t>(most);
  recorded.embeddings.truncated = counts_in(json, "truncated");
  if (const formats::Json* sparse = json.find("sparse"); sparse != nullptr && sparse->is_array()) {
    for (const formats::Json& text : sparse->as_array("sparse")) {
      SparseEmbedding& made = recorded.embeddings.sparse.emplace_back();
      for (const formats::Json& index : text.find("indices")->as_array("indices"))
        made.indices.push_back(static_cast<std::int32_t>(index.as_int("index")));
      for (const formats::Json& value : text.find("values")->as_array("values"))
        made.values.push_back(static_cast<float>(value.as_double("value")));
    }
  }
  if (!std::filesystem::exists(file.replace_extension(".safetensors"))) return recorded;
  for (const formats::NamedTensor& named : formats::read_tensors(file)) {
    if (named.name == "dense") recorded.embeddings.dense = named.tensor;
    if (named.name != "multi_vectors") continue;
    const std::int64_t width = named.tensor.extent(1);
    std::span<const float> rest = named.tensor.values<float>();
    for (const std::size_t count : counts_in(json, "vector_counts")) {
      const std::size_t numbers = count * static_cast<std::size_t>(width);
      recorded.embeddings.multi_vectors.push_back(
          Tensor::from<float>({static_cast<std::int64_t>(count), width}, rest.first(numbers)));
      rest = rest.subspan(numbers);
    }
  }
  return recorded;
}

}  // namespace alate::tests
