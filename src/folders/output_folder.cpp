#include "folders/output_folder.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "base/files/contained_files.h"
#include "base/files/mapped_file.h"
#include "base/files/write_error.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kFolderMode = 0777;  // before the umask

constexpr std::array<std::string_view, 13> kWeightEndings = {".safetensors", ".safetensors.index.json",
                                                             ".bin",         ".bin.index.json",
                                                             ".h5",          ".msgpack",
                                                             ".onnx",        ".onnx_data",
                                                             ".ot",          ".gguf",
                                                             ".pt",          ".pth",
                                                             ".ckpt"};
constexpr std::array<std::string_view, 3> kOtherFormats = {"onnx", "openvino", "coreml"};

[[noreturn]] void fail(const fs::path& path, std::string_view what, const std::error_code& error) {
  throw make_error(base::write_error_code(error), path.string(), " cannot be ", what, ": ", error.message());
}

[[noreturn]] void refuse_existing(const fs::path& target) {
  throw make_error(ErrorCode::invalid_argument, "'", target.string(),
                   "' exists: name a folder that does not, nothing is written over");
}

bool is_weight_file(std::string_view name) {
  return std::ranges::any_of(kWeightEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

constexpr int kDeepestFolder = 16;

// Copies a file, or a folder with its files and folders; follows links that stay in the model's folder.
void copy_entry(const fs::path& from, const fs::path& to, const base::ContainedFiles& model, int depth = 0) {
  if (!fs::is_directory(from)) {
    const auto file = base::MappedFile::open(from, base::MappedFile::Mode::read, &model);
    base::write_file_atomically(to, file->bytes());
    return;
  }
  if (depth == kDeepestFolder)
    throw make_error(ErrorCode::invalid_argument, from.string(), " is too deep in folders to be copied");
  std::error_code error;
  fs::create_directory(to, error);
  if (error) fail(to, "made", error);
  for (const fs::directory_entry& entry : fs::directory_iterator(from, error))
    copy_entry(entry.path(), to / entry.path().filename(), model, depth + 1);
  if (error) fail(from, "read", error);
}

// Copies what is not to be quantized of one level; `inner` leads to the folder of the weights below it.
void copy_level(const fs::path& from, const fs::path& to, const fs::path& inner, const base::ContainedFiles& model) {
  const std::string next = inner.empty() ? std::string() : inner.begin()->string();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(from, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.')) continue;
    if (entry.is_directory() && name == next) {
      std::error_code made;
      fs::create_directory(to / name, made);
      if (made) fail(to / name, "made", made);
      fs::path rest;
      for (auto part = std::next(inner.begin()); part != inner.end(); ++part) rest /= *part;
      copy_level(entry.path(), to / name, rest, model);
    } else if (entry.is_directory()) {
      if (std::ranges::find(kOtherFormats, name) == kOtherFormats.end()) copy_entry(entry.path(), to / name, model);
    } else if (entry.is_regular_file() && name != "config.json" && !is_weight_file(name)) {
      copy_entry(entry.path(), to / name, model);
    }
  }
  if (error) fail(from, "read", error);
}

}  // namespace

OutputFolder::OutputFolder(fs::path target) : target_(std::move(target)) {
  if (!target_.has_filename()) target_ = target_.parent_path();  // "folder/"
  std::error_code error;
  if (target_.empty()) throw Error(ErrorCode::invalid_argument, "name a folder to write");
  if (fs::symlink_status(target_, error).type() != fs::file_type::not_found) refuse_existing(target_);
  const fs::path parent = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  if (!fs::is_directory(parent, error))
    throw make_error(ErrorCode::not_found, "there is no folder ", parent.string(), " to write into");
  base::remove_abandoned_entries(target_, base::EntryKind::folder);
  folder_.emplace(target_, base::EntryKind::folder, kFolderMode);
}

void OutputFolder::copy_others(const fs::path& model, const fs::path& transformer) const {
  copy_level(model, path(), transformer, base::ContainedFiles(model));
}

void OutputFolder::finish() {
  std::error_code error;
  if (fs::symlink_status(target_, error).type() != fs::file_type::not_found) refuse_existing(target_);
  folder_->publish();
}

}  // namespace alate::folders
