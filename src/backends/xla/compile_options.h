// The options that a plugin compiles with: XLA's CompileOptionsProto.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace alate::xla {

/// XLA's debug options by name; values as text ("false", "2", "fast").
using Settings = std::map<std::string, std::string, std::less<>>;

/// The serialized options for one replica of one partition on the device of this id.
std::string compile_options(std::int64_t device_id, const Settings& settings);

/// The settings that the reference's semantics require of XLA on processors, where its defaults trade exactness for
/// speed: minima and maxima that propagate NaN, and no algebra that holds only for real numbers.
Settings exact_settings();

}  // namespace alate::xla
