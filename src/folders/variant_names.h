// The variants of a model by the names of its files, as exporters and Hugging Face's libraries name them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace alate::folders {

/// One form of a model's weights.
struct ModelVariant {
  std::string name;                // "int8", "Q4_K_M"; empty: the form that is loaded where no variant is asked for
  std::string format;              // "safetensors", "pytorch", "onnx", "gguf"
  std::string file;                // the one that is opened: the weights, or the index of their parts
  std::vector<std::string> files;  // `file`, its parts and external data, sorted; relative to the model's folder
};

/// Finds the variants among relative names of files, in any order: the one without a name first if there is one, then
/// by name. Names that mean the same variant in several formats mean the first of safetensors, pytorch, onnx, gguf; the
/// unnamed forms of the later formats are variants named like the format.
///
///     model.safetensors, model.int8.safetensors, model.safetensors.index.int8.json
///     pytorch_model.bin, pytorch_model.int8.bin
///     model.onnx, model_int8.onnx, onnx/model_int8.onnx
///     NAME-Q4_K_M.gguf, NAME.Q4_K_M.gguf, DIR/NAME-Q4_K_M-00001-of-00002.gguf
std::vector<ModelVariant> variants_of_names(std::span<const std::string> names);

/// The variant called `name`, in any case of letters; null if there is none.
const ModelVariant* find_variant(std::span<const ModelVariant> variants, std::string_view name);

}  // namespace alate::folders
