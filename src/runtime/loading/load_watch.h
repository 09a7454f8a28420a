// The load of a model as its caller watches it.
#pragma once

#include <cstdint>
#include <set>

#include "alate/tensor.h"
#include "base/threads/cancellation.h"
#include "base/threads/controlled_call.h"
#include "graph/constant.h"

namespace alate::runtime {

/// What may end a load, and who is told of it. Used on the thread that loads.
class LoadWatch {
 public:
  /// Nothing ends the load, and nobody is told.
  LoadWatch() = default;
  /// Nobody is told.
  explicit LoadWatch(const base::Cancellation& cancellation) : cancellation_(cancellation) {}
  /// `call` must outlive this.
  explicit LoadWatch(const base::ControlledCall& call) : cancellation_(call.cancellation()), told_(&call) {}
  LoadWatch(const LoadWatch&) = delete;
  LoadWatch& operator=(const LoadWatch&) = delete;

  const base::Cancellation& cancellation() const { return cancellation_; }
  /// Throws cancelled.
  void check() const { cancellation_.check(); }

  /// The bytes of the model's weights are known.
  void begin(std::uint64_t bytes);
  /// A constant has been prepared. Each weight that it is made of counts once, whichever backend was tried.
  void prepared(const graph::Constant& constant);
  /// The load is done: weights that no backend had to prepare count too.
  void finish();

 private:
  void count(const graph::Constant& constant);
  void report(std::uint64_t done);

  base::Cancellation cancellation_ = base::Cancellation::never();
  const base::ControlledCall* told_ = nullptr;
  std::uint64_t total_ = 0, counted_ = 0, reported_ = 0;
  std::set<Fingerprint> seen_;
};

}  // namespace alate::runtime
