// Why the model that requests get without naming one cannot be loaded: such a server is not ready.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/threads/mutex.h"
#include "server/models/model_listing.h"
#include "server/models/model_names.h"

namespace alate::server {

/// Remembers the last failure, so that asking costs nothing, however often probes ask. Thread-safe.
class DefaultModelFailure {
 public:
  using Clock = std::chrono::steady_clock;

  /// The time after which a failure may have passed though no file has changed: memory may be free again, or a runtime
  /// installed.
  static constexpr std::chrono::minutes kRetry{1};

  /// `reason` is shown to clients.
  void set(const NamedFolder& model, std::string reason, ModelListings& listings);
  /// Forgets the failure of this model; empty: of any.
  void clear(std::string_view name = {});
  /// Empty if there is no failure.
  std::string reason() const;
  /// Whether the model should be checked again: its files have changed since, or kRetry has passed. Reads the folder's
  /// names, sizes and times.
  bool is_due(ModelListings& listings, Clock::time_point now = Clock::now()) const;

 private:
  struct Failure {
    NamedFolder model;
    std::string reason;
    std::string digest;  // of the files' names, sizes and times
    Clock::time_point since;
  };

  mutable base::Mutex mutex_;
  std::optional<Failure> failure_;
};

}  // namespace alate::server
