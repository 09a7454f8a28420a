// How a hosted model comes and goes.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

#include "alate/model.h"
#include "runtime/batch_scheduler.h"
#include "server/model_host.h"
#include "server/model_names.h"

namespace alate::server {

/// Where models go when nobody holds them any more. To destroy one waits for its thread, and gives back much memory:
/// that is for a queue, not for the thread that happened to hold it last. Thread-safe.
class ModelGraveyard {
 public:
  explicit ModelGraveyard(WorkQueue& queue) : queue_(&queue) {}
  /// From now on models are destroyed at once: the queue may go.
  void close();
  /// Takes the model.
  void bury(HostedModel* model);

 private:
  std::mutex mutex_;
  WorkQueue* queue_;
};

/// The settings that a model is loaded and run with.
struct HostingOptions {
  LoadOptions load;
  runtime::BatchSchedulerOptions batches;
  runtime::BatchObserver observer;
};

/// `key` is the host's. Throws an alate::Error that names the model and no path of this machine; the log has it whole.
std::shared_ptr<HostedModel> load_hosted_model(const NamedFolder& model, const std::string& key,
                                               const HostingOptions& options,
                                               const std::shared_ptr<ModelGraveyard>& graveyard);

/// Bytes that a loaded model's weights take in memory.
std::size_t bytes_in_memory(const HostedModel& model);

}  // namespace alate::server
