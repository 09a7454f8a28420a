#include "server/clients/peer.h"

#include <string_view>

#include "server/clients/web_origins.h"

namespace alate::server {

bool is_on_this_machine(const Request& request) {
  for (const char* header : {"Forwarded", "X-Forwarded-For", "X-Real-IP"}) {
    if (request.headers.find(header) != nullptr) return false;
  }
  constexpr std::string_view kMapped = "::ffff:";  // an IPv4 address on a dual-stack socket
  std::string_view peer = request.peer;
  if (peer.starts_with(kMapped)) peer.remove_prefix(kMapped.size());
  return peer == "unix" || is_loopback(peer);
}

}  // namespace alate::server
