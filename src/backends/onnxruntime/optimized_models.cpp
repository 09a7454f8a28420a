#include "backends/onnxruntime/optimized_models.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/least_used.h"
#include "base/files/mapped_file.h"
#include "base/files/private_folder.h"
#include "base/log.h"

namespace alate::onnxruntime {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModel = "model.onnx";
constexpr const char* kSum = "fingerprint";
constexpr std::string_view kDraftMark = ".draft-";

// The fingerprint of the folder's contents.
Fingerprint sum_of(const fs::path& folder) {
  FingerprintBuilder sum;
  for (const char* const name : {kModel, OptimizedModels::kWeights}) {
    std::error_code ignored;
    const std::uintmax_t size = fs::file_size(folder / name, ignored);
    if (ignored || size == 0) continue;  // small models contain their weights
    const std::shared_ptr<const base::MappedFile> file = base::MappedFile::open(folder / name);
    sum.add(std::string_view(name)).add(file->bytes());
    file->require_unchanged();
  }
  return sum.finish();
}

std::string read_line(const fs::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

std::uintmax_t bytes_in(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::uintmax_t size = entry.file_size(ignored);
    if (!ignored) bytes += size;
  }
  return bytes;
}

// Whether only this user or root can have written it.
bool is_own(const fs::path& folder) {
  if (!base::is_trusted(folder)) return false;
  return std::ranges::all_of(std::array{kModel, OptimizedModels::kWeights, kSum},
                             [&](const char* name) { return base::is_trusted(folder / name); });
}

bool is_draft(const fs::path& folder) { return folder.filename().string().find(kDraftMark) != std::string::npos; }

}  // namespace

OptimizedModels::Draft::~Draft() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

fs::path OptimizedModels::Draft::model() const { return folder_ / kModel; }

void OptimizedModels::Draft::finish() {
  {
    std::ofstream sum(folder_ / kSum);
    sum << to_string(sum_of(folder_)) << '\n';
    if (!sum.flush()) throw make_error(ErrorCode::unavailable, "cannot write ", (folder_ / kSum).string());
  }
  // The library created the files with the process's umask; the model may be one that only its owner may read.
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) base::restrict_to_owner(entry.path());
  std::error_code error;
  fs::rename(folder_, place_, error);
  if (error) return;  // another process has put it there: this one is deleted
  folder_.clear();
  models_.make_room();
}

std::optional<fs::path> OptimizedModels::find(const Fingerprint& key) {
  const fs::path place = folder_ / to_string(key);
  std::error_code ignored;
  if (!fs::is_directory(place, ignored) || !base::is_trusted(folder_) || !is_own(place)) return std::nullopt;
  std::string found;
  try {
    found = to_string(sum_of(place));
  } catch (const Error& error) {
    found = error.message();
  }
  if (found == read_line(place / kSum)) {
    fs::last_write_time(place / kSum, fs::file_time_type::clock::now(), ignored);
    return place / kModel;
  }
  base::log(base::LogLevel::warn, "an optimized model of the cache is damaged and is made anew",
            {{"folder", place.string()}}, "the optimized model in " + place.string() + " is damaged, and is made anew");
  remove(key);
  return std::nullopt;
}

OptimizedModels::Draft OptimizedModels::begin(const Fingerprint& key) {
  std::random_device random;
  const fs::path place = folder_ / to_string(key);
  const fs::path draft = place.string() + std::string(kDraftMark) + std::to_string(random());
  base::PrivateFolder(folder_).make();
  if (!base::is_trusted(place)) throw make_error(ErrorCode::unavailable, place.string(), " is another user's");
  base::create_owner_writable_folder(draft, base::Readers::owner);
  return {draft, place, *this};
}

void OptimizedModels::remove(const Fingerprint& key) {
  std::error_code ignored;
  fs::remove_all(folder_ / to_string(key), ignored);
}

void OptimizedModels::make_room() {
  std::vector<base::CacheEntry> entries;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    if (is_draft(entry.path())) continue;
    entries.push_back({.path = entry.path(),
                       .used = fs::last_write_time(entry.path() / kSum, ignored),
                       .bytes = bytes_in(entry.path())});
  }
  base::delete_least_used(std::move(entries), most_bytes_);
}

}  // namespace alate::onnxruntime
