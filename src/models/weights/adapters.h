// Low-rank adapters (Hu et al. 2021, arXiv:2106.09685) that a model's folder has for tasks.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "formats/json.h"
#include "formats/weight_source.h"

namespace alate::models {

/// What is added to a matrix [out, in]: up · down, in f32. `up` is scaled.
struct LowRank {
  Tensor down;  // [rank, in]; of a lookup table [rows, rank]
  Tensor up;    // [out, rank]; of a lookup table [width, rank]
};

/// By the name of the module in the architecture: "encoder.layers.0.mlp.fc1".
using Adapter = std::map<std::string, LowRank, std::less<>>;

/// The adapters of a folder. Immutable; thread-safe; copies share files.
class Adapters {
 public:
  Adapters() = default;

  /// Either those that config.json names (`lora_adaptations`) and that are beside the matrices in the model's own file,
  /// as parametrizations of torch, or those of peft: folders with an adapter_config.json, by which they are named.
  /// Throws corrupt for settings that no such adapter has, unsupported naming what is not built here: kinds other than
  /// LORA, and settings by which it is computed differently.
  static Adapters find(const std::filesystem::path& folder, const formats::Json& config);

  /// Sorted.
  std::span<const std::string> names() const { return names_; }
  /// Reads one. `weights` and `prefix` are those of the model. Throws invalid_argument for an unknown name, corrupt for
  /// parts that are missing, not of a module of the model, or of other shapes.
  Adapter load(std::string_view name, const formats::WeightSource& weights, std::string_view prefix) const;

 private:
  struct Peft {
    std::filesystem::path folder;
    double scale = 0;
  };

  Adapter stacked(std::size_t place, const formats::WeightSource& weights, std::string_view prefix) const;
  static Adapter of_peft(const Peft& peft, const formats::WeightSource& weights, std::string_view prefix);

  std::vector<std::string> names_;
  std::vector<std::string> stacked_;  // in the order of their places
  double scale_ = 0;                  // of these
  std::map<std::string, Peft, std::less<>> peft_;
};

}  // namespace alate::models
