// A sentence-transformers folder with random weights, of sizes that every part of quantization applies to.
#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "alate/tensor.h"
#include "formats/safetensors/safetensors_writer.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::quantization {

constexpr std::int64_t kHidden = 16, kIntermediate = 128, kVocabulary = 88, kPositions = 40, kLayers = 2;

/// Weights that vary between channels as those of trained models do: some are many times larger.
inline Tensor random_tensor(std::mt19937& random, const std::vector<std::int64_t>& extents, float center = 0,
                            float width = 0.3F) {
  Tensor tensor = Tensor::uninitialized({DType::f32, {extents.begin(), extents.end()}});
  std::normal_distribution<float> normal(center, width);
  std::size_t i = 0;
  for (float& value : tensor.mutable_values<float>()) value = normal(random) * (i++ % 7 == 3 ? 3.0F : 1.0F);
  return tensor;
}

inline void write_tiny_encoder(const base::TemporaryFolder& folder, std::int64_t intermediate = kIntermediate) {
  namespace fs = std::filesystem;
  const fs::path source = source_folder() / "tests/golden/models/st_mean";
  for (const fs::directory_entry& entry : fs::directory_iterator(source)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("embed_") && name != "config.json" && name != "model.safetensors")
      fs::copy(entry.path(), folder.path() / name, fs::copy_options::recursive);
  }
  folder.write("README.md", "A model of nobody.");
  folder.write("pytorch_model.bin", "the same weights once more");
  folder.write("onnx/model.onnx", "and once more");
  folder.write("config.json", R"({"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 16,
    "intermediate_size": )" + std::to_string(intermediate) +
                                  R"(, "num_attention_heads": 2, "num_hidden_layers": 2, "vocab_size": 88,
    "max_position_embeddings": 40, "type_vocab_size": 2})");
  std::mt19937 random(20261122);
  std::vector<formats::NamedTensor> tensors;
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& extents, float center = 0) {
    tensors.push_back({name, random_tensor(random, extents, center)});
  };
  const auto add_norm = [&](const std::string& name) {
    add(name + ".weight", {kHidden}, 1);
    add(name + ".bias", {kHidden});
  };
  const auto add_linear = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  };
  add("embeddings.word_embeddings.weight", {kVocabulary, kHidden});
  add("embeddings.position_embeddings.weight", {kPositions, kHidden});
  add("embeddings.token_type_embeddings.weight", {2, kHidden});
  add_norm("embeddings.LayerNorm");
  for (std::int64_t i = 0; i < kLayers; ++i) {
    const std::string layer = "encoder.layer." + std::to_string(i) + ".";
    for (const char* part : {"query", "key", "value"}) add_linear(layer + "attention.self." + part, kHidden, kHidden);
    add_linear(layer + "attention.output.dense", kHidden, kHidden);
    add_norm(layer + "attention.output.LayerNorm");
    add_linear(layer + "intermediate.dense", kHidden, intermediate);
    add_linear(layer + "output.dense", intermediate, kHidden);
    add_norm(layer + "output.LayerNorm");
  }
  add_linear("pooler.dense", kHidden, kHidden);
  formats::write_safetensors(folder.path() / "model.safetensors", tensors, {{"format", "pt"}});
}

/// An ALBERT: one layer's weights for three layers, and narrower tables.
inline void write_tiny_albert(const base::TemporaryFolder& folder) {
  write_tiny_encoder(folder);
  folder.write("config.json", R"({"model_type": "albert", "architectures": ["AlbertModel"], "hidden_size": 16,
    "embedding_size": 8, "intermediate_size": 128, "num_attention_heads": 2, "num_hidden_layers": 3, "vocab_size": 88,
    "max_position_embeddings": 40, "type_vocab_size": 2})");
  std::mt19937 random(20261125);
  std::vector<formats::NamedTensor> tensors;
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& extents, float center = 0) {
    tensors.push_back({name, random_tensor(random, extents, center)});
  };
  const auto add_norm = [&](const std::string& name, std::int64_t width) {
    add(name + ".weight", {width}, 1);
    add(name + ".bias", {width});
  };
  const auto add_linear = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  };
  for (const auto& [table, rows] :
       {std::pair{"word", kVocabulary}, {"position", kPositions}, {"token_type", std::int64_t{2}}})
    add(std::string("embeddings.") + table + "_embeddings.weight", {rows, 8});
  add_norm("embeddings.LayerNorm", 8);
  add_linear("encoder.embedding_hidden_mapping_in", 8, kHidden);
  const std::string layer = "encoder.albert_layer_groups.0.albert_layers.0.";
  for (const char* part : {"query", "key", "value", "dense"}) add_linear(layer + "attention." + part, kHidden, kHidden);
  add_norm(layer + "attention.LayerNorm", kHidden);
  add_linear(layer + "ffn", kHidden, kIntermediate);
  add_linear(layer + "ffn_output", kIntermediate, kHidden);
  add_norm(layer + "full_layer_layer_norm", kHidden);
  formats::write_safetensors(folder.path() / "model.safetensors", tensors, {{"format", "pt"}});
}

}  // namespace alate::quantization
