// What the library warns of while a test looks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "alate/log.h"

namespace alate::base {

/// Warnings of its lifetime, each as "sentence key=value key=value". For code of one thread; one at a time.
class LoggedWarnings {
 public:
  LoggedWarnings() {
    set_log_sink([this](const LogEvent& event) {
      std::string line(event.event);
      for (const LogField& field : event.fields) line += " " + std::string(field.key) + "=" + field.value;
      lines_.push_back(std::move(line));
    });
  }
  ~LoggedWarnings() { set_log_sink({}); }
  LoggedWarnings(const LoggedWarnings&) = delete;
  LoggedWarnings& operator=(const LoggedWarnings&) = delete;

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

}  // namespace alate::base
