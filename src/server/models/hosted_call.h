// What all requests that need a model have in common: waiting for it, and work on the work queue.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "server/exchange/failure.h"
#include "server/exchange/route.h"
#include "server/models/model_host.h"
#include "server/models/model_request.h"
#include "server/models/services.h"

namespace alate::server {

/// One request, from its arrival to its answer; kept alive by what it waits for.
class HostedCall : public std::enable_shared_from_this<HostedCall> {
 public:
  explicit HostedCall(Call& call)
      : services_(call.services),
        exchange_(call.exchange),
        family_(call.route.family),
        backend_(call.body.get_string("backend", "")) {}
  virtual ~HostedCall() = default;
  HostedCall(const HostedCall&) = delete;
  HostedCall& operator=(const HostedCall&) = delete;

 protected:
  using Acquired = std::function<void(std::shared_ptr<HostedModel> model, std::chrono::nanoseconds load)>;
  /// Calls `acquired` on the work queue, once the model is there; `load` is the time that it took to come, if it had to
  /// be loaded. What goes wrong is `failed`.
  void acquire(const ModelRequest& request, Acquired acquired);

  /// What a step threw.
  virtual void failed(const std::exception_ptr& error) { fail(*exchange_, family_, error); }

  // Runs a step; an exception has `failed`.
  template <typename Step>
  void guarded(const Step& step) {
    try {
      step();
    } catch (...) {
      failed(std::current_exception());
    }
  }

  void on_work_queue(std::function<void()> step) {
    services_.work.push(exchange_, [self = shared_from_this(), step = std::move(step)] { self->guarded(step); });
  }

  Services& services_;
  const std::shared_ptr<Exchange> exchange_;
  const Family family_;

 private:
  const std::string backend_;
};

}  // namespace alate::server
