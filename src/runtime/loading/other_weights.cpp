#include "runtime/loading/other_weights.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>

#include "alate/error.h"
#include "base/files/file_presence.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"

namespace alate::runtime {
namespace {

namespace fs = std::filesystem;

// No model has more files.
constexpr std::size_t kMostFiles = 10'000;

struct Format {
  std::string_view extension;
  std::string_view start;  // of the file's name; empty: any
  std::string_view name;
  std::string_view advice;
};

constexpr std::string_view kUseSafetensors = "use the folder of the model with safetensors";

constexpr std::string_view kSaveState = "torch.save(model.state_dict(), \"pytorch_model.bin\") writes what is read";

constexpr std::array<Format, 7> kFormats = {
    {{".safetensors", "adapter_model", "an adapter",
      "merge it into its base model once, with peft's merge_and_unload, and save that"},
     {".bin", "pytorch_model-", "a part of PyTorch's checkpoint", "download pytorch_model.bin.index.json too"},
     {".pt", "", "PyTorch's pickle", kSaveState},
     {".pth", "", "PyTorch's pickle", kSaveState},
     {".ckpt", "", "PyTorch's pickle", kSaveState},
     {".h5", "tf_model", "TensorFlow", kUseSafetensors},
     {".msgpack", "flax_model", "Flax", kUseSafetensors}}};

const Format* format_of(const std::string& name, const std::string& extension) {
  const auto* found = std::ranges::find_if(kFormats, [&](const Format& row) {
    return row.extension == extension && std::string_view(name).starts_with(row.start);
  });
  return found == kFormats.end() ? nullptr : found;
}

}  // namespace

void refuse_other_weights(const fs::path& folder) {
  base::require_listable(folder);
  const Format* format = nullptr;
  std::string file;
  std::error_code error;
  std::size_t seen = 0;
  for (fs::directory_iterator entries(folder, error);
       !error && entries != fs::directory_iterator() && seen < kMostFiles; entries.increment(error), ++seen) {
    const fs::path& path = entries->path();
    const Format* each = format_of(path.filename().string(), path.extension().string());
    // The table's first row wins, and of its files the first by name, so that the message is always the same.
    if (each == nullptr || (format != nullptr && (each > format || (each == format && path.filename() >= file))))
      continue;
    format = each;
    file = path.filename().string();
  }
  if (format == nullptr) return;
  throw make_error(ErrorCode::unsupported, folder.string(), " has its weights only as ", formats::quoted_name(file),
                   ", which is not read; ", format->advice, ": ", format->name);
}

void refuse_weights_file(const fs::path& file) {
  (void)base::MappedFile::open(file);  // throws where its content is another than its name says
  const Format* format = format_of(file.filename().string(), file.extension().string());
  if (format == nullptr) return;
  throw make_error(ErrorCode::unsupported, file.string(), " is in a format that this version does not read; ",
                   format->advice, ": ", format->name);
}

}  // namespace alate::runtime
