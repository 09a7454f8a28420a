// The options that a session is created with.
#pragma once

#include <map>
#include <string>

#include "backends/onnxruntime/library.h"

namespace alate::onnxruntime {

using OwnedSessionOptions = Owned<abi::SessionOptions>;
using GivenOptions = std::map<std::string, std::string, std::less<>>;

/// Defaults: all optimizations, and threads that sleep between runs, since spinning ones would take processor time from
/// other work. The library's processor provider repacks the weights of matrix products, which is a second copy of them;
/// "session.disable_prepacking": "1" avoids the copy and is slower.
///
/// `given` overrides the defaults. intra_op_num_threads and inter_op_num_threads (at most `threads`),
/// graph_optimization_level (0, 1, 2, 99, or disabled, basic, extended, all) and execution_mode (sequential, parallel)
/// are set; every other key is the library's own ("session.…"), which takes any: settings from a model's folder have
/// passed backends::checked_session_option before. Throws invalid_argument for a value that one of the four cannot
/// have.
OwnedSessionOptions make_session_options(const Library& library, std::size_t threads, const GivenOptions& given);

/// Sets one of the library's own keys.
void set_entry(const Library& library, abi::SessionOptions* options, const char* key, const char* value);

}  // namespace alate::onnxruntime
