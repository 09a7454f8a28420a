// Options that recognize and redact share.
#pragma once

#include <string_view>

#include "alate/recognize.h"
#include "alate/tensor.h"
#include "apps/alate/arguments.h"

namespace alate::app {

/// Declares --labels, --threshold and --aggregation.
void declare(Arguments& arguments, RecognizeOptions& options);

/// Throws invalid_argument for what is no number from 0 to 1.
float parse_score(std::string_view text);

/// Adds what answers depend on, but for long texts.
void add(FingerprintBuilder& identity, const RecognizeOptions& options);

}  // namespace alate::app
