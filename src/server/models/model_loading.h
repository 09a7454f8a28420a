// Loading of hosted models.
#pragma once

#include <filesystem>
#include <memory>

#include "runtime/batching/batch_scheduler.h"
#include "runtime/loading/load_request.h"
#include "server/models/model_host.h"
#include "server/models/model_names.h"

namespace alate::server {

/// The options for loading and running a model.
struct HostingOptions {
  runtime::LoadRequest load;
  runtime::BatchSchedulerOptions batches;
  runtime::BatchObserver observer;
};

/// Batches are counted in `statistics`. Throws an alate::Error that names the model and no local path; the log has the
/// full message.
std::unique_ptr<HostedModel> load_hosted_model(const NamedFolder& model, const HostingOptions& options,
                                               std::shared_ptr<ModelStatistics> statistics);

/// Throws the error with which load_hosted_model would fail, without loading the model: pipelines::check_loadable.
void check_hosted_model(const NamedFolder& model, const HostingOptions& options);

}  // namespace alate::server
