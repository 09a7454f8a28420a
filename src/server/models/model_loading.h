// Loading of hosted models.
#pragma once

#include <filesystem>
#include <memory>

#include "runtime/batching/batch_scheduler.h"
#include "runtime/loading/load_request.h"
#include "server/models/model_deleter.h"
#include "server/models/model_host.h"
#include "server/models/model_names.h"

namespace alate::server {

/// The options for loading and running a model.
struct HostingOptions {
  runtime::LoadRequest load;
  runtime::BatchSchedulerOptions batches;
  runtime::BatchObserver observer;
};

/// `key` is the host's; batches are counted in `statistics`. Throws an alate::Error that names the model and no local
/// path; the log has the full message.
std::shared_ptr<HostedModel> load_hosted_model(const NamedFolder& model, const std::string& key,
                                               const HostingOptions& options,
                                               std::shared_ptr<ModelStatistics> statistics,
                                               const std::shared_ptr<DeferredDeleter>& deleter);

/// Throws the error with which load_hosted_model would fail, without loading the model: pipelines::check_loadable.
void check_hosted_model(const NamedFolder& model, const HostingOptions& options);

/// Bytes that a loaded model's weights occupy in memory.
std::size_t bytes_in_memory(const HostedModel& model);

}  // namespace alate::server
