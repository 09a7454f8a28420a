// The families of models that are read from GGUF, and the names that llama.cpp's converter gives their tensors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf/gguf_model.h"

namespace alate::formats {

/// What the converter does to the values of a tensor.
enum class GgufChange : std::uint8_t { none, pairs_query_rows, pairs_key_rows, adds_one };

/// A tensor's name in GGUF and in transformers' classes, without ".weight" or ".bias"; of a layer, without what stands
/// before it.
struct GgufName {
  std::string_view gguf, transformers;
  GgufChange change = GgufChange::none;
};

/// How transformers' class of a family differs from the others.
struct GgufFamily {
  std::string_view architecture;            // general.architecture
  std::string_view model_type, class_name;  // of config.json, the class without its head
  std::span<const GgufName> names;          // of tensors outside the layers
  std::span<const GgufName> layer_names;    // "blk.N." becomes "model.layers.N."
  std::int64_t full_layers_every = 0;       // one of so many layers sees everything, the others a window; 0: all do
  std::span<const std::string_view> settings = {};  // metadata that change what it computes, which others do not have
};

/// Those that are read, by general.architecture.
std::vector<std::string_view> gguf_architectures();

/// Throws unsupported naming another architecture, corrupt where the file names none.
const GgufFamily& find_gguf_family(const GgufModel& model);

/// A tensor as transformers names it.
struct GgufMeaning {
  std::string name;  // empty: the family has no such tensor
  GgufChange change = GgufChange::none;
};
GgufMeaning meaning_of(const GgufFamily& family, std::string_view gguf_name);

/// One factor for each pair of a head's values, which its frequency is divided by: a part of the configuration. Those
/// of LongRoPE are for short texts and for long ones.
inline constexpr std::string_view kGgufRopeFactors = "rope_freqs.weight",
                                  kGgufShortFactors = "rope_factors_short.weight",
                                  kGgufLongFactors = "rope_factors_long.weight";
/// Whether a tensor is one of these.
bool is_of_rope(std::string_view gguf_name);

}  // namespace alate::formats
