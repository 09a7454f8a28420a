#include "alate/error.h"
#include "hub/http/http_exchange.h"

namespace alate::hub {

HttpHead exchange(const HttpUrl& url, const HttpRequest& /*request*/, const HttpLimits& /*limits*/,
                  const OnHttpHead& /*on_head*/, const OnHttpBody& /*on_body*/) {
  throw make_error(ErrorCode::unavailable, "this build does not reach the network (", url.authority(),
                   "): download the file by other means and name it with --from");
}

}  // namespace alate::hub
