// What a plugin is told besides the program: XLA's CompileOptionsProto.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace alate::xla {

/// Settings of XLA's debug options by name; values as text ("false", "2", "fast").
using Settings = std::map<std::string, std::string, std::less<>>;

/// The message for one replica of one partition on the device of this id.
std::string compile_options(std::int64_t device_id, const Settings& settings);

/// What the reference's semantics ask of XLA on processors, where it is fast and loose otherwise: minima and maxima
/// that give NaN for NaN, and no algebra that holds for real numbers only.
Settings exact_settings();

}  // namespace alate::xla
