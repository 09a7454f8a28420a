#include "server/http/shedding.h"

namespace alate::server {

std::optional<ShedRank> shed_body_rank(const Connection& connection, const ClientAccount& newcomer, std::size_t bytes,
                                       Clock::time_point now) {
  const Connection::Holding body = connection.unfinished_body();
  if (body.client == nullptr || body.client->bodies <= newcomer.bodies + bytes) return std::nullopt;
  return ShedRank{.held = body.client->bodies, .waiting = now - body.since, .bytes = body.bytes};
}

std::optional<ShedRank> shed_answer_rank(const Connection& connection, Clock::time_point now) {
  const Connection::Holding answer = connection.unread_answer();
  if (answer.client == nullptr) return std::nullopt;
  return ShedRank{.held = answer.client->answers, .waiting = now - answer.since, .bytes = answer.bytes};
}

std::optional<ShedRank> shed_connection_rank(const Connection& connection, const ClientAccount& newcomer, bool only_own,
                                             Clock::time_point now) {
  if (connection.surplus()) return std::nullopt;
  const ClientAccount& client = connection.account();
  if (&client == &newcomer) {
    if (!connection.idle() || !connection.has_answered()) return std::nullopt;
  } else {
    const bool has_more = client.connections > newcomer.connections + 1;
    if (only_own || !has_more || !(connection.idle() || connection.in_head())) return std::nullopt;
  }
  return ShedRank{
      .held = client.connections, .is_idle = connection.idle(), .waiting = now - connection.idle_since(), .bytes = 0};
}

}  // namespace alate::server
