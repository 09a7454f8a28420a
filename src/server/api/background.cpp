#include "server/api/background.h"

#include <exception>
#include <memory>
#include <utility>

#include "server/exchange/failure.h"
#include "server/models/services.h"
#include "server/models/touch_model.h"
#include "server/pulls/asker_of.h"

namespace alate::server {
namespace {

void push(Services& services, const std::shared_ptr<Exchange>& exchange, Family family, std::function<void()> work) {
  services.work.push(exchange, [exchange, family, work = std::move(work)] {
    try {
      work();
    } catch (...) {
      fail(*exchange, family, std::current_exception());
    }
  });
}

}  // namespace

void go_on_in_background(const Call& call, std::function<void()> work) {
  push(call.services, call.exchange, call.route.family, std::move(work));
}

void answer_in_background(const Call& call, std::function<Response()> work) {
  go_on_in_background(call, [exchange = call.exchange, work = std::move(work)] { exchange->reply(work()); });
}

void answer_with_model(const Call& call, std::string_view model, std::function<Response(const HostedModel& model)> work,
                       std::optional<std::chrono::nanoseconds> keep_alive) {
  Services& services = call.services;
  services.models.acquire(
      model, {},
      [&services, exchange = call.exchange, family = call.route.family, work = std::move(work), keep_alive](
          const std::shared_ptr<HostedModel>& hosted, const std::exception_ptr& error) {
        if (error) return fail(*exchange, family, error);
        touch_model(*exchange, services.models, *hosted, keep_alive);
        push(services, exchange, family, [&services, exchange, work, hosted, keep_alive] {
          Response response = work(*hosted);
          touch_model(*exchange, services.models, *hosted, keep_alive);
          response.headers.set("X-Model-Fingerprint", to_string(hosted->pipelines.fingerprint()));
          exchange->reply(std::move(response));
        });
      },
      asker_of(call.exchange));
}

void go_on_with_model(const Call& call, std::string_view model,
                      std::function<void(Call& call, const HostedModel& model)> go_on, const ModelPurpose& purpose) {
  call.services.models.acquire(
      model, call.body.get_string("backend", ""),
      [held = std::make_shared<Call>(call), go_on = std::move(go_on)](const std::shared_ptr<HostedModel>& hosted,
                                                                      const std::exception_ptr& error) {
        if (error) return fail(*held->exchange, held->route.family, error);
        go_on_in_background(*held, [held, hosted, go_on] { go_on(*held, *hosted); });
      },
      asker_of(call.exchange), purpose);
}

}  // namespace alate::server
