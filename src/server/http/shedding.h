// Which connection goes when there is no room for all: of the client that holds most, so that those who hold little
// never pay for it.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>

#include "server/http/connection.h"

namespace alate::server {

/// The greatest goes first.
struct ShedRank {
  std::size_t held = 0;       // by the client
  bool is_idle = false;       // nothing is lost with it
  Clock::duration waiting{};  // how long the client has done nothing
  std::size_t bytes = 0;      // that end with it

  friend auto operator<=>(const ShedRank&, const ShedRank&) = default;
};

/// For `bytes` of a body of `newcomer`: unfinished bodies of clients that hold more than it will.
std::optional<ShedRank> shed_body_rank(const Connection& connection, const ClientAccount& newcomer, std::size_t bytes,
                                       Clock::time_point now);

/// For others' answers: answers that their clients have not taken.
std::optional<ShedRank> shed_answer_rank(const Connection& connection, Clock::time_point now);

/// For a further connection of `newcomer`: connections of clients that have more, idle ones before those in a head; and
/// idle ones of its own that have had an answer. `only_own`: no others, since it has its share.
std::optional<ShedRank> shed_connection_rank(const Connection& connection, const ClientAccount& newcomer, bool only_own,
                                             Clock::time_point now);

}  // namespace alate::server
