// A place that has models in the form of a hub: a server, or a folder with the same layout.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "hub/download/cache_writer.h"
#include "hub/download/ranged_download.h"
#include "hub/download/remote_model.h"

namespace alate::hub {

/// Immutable; safe to share among threads. Functions throw the errors of the network and of files.
class ModelSource {
 public:
  virtual ~ModelSource() = default;
  /// Where it is, without credentials.
  virtual std::string address() const = 0;
  /// REQUIRES: is_repo_id(id), is_revision(revision).
  virtual RemoteModel list(const std::string& id, const std::string& revision) const = 0;
  /// A small file of the listed model.
  virtual std::string read_text(const std::string& id, const RemoteModel& model, const RemoteFile& file) const = 0;
  /// Brings a file into the cache and links it in the snapshot; its blob may be there already.
  virtual void fetch(const CacheWriter& writer, const RemoteModel& model, const RemoteFile& file, bool is_blob_there,
                     const std::stop_token& stop, const OnBytes& on_bytes) const = 0;
};

/// How the list of files of a model is called in errors.
std::string listing_name(const std::string& id);

}  // namespace alate::hub
