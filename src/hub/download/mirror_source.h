// A folder with the files of a hub, under the paths of its addresses:
//   ROOT/api/models/OWNER/NAME/revision/REVISION   the answer of that route, with ?blobs=true
//   ROOT/OWNER/NAME/resolve/REVISION/FILE          REVISION as asked for, or the commit
// or a model's plain folder ROOT/OWNER/NAME, without such a list.
#pragma once

#include <filesystem>
#include <string>

#include "hub/download/model_source.h"

namespace alate::hub {

class MirrorSource final : public ModelSource {
 public:
  explicit MirrorSource(std::filesystem::path root) : root_(std::move(root)) {}

  std::string address() const override { return "file://" + std::filesystem::absolute(root_).generic_string(); }
  /// Of a plain folder: its files but hidden ones, with their digests, and a digest of these as the commit. Throws
  /// not_found where the mirror has no list of files of the model and the folder is no model's, corrupt for a list
  /// without digests.
  RemoteModel list(const std::string& id, const std::string& revision) const override;
  std::string read_text(const std::string& id, const RemoteModel& model, const RemoteFile& file) const override;
  /// Throws not_found for a missing file, and corrupt for a wrong digest or a link that leads out of the model's
  /// folder.
  void fetch(const CacheWriter& writer, const RemoteModel& model, const RemoteFile& file, bool is_blob_there,
             const std::stop_token& stop, const OnBytes& on_bytes) const override;

 private:
  std::filesystem::path list_of(const std::string& id, const std::string& revision) const;
  /// Whether it is a model's folder with no list beside it.
  bool is_plain(const std::string& id) const;
  std::filesystem::path find(const std::string& id, const RemoteModel& model, const RemoteFile& file) const;

  std::filesystem::path root_;
};

}  // namespace alate::hub
