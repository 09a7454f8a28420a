// Load shedding: which connection to close when there is no room for all. The client that holds most goes first, so
// that clients holding little never pay for it.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>

#include "server/http/connection.h"

namespace alate::server {

/// The greatest is shed first.
struct ShedRank {
  std::size_t held = 0;       // by the client
  bool is_idle = false;       // closing it loses nothing
  Clock::duration waiting{};  // how long the client has been inactive
  std::size_t bytes = 0;      // freed by closing it

  friend auto operator<=>(const ShedRank&, const ShedRank&) = default;
};

/// To make room for `bytes` of a body of `newcomer`: unfinished bodies of clients that hold more than it will.
std::optional<ShedRank> shed_body_rank(const Connection& connection, const ClientAccount& newcomer, std::size_t bytes,
                                       Clock::time_point now);

/// To make room for others' answers: answers not yet read by their clients.
std::optional<ShedRank> shed_answer_rank(const Connection& connection, Clock::time_point now);

/// To make room for another connection of `newcomer`: connections of clients that have more, idle ones before those
/// still in a head, and its own idle ones that have had an answer. `only_own` considers only its own, because it
/// already has its share.
std::optional<ShedRank> shed_connection_rank(const Connection& connection, const ClientAccount& newcomer, bool only_own,
                                             Clock::time_point now);

}  // namespace alate::server
