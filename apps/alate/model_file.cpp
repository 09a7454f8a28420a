#include "model_file.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "alate/error.h"
#include "base/ascii_case.h"
#include "formats/json.h"

namespace alate::app {
namespace {

// Also of formats that are refused by name when they are opened.
constexpr std::array<std::string_view, 10> kWeights = {".safetensors", ".bin",     ".pt",   ".pth",  ".ckpt",
                                                       ".h5",          ".msgpack", ".onnx", ".gguf", ".json"};
constexpr std::array<std::string_view, 3> kTokenizers = {".model", ".spm", ".tiktoken"};

template <typename Endings>
bool has_one_of(std::string_view ending, const Endings& endings) {
  return std::ranges::find(endings, ending) != endings.end();
}

}  // namespace

bool may_be_of_model(const std::filesystem::path& file, ModelUse use) {
  if (use == ModelUse::template_file) return true;
  const std::string ending = base::ascii_lower(file.extension().string());
  if (has_one_of(ending, kWeights)) return true;
  if (use == ModelUse::weights) return false;
  const bool is_vocabulary = base::ascii_lower(file.stem().string()).find("vocab") != std::string::npos;
  return has_one_of(ending, kTokenizers) || (ending == ".txt" && is_vocabulary);
}

void refuse_other_file(const std::filesystem::path& path, const std::string& reference, ModelUse use) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored) || may_be_of_model(path, use)) return;
  throw make_error(ErrorCode::invalid_argument, formats::quoted_name(reference),
                   " is a file, and not a model's: MODEL is the name or the folder of a model, such as builtin:minilm; "
                   "to read texts from a file, say --file ",
                   reference);
}

}  // namespace alate::app
