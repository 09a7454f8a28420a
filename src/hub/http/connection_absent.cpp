#include "alate/error.h"
#include "hub/http/connection.h"

namespace alate::hub {

std::unique_ptr<Connection> connect_to(const HttpUrl& url, std::chrono::milliseconds /*timeout*/, bool& /*is_proxied*/,
                                       std::stop_token /*stop*/) {
  throw make_error(ErrorCode::unavailable, "this build does not reach the network (", url.authority(),
                   "): download the file by other means and name it with --from");
}

}  // namespace alate::hub
