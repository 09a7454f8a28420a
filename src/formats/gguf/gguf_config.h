// A GGUF file's metadata as the config.json that transformers has for the model.
#pragma once

#include <cstdint>

#include "formats/gguf/gguf_model.h"
#include "formats/json.h"

namespace alate::formats {

struct GgufHeads {
  std::int64_t query = 0, key = 0;
};
/// Both are 1 or more. Throws corrupt for counts that are missing, of another type or that do not divide.
GgufHeads gguf_heads(const GgufModel& model);

/// The members of config.json that the families' classes read, all of them stated. `rope_scaling` may be of the kind
/// "factors", which only GGUF has: a divisor for each frequency. A `pooling` of "mean", "cls" or "last" is that of an
/// embedder. Throws as find_gguf_family; corrupt, naming file and key, for metadata that are missing, of another type
/// or impossible; unsupported, naming it, for what no such class computes.
Json gguf_config(const GgufModel& model);

}  // namespace alate::formats
