#include "server/models/model_loading.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/log.h"
#include "folders/hub_models.h"
#include "formats/json.h"
#include "pipelines/check_loadable.h"
#include "pipelines/generate/generator_state.h"
#include "runtime/batching/batch_work.h"
#include "server/exchange/refuse.h"
#include "server/models/hosting_options.h"
#include "server/models/model_listing.h"

namespace alate::server {
namespace {

using Clock = std::chrono::steady_clock;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos && !what.empty(); at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

// For clients: replaces the folder in the message with the model's name.
Error without_path(const Error& error, const NamedFolder& model) {
  std::error_code ignored;
  std::string message = replaced(error.what(), model.folder.string(), model.name);
  const std::filesystem::path real = std::filesystem::weakly_canonical(model.folder, ignored);
  if (!ignored) message = replaced(std::move(message), real.string(), model.name);
  if (folders::hub_name_of(model.folder))  // its files are links into a folder beside the snapshots
    message = replaced(std::move(message), real.parent_path().parent_path().string(), model.name);
  return Error(error.code(), std::move(message))
      .with_context("the model " + formats::quoted_name(model.name) + " cannot be loaded");
}

// The result of `load`; its errors are logged, and thrown without local paths.
template <typename Load>
auto with_errors_for_clients(const NamedFolder& model, const HostingOptions& options, const Load& load) {
  try {
    return load();
  } catch (const Error& error) {
    base::log(base::LogLevel::error, "model not loaded", {{"model", model.name}, {"error", error.what()}});
    // A backend named by a client but missing on this machine will not appear by retrying.
    const bool backend_is_missing = error.code() == ErrorCode::unavailable && is_named_by_request(options.load.origin);
    throw without_path(backend_is_missing ? Error(ErrorCode::unsupported, error.what()) : error, model);
  } catch (const std::bad_alloc&) {
    base::log(base::LogLevel::error, "model not loaded", {{"model", model.name}, {"error", "out of memory"}});
    throw make_error(ErrorCode::resource_exhausted, "there is not enough memory to load the model ",
                     formats::quoted_name(model.name), "; try again later, or ask for a smaller one");
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, "model not loaded", {{"model", model.name}, {"error", error.what()}});
    throw make_error(ErrorCode::internal, "the model ", formats::quoted_name(model.name),
                     " cannot be loaded for a reason inside the server; its log says more");
  }
}

// The observer, which also counts batches in the model's own statistics.
runtime::BatchObserver counted_in(std::shared_ptr<ModelStatistics> statistics, runtime::BatchObserver observer) {
  observer.ran = [statistics = std::move(statistics), next = std::move(observer.ran)](
                     std::size_t rows, std::size_t tokens, std::chrono::nanoseconds compute) {
    statistics->computed(rows, compute);
    if (next) next(rows, tokens, compute);
  };
  return observer;
}

}  // namespace

std::string HostedModel::place() const {
  const Selection& selection = pipelines.facts().selection;
  return selection.backend + ":" + selection.device_index;
}

bool HostedModel::is_busy() const {
  if (scheduler->depth().jobs > 0) return true;
  const TextGenerator* generator = pipelines.find_generator();
  if (generator == nullptr) return false;
  const runtime::StepCounts counts = generator->state().steps->counts();
  return counts.waiting + counts.running > 0;
}

void HostedModel::stop() const noexcept {
  scheduler->stop();
  if (const TextGenerator* generator = pipelines.find_generator()) generator->state().steps->stop();
}

std::chrono::nanoseconds HostedModel::running() const {
  const std::chrono::nanoseconds batch = scheduler->depth().running;
  const TextGenerator* generator = pipelines.find_generator();
  return generator == nullptr ? batch : std::max(batch, generator->state().steps->running());
}

const TextGenerator& HostedModel::generator() const {
  try {
    return pipelines.generator();
  } catch (const Error& error) {
    refuse(Problem::Kind::impossible, error.message(), "model");
  }
}

const Tokenizer& HostedModel::tokenizer() const {
  try {
    return pipelines.tokenizer();
  } catch (const Error& error) {
    refuse(Problem::Kind::impossible, error.message(), "model");
  }
}

std::size_t HostedModel::bytes() const {
  const std::size_t told = pipelines.weight_bytes();
  // A backend that reports nothing still uses memory.
  return (told > 0 ? told : weight_file_bytes(path)) + pipelines.cache_bytes();
}

std::unique_ptr<HostedModel> load_hosted_model(const NamedFolder& model, const HostingOptions& options,
                                               std::shared_ptr<ModelStatistics> statistics) {
  const Clock::time_point begin = Clock::now();
  return with_errors_for_clients(model, options, [&] {
    auto loaded = pipelines::TaskPipelines::load(model.path(), options.load);
    (void)loaded.fingerprint();  // read the files here, not while requests wait: answers include it
    runtime::BatchSchedulerOptions batches = options.batches;
    batches.even_row_length = runtime::even_row_length(loaded.facts().hidden_size);
    auto scheduler = std::make_unique<runtime::BatchScheduler>(batches, counted_in(statistics, options.observer));
    auto made = std::make_unique<HostedModel>(model.name, model.path(), std::move(loaded), Clock::now() - begin,
                                              std::move(statistics), std::move(scheduler));
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(made->load_time);
    base::log(base::LogLevel::info, "model loaded",
              {{"model", model.name},
               {"backend", made->pipelines.facts().backend},
               {"ms", std::to_string(took.count())},
               {"bytes", std::to_string(made->bytes())}});
    if (!made->pipelines.has_tokenizer())
      base::log(base::LogLevel::warn, "model without a tokenizer: it reads token ids only", {{"model", model.name}},
                "the model " + model.name + " has no tokenizer: it reads token ids only (KServe's infer)");
    return made;
  });
}

void check_hosted_model(const NamedFolder& model, const HostingOptions& options) {
  with_errors_for_clients(model, options, [&] {
    pipelines::check_loadable(model.path(), options.load, pipelines::has_tokenizer(model.path(), options.load.options));
  });
}

}  // namespace alate::server
