#include "folders/model_verification.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/mapped_file.h"
#include "folders/blob_digest.h"
#include "folders/cache_layout.h"
#include "folders/hub_models.h"
#include "folders/manifest.h"
#include "formats/json.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 100'000, kPieceBytes = std::size_t{8} << 20;
constexpr int kDeepest = 16;
constexpr std::string_view kManifest = "model_manifest.json";

struct Expected {
  std::vector<std::string> digests;
  std::optional<std::uint64_t> size;
  bool is_there = true;
  std::uint64_t bytes = 0;  // in the folder
  std::string problem;      // why it must not be opened
};
using ExpectedFiles = std::map<std::string, Expected>;

// Links to folders are not entered.
void add_files(const fs::path& folder, const std::string& before, int depth, ExpectedFiles& files) {
  std::error_code error;
  for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    const std::string name = before + entries->path().filename().string();
    if (files.size() >= kMostEntries || depth > kDeepest)
      throw make_error(ErrorCode::resource_exhausted, folder.string(), " has more than ", kMostEntries,
                       " entries, or folders too deep in each other: it is no model's");
    std::error_code ignored;
    if (entries->symlink_status(ignored).type() == fs::file_type::directory) {
      add_files(entries->path(), name + "/", depth + 1, files);
      continue;
    }
    Expected& file = files[name];
    const std::uintmax_t bytes = entries->file_size(ignored);
    file.bytes = ignored ? 0 : bytes;
  }
  if (error) throw make_error(ErrorCode::unavailable, folder.string(), " cannot be read: ", error.message());
}

void add_blobs(const fs::path& snapshot, ExpectedFiles& files) {
  const fs::path repo = snapshot.parent_path().parent_path();
  const CachedRepo cached(repo.parent_path(), *hub_name_of(snapshot));
  for (const CachedFile& file : cached.files(snapshot.filename().string())) {
    const auto found = files.find(file.name);
    if (found == files.end()) continue;
    if (is_blob_digest(file.blob)) found->second.digests.push_back(file.blob);
    found->second.problem = file.problem;
  }
}

void add_manifest(const Manifest& manifest, ExpectedFiles& files) {
  const auto add = [&](const ManifestFile& listed, bool must_be_there) {
    const auto found = files.find(listed.name);
    if (found == files.end() && !must_be_there) return;
    Expected& file = files[listed.name];
    file.is_there = found != files.end();
    if (!listed.sha256.empty()) file.digests.push_back(listed.sha256);
    file.size = listed.size;
  };
  for (const ManifestFile& listed : manifest.files) add(listed, true);
  for (const ManifestVariant& variant : manifest.variants) {  // a variant need not have been fetched
    for (const ManifestFile& listed : variant.files) add(listed, false);
  }
}

class Verification {
 public:
  Verification(const fs::path& folder, const ReportVerify& report, std::uint64_t total)
      : folder_(folder), contained_(folder), report_(report), progress_{.done = 0, .total = total} {}

  VerifiedFile verify(const std::string& name, const Expected& expected) {
    VerifiedFile file{.name = name, .verdict = FileVerdict::unknown, .detail = {}, .bytes = expected.bytes};
    const std::uint64_t end = progress_.done + expected.bytes;
    try {
      compare(expected, file);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::cancelled) throw;
      file.verdict = FileVerdict::unreadable;
      file.detail = error.message();
    }
    progress_.done = end;
    return file;
  }

 private:
  void compare(const Expected& expected, VerifiedFile& file) {
    if (!expected.is_there) {
      file.verdict = FileVerdict::missing;
      return;
    }
    if (!expected.problem.empty()) throw Error(ErrorCode::corrupt, "it " + expected.problem);
    if (expected.size && expected.bytes != *expected.size) {
      file.verdict = FileVerdict::wrong_size;
      file.detail =
          "it has " + std::to_string(expected.bytes) + " bytes and must have " + std::to_string(*expected.size);
      return;
    }
    if (expected.digests.empty()) {
      contained_.require_file(folder_ / file.name);
      file.verdict = expected.size ? FileVerdict::good : FileVerdict::unknown;
      return;
    }
    const auto mapped = base::MappedFile::open(folder_ / file.name, base::MappedFile::Mode::map, &contained_);
    for (const std::string& wanted : expected.digests) {
      const std::string found = digest_of(mapped->bytes(), wanted);
      mapped->require_unchanged();
      if (found == wanted) continue;
      file.verdict = FileVerdict::flipped;
      file.detail = wanted.size() == 40 ? "its git digest is " : "its sha256 is ";
      file.detail += found;
      file.detail += " and must be ";
      file.detail += wanted;
      return;
    }
    file.verdict = FileVerdict::good;
  }

  std::string digest_of(std::span<const std::byte> bytes, const std::string& wanted) {
    BlobDigest digest = *BlobDigest::create(wanted, bytes.size());
    const std::uint64_t before = progress_.done;
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min(bytes.size(), kPieceBytes));
      digest.add(piece);
      bytes = bytes.subspan(piece.size());
      progress_.done += piece.size();
      if (report_) report_(progress_);
    }
    progress_.done = before;  // of a second digest of the same file; `verify` counts the file
    return digest.finish();
  }

  const fs::path& folder_;
  base::ContainedFiles contained_;
  const ReportVerify& report_;
  VerifyProgress progress_;
};

constexpr std::array<std::string_view, 6> kVerdicts = {"good",       "no digest", "flipped",
                                                       "wrong size", "missing",   "unreadable"};

}  // namespace

std::string_view to_string(FileVerdict verdict) { return kVerdicts.at(static_cast<std::size_t>(verdict)); }

bool is_bad(FileVerdict verdict) { return verdict != FileVerdict::good && verdict != FileVerdict::unknown; }

std::vector<VerifiedFile> verify_model(const fs::path& folder, const ReportVerify& report) {
  ExpectedFiles files;
  add_files(folder, "", 0, files);
  if (hub_name_of(folder)) add_blobs(folder, files);
  add_manifest(read_manifest(folder), files);
  std::uint64_t total = 0;
  for (const auto& [name, expected] : files) total += expected.bytes;
  Verification verification(folder, report, total);
  std::vector<VerifiedFile> verified;
  for (const auto& [name, expected] : files) {
    if (name != kManifest || !expected.digests.empty()) verified.push_back(verification.verify(name, expected));
  }
  return verified;
}

}  // namespace alate::folders
