// Reports of `alate estimate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "formats/json.h"
#include "runtime/loading/memory_estimate.h"

namespace alate::app {

// A device, and whether the request fits on it: `refusal` is empty if it does.
struct Fit {
  backends::Device device;
  std::uint64_t bytes = 0;
  std::optional<std::string> refusal = std::nullopt;
};

struct Estimate {
  runtime::MemoryRequest request;  // for the first backend
  formats::Json::Object facts;     // in addition to the parts
  std::string note = {};           // a line in the text format
  std::vector<Fit> fits = {};
};

std::string estimate_json(Estimate estimate);
std::string estimate_text(const Estimate& estimate);

}  // namespace alate::app
