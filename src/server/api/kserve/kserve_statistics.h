// Statistics of models in the format of Triton's extension of the KServe protocol.
#pragma once

#include <string_view>

#include "formats/json.h"
#include "server/metrics/model_statistics.h"

namespace alate::server {

/// An entry of "model_stats". The cache counts are 0: results that were kept count as computed in no time.
formats::Json kserve_statistics(std::string_view model, const ModelStatistics::Snapshot& totals);

}  // namespace alate::server
