// What a hub says about a model: its commit and files. Everything in it is untrusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace alate::hub {

inline constexpr std::size_t kMostListingBytes = std::size_t{32} << 20;
inline constexpr std::size_t kMostRemoteFiles = 50'000;
inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 43;

struct RemoteFile {
  std::string name;                         // a relative path with /
  std::optional<std::uint64_t> bytes = {};  // if the hub states it
  std::string digest = {};                  // 64 digits: sha256; 40: git's sha1 of a blob; empty: not stated
};

struct RemoteModel {
  std::string commit;         // is_commit_hash
  std::string revision = {};  // that was asked for
  std::string gated = {};     // "auto", "manual": whose licence must be accepted first; empty: not, as far as stated
  std::string licence = {};   // of its card; empty: not stated
  std::string task = {};      // "text-ranking"; empty: not stated
  std::vector<RemoteFile> files;
};

/// Parses the answer of /api/models/ID/revision/REVISION?blobs=true; `what` is for messages. Throws corrupt for text of
/// another form, and for a file whose name leads out of the model's folder: "..", an absolute path, a backslash, a
/// control character; resource_exhausted for more than kMostRemoteFiles, or one larger than
/// kMostFileBytes.
RemoteModel parse_remote_model(std::string_view text, const std::string& what);

/// Throws corrupt for a name that not every file system can hold (a device's name, "a:b", "a.", more than 1024 bytes),
/// and for two names that some file systems take for one: that differ in case or Unicode normal form only, or where one
/// is the other's folder.
void require_portable_names(const std::vector<RemoteFile>& files, const std::string& what);

}  // namespace alate::hub
