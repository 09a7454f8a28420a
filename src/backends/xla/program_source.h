// Where programs for one device come from: the plugin's compiler, or the disk.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/xla/client.h"
#include "backends/xla/compile_cache.h"

namespace alate::xla {

/// Thread-safe.
class ProgramSource {
 public:
  /// `settings` are of the model's manifest, over the ones that are always set. With a cache, programs are kept in it,
  /// named by the plugin's file, the device's kind, the settings and the text.
  ProgramSource(std::shared_ptr<const Client> client, std::size_t device, const Settings& settings,
                std::optional<CompileCache> cache);

  const std::shared_ptr<const Client>& client() const { return client_; }
  std::size_t device() const { return device_; }

  /// The program of a module in textual StableHLO. Throws with the compiler's message.
  Program program(std::string_view module) const;

 private:
  Program compile(std::string_view module) const;
  /// With where it came from, for the log.
  std::pair<Program, const char*> find_or_compile(std::string_view module) const;

  std::shared_ptr<const Client> client_;
  std::size_t device_;
  std::string options_, plain_options_;  // plain: of a plugin that does not know the settings that are always set
  std::optional<CompileCache> cache_;
  Fingerprint maker_;  // of all but the text
};

}  // namespace alate::xla
