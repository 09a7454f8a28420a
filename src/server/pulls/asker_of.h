// The asker behind a request.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "server/exchange/exchange.h"
#include "server/pulls/pulls.h"

namespace alate::server {

/// The client of a request, who leaves when it is abandoned.
inline Asker asker_of(const std::shared_ptr<Exchange>& exchange) {
  return {.client = exchange->client_id, .on_leave = [weak = std::weak_ptr(exchange)](std::function<void()> leave) {
            const std::shared_ptr<Exchange> there = weak.lock();
            return there ? there->on_abandon(std::move(leave)) : leave();
          }};
}

}  // namespace alate::server
