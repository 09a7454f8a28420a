#include "folders/convert_folder.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "base/files/mapped_file.h"
#include "folders/manifest_writer.h"
#include "folders/output_folder.h"
#include "formats/folder_weights.h"
#include "formats/safetensors/safetensors_writer.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;
using formats::WeightFormat;

struct Converted {
  ConvertReport total;
  std::vector<fs::path> files;  // that tensors were read from
};

// Adds the weights of `from`, a folder or a file, as one file in `to`.
void write_weights(const fs::path& from, const fs::path& to, const std::function<void(const ConvertProgress&)>& report,
                   Converted& converted) {
  const auto weights = std::make_shared<const formats::FolderWeights>(
      fs::is_directory(from) ? formats::FolderWeights::open(from) : formats::FolderWeights::open_file(from));
  std::vector<formats::NamedTensor> tensors;
  for (const std::string_view name : weights->names()) tensors.push_back({std::string(name), weights->tensor(name)});
  const auto written = [&](std::size_t done) {
    if (report) report({.done = done, .total = tensors.size()});
  };
  formats::write_safetensors(to / formats::weight_formats().front().single, tensors, {{"format", "pt"}}, written);
  weights->require_unchanged();
  converted.total.tensors += tensors.size();
  converted.total.bytes += weights->stored_bytes();
  for (const formats::WeightFile& file : weights->files()) converted.files.push_back(file.path);
}

bool has_weights(const fs::path& folder) {
  return std::ranges::any_of(formats::weight_formats(),
                             [&](const WeightFormat& format) { return format.is_in(folder); });
}

// The weights that were copied with a module's folder.
void remove_other_weights(const fs::path& folder) {
  for (const WeightFormat& format : formats::weight_formats().subspan(1)) {
    for (const std::string_view name : {format.single, format.index}) {
      std::error_code ignored;
      fs::remove(folder / name, ignored);
    }
  }
}

}  // namespace

ConvertReport convert_folder(const fs::path& model, const fs::path& out, const base::FileDigests& digests,
                             const ConvertOptions& options) {
  OutputFolder output(out);
  Converted converted, modules;
  const fs::path& variant = options.weights_file;
  if (!variant.empty() || has_weights(model))
    write_weights(variant.empty() ? model : variant, output.path(), options.report, converted);
  output.copy_others(model);
  if (base::is_there(model / "config.json")) {  // not where the transformer has a folder of its own
    const base::ContainedFiles contained(model);
    const std::string config = base::read_text_file(model / "config.json", base::kMaxTextBytes, &contained);
    base::write_file_atomically(output.path() / "config.json", std::as_bytes(std::span(config)));
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(output.path())) {
    if (!entry.is_directory() || !has_weights(entry.path())) continue;
    const bool is_written = formats::weight_formats().front().is_in(entry.path());
    if (!is_written) write_weights(entry.path(), entry.path(), {}, modules);
    remove_other_weights(entry.path());
  }
  ConvertReport total = converted.total;
  total.tensors += modules.total.tensors;
  total.bytes += modules.total.bytes;
  if (total.tensors == 0)
    throw make_error(ErrorCode::not_found, model.string(), " has no weights to convert, in no folder of it");
  write_manifest(output.path(), output.name(),
                 {.source = model,
                  .source_files = std::move(converted.files),
                  .command = "convert",
                  .type = options.type,
                  .capabilities = options.capabilities},
                 digests);
  output.finish();
  return total;
}

}  // namespace alate::folders
