// What a model's files say about it, without loading it.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "base/threads/mutex.h"
#include "server/models/model_host.h"
#include "server/models/model_names.h"

namespace alate::server {

/// The size of the files whose weights loading reads. 0 for a folder that cannot be read.
std::size_t weight_file_bytes(const std::filesystem::path& folder);

/// Thread-safe. Files are read again only when one of a folder has another size or time.
class ModelListings {
 public:
  /// Never throws for what is wrong with the files: what they do not tell stays empty.
  ModelListing of(const NamedFolder& model);

 private:
  base::Mutex mutex_;
  std::map<std::filesystem::path, ModelListing> known_;
};

}  // namespace alate::server
