// What one request may read, compute and answer.
#pragma once

#include <cstddef>

#include "pipelines/calls/call_limits.h"

namespace alate::server {

inline constexpr pipelines::CallLimits kRequestLimits{
    .read_bytes = std::size_t{64} << 20, .row_tokens = std::size_t{16} << 20, .answer_bytes = std::size_t{64} << 20};

}  // namespace alate::server
