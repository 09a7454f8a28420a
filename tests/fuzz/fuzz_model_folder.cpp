// Names in a folder's own lists. The first byte says which: 'm' modules.json, 'r' the file of a Router, 'i' the index
// of a model's shards, which is the rest. Nothing outside the folder is opened: what a name can mean is checked here
// again, by the file system's rules.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "alate/error.h"
#include "formats/folder_weights.h"
#include "pipelines/modules/kind_modules.h"
#include "pipelines/modules/modules.h"
#include "runtime/loading/model_files.h"

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
    fs::create_directories(model / "t");
    fs::create_directories(model / "u");
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

bool is_inside(const fs::path& path, const fs::path& folder) {
  const fs::path inside = path.lexically_normal().lexically_relative(folder);
  return !inside.empty() && *inside.begin() != "..";
}

void check_modules(const fs::path& folder, const fs::path& transformer) {
  const pipelines::EmbeddingModules modules =
      pipelines::read_modules({.home = folder, .folder = transformer, .onnx_file = {}});
  for (const graph::PoolMode mode : modules.pooling()) {
    if (mode == graph::PoolMode::max) std::abort();  // it came from outside
  }
  for (const pipelines::ChainModule& module : modules.chain) {
    if (!std::holds_alternative<pipelines::DenseModule>(module.kind)) continue;
    if (!is_inside(module.folder, folder)) std::abort();
  }
}

void check_router(const fs::path& folder) {
  std::ofstream(folder / "modules.json") << R"([{"path": "", "type": "a.Router"}])";
  const std::vector<fs::path> transformers = runtime::transformer_folders(folder);
  if (transformers.empty() || transformers.size() > 64) std::abort();
  for (const fs::path& transformer : transformers) {
    if (!is_inside(transformer, folder)) std::abort();
    try {
      const pipelines::KindModules kinds = pipelines::read_kind_modules(folder, transformer);
      (void)kinds.is_static("query");
    } catch (const Error& error) {
      if (error.code() == ErrorCode::internal) throw;
    }
    check_modules(folder, transformer);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  if (size == 0) return 0;
  const char* name = data[0] == 'm'   ? "modules.json"
                     : data[0] == 'r' ? "router_config.json"
                                      : "model.safetensors.index.json";
  std::error_code ignored;
  fs::remove(folder.model / "router_config.json", ignored);
  std::ofstream(folder.model / name, std::ios::binary)
      << std::string_view(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    if (data[0] == 'm') {
      check_modules(folder.model, folder.model);
    } else if (data[0] == 'r') {
      check_router(folder.model);
    } else {
      (void)formats::FolderWeights::open(folder.model);
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
  return 0;
}
