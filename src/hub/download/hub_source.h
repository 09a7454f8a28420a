// A hub on the network.
#pragma once

#include <cstddef>
#include <string>

#include "hub/download/hub_access.h"
#include "hub/download/model_source.h"

namespace alate::hub {

class HubSource final : public ModelSource {
 public:
  HubSource(HubAccess access, std::size_t connections) : access_(std::move(access)), connections_(connections) {}

  std::string address() const override { return access_.endpoint().shown(); }
  RemoteModel list(const std::string& id, const std::string& revision) const override;
  std::string read_text(const std::string& id, const RemoteModel& model, const RemoteFile& file) const override;
  /// A file that changes, whose permission ends, or which is not what the hub states, is asked for again a few times.
  /// Throws as read_file_metadata, download_ranges and CacheWriter; corrupt for a wrong digest.
  void fetch(const CacheWriter& writer, const RemoteModel& model, const RemoteFile& file, bool is_blob_there,
             const std::stop_token& stop, const OnBytes& on_bytes) const override;

 private:
  HubAccess access_;
  std::size_t connections_;
};

}  // namespace alate::hub
