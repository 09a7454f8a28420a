// Weights of tiny models, made from a seed: the same bytes as tiny_weights.py makes.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/safetensors/safetensors_writer.h"

namespace alate::tests {

/// A parameter by its name: see tiny_weights.py, whose order of operations this has.
inline Tensor tiny_weight(const std::string& name, const std::vector<std::int64_t>& extents, std::uint64_t seed) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
  std::uint64_t state = 0xCBF29CE484222325;
  for (const char c : name) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  state += seed * kGolden;
  Tensor tensor = Tensor::uninitialized({DType::f32, {extents.begin(), extents.end()}});
  const bool is_scale = (name.ends_with("weight") || name.ends_with("layer_weights")) && extents.size() == 1;
  const bool is_bias = name.ends_with("bias");
  const bool is_embedding = name.find("embeddings.") != std::string::npos;
  for (float& value : tensor.mutable_values<float>()) {
    std::uint64_t z = state += kGolden;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    z ^= z >> 31;
    double noise = (static_cast<double>(z >> 40) / 0x1p23 - 1.0) * 1.7320508075688772;
    if (is_scale) {
      noise = 0.3 * noise;
      noise = 1.0 + noise;
    } else if (is_bias) {
      noise = 0.3 * noise;
    } else if (!is_embedding) {
      noise = noise / std::sqrt(static_cast<double>(extents.back()));
    }
    value = static_cast<float>(noise);
  }
  return tensor;
}

/// The weights that `description`, the content of a shapes.json ({"seed": N, "shapes": {NAME: [EXTENT, …]}}), names.
inline std::vector<formats::NamedTensor> tiny_tensors(const formats::Json& description) {
  const auto seed = static_cast<std::uint64_t>(description.get_int("seed", 0));
  std::vector<formats::NamedTensor> tensors;
  for (const auto& [name, shape] : description.find("shapes")->as_object("shapes")) {
    std::vector<std::int64_t> extents;
    for (const formats::Json& extent : shape.as_array("extents")) extents.push_back(extent.as_int("extent"));
    tensors.push_back({name, tiny_weight(name, extents, seed)});
  }
  return tensors;
}

/// Writes the model that `recorded` describes into `folder`: model.safetensors where it or a folder in it has a
/// shapes.json, and all other files but the cases.
inline void write_tiny_model(const std::filesystem::path& recorded, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const auto& entry : std::filesystem::directory_iterator(recorded)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory()) {
      write_tiny_model(entry.path(), folder / name);
    } else if (name == "shapes.json") {
      const formats::Json description = formats::parse_json(base::read_text_file(entry.path()), name);
      formats::write_safetensors(folder / "model.safetensors", tiny_tensors(description), {{"format", "pt"}});
    } else if (!name.starts_with("case_") && !name.starts_with("embed_")) {
      std::filesystem::copy(entry.path(), folder / name);
    }
  }
}

}  // namespace alate::tests
