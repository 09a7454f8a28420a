#include "server/models/hosted_call.h"

#include "server/pulls/asker_of.h"

namespace alate::server {

void HostedCall::acquire(const ModelRequest& request, Acquired acquired) {
  const Clock::time_point asked = Clock::now();
  services_.models.acquire(
      request.model, request.backend.empty() ? backend_ : request.backend,
      [self = shared_from_this(), asked, acquired = std::move(acquired)](const std::shared_ptr<HostedModel>& model,
                                                                         const std::exception_ptr& error) {
        self->guarded([&] {
          if (error) std::rethrow_exception(error);
          const auto waited = Clock::now() - asked;
          const auto load = waited > std::chrono::milliseconds(1) ? waited : std::chrono::nanoseconds();
          self->on_work_queue([acquired, model, load] { acquired(model, load); });
        });
      },
      asker_of(exchange_), request.purpose);
}

}  // namespace alate::server
