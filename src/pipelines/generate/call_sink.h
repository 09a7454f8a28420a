// Gets the calls of an answer as they are read.
#pragma once

#include <cstddef>
#include <string_view>

namespace alate::pipelines {

class CallSink {
 public:
  CallSink() = default;
  virtual ~CallSink() = default;
  CallSink(const CallSink&) = delete;
  CallSink& operator=(const CallSink&) = delete;

  /// A call begins.
  virtual void name(std::string_view tool) = 0;
  /// More of the JSON text of its arguments.
  virtual void arguments(std::string_view text) = 0;
};

inline constexpr std::size_t kMostToolName = 128;
/// Letters, digits, "_", "-" and ".": what every format can write without quotes.
bool is_tool_name(std::string_view name);

}  // namespace alate::pipelines
