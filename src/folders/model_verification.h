// Comparing a model's files with the digests that its publisher stated.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace alate::folders {

enum class FileVerdict {
  good,        // as stated
  unknown,     // nothing is stated about it
  flipped,     // of the stated size, with other bytes
  wrong_size,  //
  missing,     //
  unreadable,  // no regular file, a link out of the model, or refused by the system
};
/// "good", "no digest", "flipped", "wrong size", "missing", "unreadable".
std::string_view to_string(FileVerdict verdict);
/// Whether the file differs from what is stated.
bool is_bad(FileVerdict verdict);

struct VerifiedFile {
  std::string name;  // relative to the model's folder
  FileVerdict verdict = FileVerdict::unknown;
  std::string detail;  // "its sha256 is … and must be …"
  std::uint64_t bytes = 0;
};

struct VerifyProgress {
  std::uint64_t done = 0, total = 0;  // bytes
};
using ReportVerify = std::function<void(const VerifyProgress&)>;

/// Reads every file of a model's folder, sorted by name, and those that its manifest lists but the folder lacks. A
/// digest is that of the manifest or, for a file of huggingface_hub's cache, the name of its blob: 64 hexadecimal
/// digits are a SHA-256, 40 are git's SHA-1. Where both are known both must hold. What `report` throws ends it. Throws
/// as read_manifest; resource_exhausted for a folder with more than 100,000 entries.
std::vector<VerifiedFile> verify_model(const std::filesystem::path& folder, const ReportVerify& report = {});

}  // namespace alate::folders
