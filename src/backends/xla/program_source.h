// The source of programs for one device: the plugin's compiler, or the disk cache.
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
  /// `settings` come from the model's manifest and override the default settings. With a cache, programs are kept in
  /// it, under a key of the plugin's file, the device's kind, the settings and the text.
  ProgramSource(std::shared_ptr<const Client> client, std::size_t device, const Settings& settings,
                std::optional<CompileCache> cache);

  const std::shared_ptr<const Client>& client() const { return client_; }
  std::size_t device() const { return device_; }

  /// The program of a module in textual StableHLO. Throws with the compiler's message.
  Program program(std::string_view module) const;

 private:
  Program compile(std::string_view module) const;
  /// The program and where it came from, for the log.
  std::pair<Program, const char*> find_or_compile(std::string_view module) const;

  std::shared_ptr<const Client> client_;
  std::size_t device_;
  std::string options_, plain_options_;  // plain: for plugins that do not know the default settings
  std::optional<CompileCache> cache_;
  Fingerprint maker_;  // of all that determines a program except its text
};

}  // namespace alate::xla
