// Options of sampling and stopping by their names, from JSON: a model's generation_config.json, a request, a file.
#pragma once

#include <string_view>

#include "alate/sampling.h"
#include "formats/json.h"

namespace alate::generation {

/// Sets the option that is a single number or flag and has this name in alate/sampling.h; false if there is none. Null
/// leaves the option as it is. Throws invalid_argument, naming the option, for a value of the wrong type; ranges are
/// checked by check_options. A negative seed is that of its two's complement.
bool set_option(SamplingOptions& options, std::string_view name, const formats::Json& value);
bool set_option(StoppingOptions& options, std::string_view name, const formats::Json& value);

}  // namespace alate::generation
