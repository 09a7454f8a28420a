// The answer to a request of HTTP/1.1, whose body is streamed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alate::net {

class Connection;

/// The status line and the header of an answer.
struct AnswerHead {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> fields = {};  // names in lower case
  std::optional<std::uint64_t> length = {};                      // of the body, if the header states it

  /// The field's last value; empty if it is absent. `name` is in lower case.
  std::string_view field(std::string_view name) const {
    const auto found =
        std::find_if(fields.rbegin(), fields.rend(), [&](const auto& each) { return each.first == name; });
    return found == fields.rend() ? std::string_view() : found->second;
  }
};

/// Told of an answer before its body; the body is read if it returns true.
using OnAnswerHead = std::function<bool(const AnswerHead&)>;
using OnAnswerBody = std::function<void(std::span<const std::byte>)>;

struct AnswerLimits {
  std::string name;      // what is asked for, in messages
  bool is_head = false;  // the request was HEAD, so there is no body whatever the header says
  std::uint64_t max_bytes = 0;
};

/// Reads one answer; interim ones (1xx) are skipped. Throws unavailable for network failures and for an answer that is
/// no HTTP or ends early; deadline_exceeded for one that stops or drips; cancelled; resource_exhausted for more than
/// max_bytes; and whatever the functions throw.
AnswerHead read_answer(Connection& connection, const AnswerLimits& limits, const OnAnswerHead& on_head,
                       const OnAnswerBody& on_body);

}  // namespace alate::net
