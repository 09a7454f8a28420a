// Describes a model from its files, without loading it.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "base/threads/mutex.h"
#include "server/models/model_host.h"
#include "server/models/model_names.h"

namespace alate::server {

/// Total size of the weight files that loading a folder, or the file of a variant, would read. 0 if it is unreadable.
std::size_t weight_file_bytes(const std::filesystem::path& model);

/// Thread-safe. Rereads files only if the size or time of one in the folder has changed.
class ModelListings {
 public:
  /// Never throws for faulty files: fields they do not provide stay empty.
  ModelListing of(const NamedFolder& model);

 private:
  base::Mutex mutex_;
  std::map<std::filesystem::path, ModelListing> known_;
};

}  // namespace alate::server
