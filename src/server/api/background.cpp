#include "server/api/background.h"

#include <exception>
#include <memory>
#include <utility>

#include "server/failure.h"
#include "server/models/touch_model.h"
#include "server/pulls/asker_of.h"
#include "server/services.h"

namespace alate::server {
namespace {

void answer(Exchange& exchange, Family family, const std::function<Response()>& work) {
  if (exchange.abandoned()) return;
  try {
    exchange.reply(work());
  } catch (...) {
    fail(exchange, family, std::current_exception());
  }
}

}  // namespace

void answer_in_background(const Call& call, std::function<Response()> work) {
  call.services.work.push([exchange = call.exchange, family = call.route.family, work = std::move(work)] {
    answer(*exchange, family, work);
  });
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
        services.work.push([&services, exchange, family, work, hosted, keep_alive] {
          answer(*exchange, family, [&] {
            Response response = work(*hosted);
            touch_model(*exchange, services.models, *hosted, keep_alive);
            response.headers.set("X-Model-Fingerprint", to_string(hosted->pipelines.fingerprint()));
            return response;
          });
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
        if (held->exchange->abandoned()) return;
        try {
          if (error) std::rethrow_exception(error);
          go_on(*held, *hosted);
        } catch (...) {
          fail(*held->exchange, held->route.family, std::current_exception());
        }
      },
      asker_of(call.exchange), purpose);
}

}  // namespace alate::server
