// The machine as seen by selection: a value, so that tests can make one up.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"

namespace alate::machine {

struct BackendState {
  std::string name;
  std::vector<std::string> aliases = {};
  std::string sentence = {};                   // a description
  std::vector<backends::Device> devices = {};  // usable ones have passed their self-test
  std::vector<std::string> reads_files = {};   // extensions of model files that it runs directly: ".onnx"
  std::string reason = {};                     // why no device is usable; empty if one is
  std::string remedy = {};                     // what to do about it
  bool is_probed = true;                       // false: not needed yet, so its library was not opened
  bool is_automatic = true;                    // false: used only when asked for by name

  bool is_available() const { return reason.empty(); }
};

struct Machine {
  std::vector<BackendState> backends;  // in the registry's order

  /// By name or alias; null when there is none.
  const BackendState* find(std::string_view name) const;
};

}  // namespace alate::machine
