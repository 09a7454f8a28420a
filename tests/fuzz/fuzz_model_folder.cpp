// Names in a folder's own lists. The first byte says which: 'm' modules.json, 'i' the index of a model's shards, which
// is the rest. Nothing outside the folder is opened: what a name can mean is checked here again, by the file system's
// rules.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <variant>

#include "alate/error.h"
#include "formats/folder_weights.h"
#include "pipelines/embed/modules.h"

using namespace alate;
namespace fs = std::filesystem;

namespace {

// A folder of this process, with what a name might reach beside it.
struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "alate-fuzz-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    root = pattern;
    model = root / "model";
    fs::create_directories(model / "1_Pooling");
    fs::create_directories(root / "outside");
    std::ofstream(model / "1_Pooling/config.json") << R"({"pooling_mode_cls_token": true})";
    // A pooling that nothing inside the folder asks for, and a file of weights that is none.
    std::ofstream(root / "outside/config.json") << R"({"pooling_mode_max_tokens": true})";
    std::ofstream(root / "config.json") << R"({"pooling_mode_max_tokens": true})";
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(root, ignored);
  }
  fs::path root, model;
};

void check_modules(const fs::path& folder) {
  const pipelines::EmbeddingModules modules =
      pipelines::read_modules({.home = folder, .folder = folder, .onnx_file = {}});
  for (const graph::PoolMode mode : modules.pooling()) {
    if (mode == graph::PoolMode::max) std::abort();  // it came from outside
  }
  for (const pipelines::ChainModule& module : modules.chain) {
    if (!std::holds_alternative<pipelines::DenseModule>(module.kind)) continue;
    const fs::path inside = module.folder.lexically_normal().lexically_relative(folder);
    if (inside.empty() || *inside.begin() == "..") std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  if (size == 0) return 0;
  const bool is_modules = data[0] == 'm';
  const fs::path file = folder.model / (is_modules ? "modules.json" : "model.safetensors.index.json");
  std::ofstream(file, std::ios::binary) << std::string_view(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    if (is_modules) {
      check_modules(folder.model);
    } else {
      (void)formats::FolderWeights::open(folder.model);
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
  return 0;
}
