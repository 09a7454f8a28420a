// Options that recognize and redact share.
#pragma once

#include "alate/recognize.h"
#include "alate/tensor.h"
#include "apps/alate/arguments.h"

namespace alate::app {

/// Declares --labels, --threshold and --aggregation.
void declare(Arguments& arguments, RecognizeOptions& options);

/// Adds what answers depend on, but for long texts.
void add(FingerprintBuilder& identity, const RecognizeOptions& options);

}  // namespace alate::app
