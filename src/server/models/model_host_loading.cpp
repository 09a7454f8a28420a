// How a host's models are loaded, and for how long they stay.
#include <algorithm>
#include <mutex>
#include <optional>

#include "base/log.h"
#include "formats/json.h"
#include "pipelines/tasks/tasks.h"
#include "runtime/loading/step_memory.h"
#include "server/models/hosting_options.h"
#include "server/models/model_host_state.h"

namespace alate::server {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
// For room that models in use take: longer than most requests, shorter than clients wait.
std::chrono::nanoseconds patience_of(const Settings& settings) {
  constexpr std::chrono::nanoseconds kMost = std::chrono::seconds(2);
  const bool is_limited = settings.request_timeout > std::chrono::nanoseconds(0);
  return is_limited ? std::min(settings.request_timeout / 4, kMost) : kMost;
}

runtime::ModelCacheOptions cache_options(const HostLimits& limits, const Settings& settings) {
  return {.most_models = limits.models,
          .most_bytes = limits.bytes,
          .patience = patience_of(settings),
          .closed = shutting_down(),
          .deletes_elsewhere = true};
}

std::string failure_key(const NamedFolder& model, const std::string& backend) { return model.name + "\n" + backend; }

}  // namespace

ModelHost::State::State(const Settings& given, WorkQueue& queue, WorkQueue& look_up_queue,
                        runtime::BatchObserver observer, Pulls* the_pulls)
    : settings(given),
      names(given),
      backends(given),
      hosting(hosting_options(given, std::move(observer))),
      limits(host_limits(given, base::memory_facts())),
      loaders(queue),
      look_ups(look_up_queue),
      pulls(the_pulls),
      choice(names, listings),
      cache(cache_options(limits, given)) {}

bool ModelHost::State::is_eager(const std::string& name) const {
  return std::ranges::any_of(settings.model_strategies, [&](const auto& each) {
    // Keys may omit the owner, as in requests.
    return each.second == LoadStrategy::eager && (each.first == name || name.ends_with("/" + each.first));
  });
}

// The longest keep-alive that a request may ask for.
runtime::ModelCache::KeepAlive ModelHost::State::longest_keep_alive() const {
  if (settings.keep_alive == std::chrono::nanoseconds{0}) return {};
  return std::max(settings.keep_alive, settings.max_keep_alive);
}

// What a request gets of the keep-alive that it asks for, as ModelHost::touch takes it.
runtime::ModelCache::KeepAlive ModelHost::State::permitted_keep_alive(std::chrono::nanoseconds asked) const {
  const runtime::ModelCache::KeepAlive longest = longest_keep_alive();
  if (asked < std::chrono::nanoseconds{0}) return longest;
  return longest ? std::min(asked, *longest) : asked;
}

runtime::ModelCache::Wanted ModelHost::State::wanted(const NamedFolder& model, const std::string& backend,
                                                     const std::optional<ClientId>& client) {
  runtime::ModelCache::Wanted wanted{.key = {.model = model.name, .options = {}, .place = backend}, .load = {}};
  wanted.start = [this, client](std::function<void()> load) { loaders.push(client, std::move(load)); };
  if (client) wanted.turn = to_string(*client);
  wanted.stays = is_eager(model.name);
  if (!wanted.stays && settings.keep_alive != std::chrono::nanoseconds{0}) wanted.keep_alive = settings.keep_alive;
  // How loads end is noted where the settings choose the backend.
  const auto noted = [self = shared_from_this(), model, backend](const auto& step) {
    try {
      return step(*self);
    } catch (...) {
      if (backend.empty()) self->note_load(model, std::current_exception());
      throw;
    }
  };
  wanted.expected_bytes = [noted, model, failure = failure_key(model, backend)] {
    return noted([&](State& self) {
      self.failures.check(failure, self.listings.of(model).digest, Clock::now());
      return self.expected_bytes(model);
    });
  };
  wanted.load = [noted, model, backend] {
    return noted([&](State& self) -> std::unique_ptr<runtime::CachedModel> {
      auto loaded = self.load_or_remember(model, backend);
      if (backend.empty()) self.note_load(model, nullptr);
      return loaded;
    });
  };
  return wanted;
}

// Runs on a loader thread.
std::size_t ModelHost::State::expected_bytes(const NamedFolder& model) const {
  const std::size_t bytes = weight_file_bytes(model.path());
  if (limits.bytes > 0 && bytes > limits.bytes) {
    throw make_error(ErrorCode::resource_exhausted, "the model ", formats::quoted_name(model.name), " has ",
                     (bytes + kMegabyte - 1) / kMegabyte, " MB of weights; this server's limit for all models is ",
                     limits.bytes / kMegabyte, " MB (max_memory_mb)");
  }
  if (!pipelines::is_bare_language_model(model.path(), hosting.load.options)) return bytes;
  std::optional<runtime::FolderStep> made;
  try {
    made = runtime::step_of_folder(model.path(), hosting.load.options.dtype);
  } catch (const Error&) {
    return bytes;  // loading finds the fault
  }
  const runtime::CacheBound bound = runtime::within_bytes(
      runtime::bound_for(0, 0, made->step.layout, made->limits), made->step.layout, made->limits,
      {.model = "the model " + formats::quoted_name(model.name), .most_bytes = most_cache_bytes(model)});
  return bytes + static_cast<std::size_t>(runtime::cache_bytes(bound, made->step.layout));
}

// Of a decoder's keys and values: what the settings give to each, and no more than its weights leave.
std::uint64_t ModelHost::State::most_cache_bytes(const NamedFolder& model) const {
  const std::uint64_t most =
      settings.generation_cache_mb ? std::uint64_t{*settings.generation_cache_mb} * kMegabyte : limits.bytes / 4;
  if (limits.bytes == 0) return most;
  const std::uint64_t left = limits.bytes - std::min(limits.bytes, weight_file_bytes(model.path()));
  return std::max<std::uint64_t>(std::min(most, left), 1);  // 0 would be any number
}

// Runs on a loader thread.
std::unique_ptr<HostedModel> ModelHost::State::load_or_remember(const NamedFolder& model, const std::string& backend) {
  const std::string key = failure_key(model, backend), digest = listings.of(model).digest;
  try {
    auto loaded = load(model, backend);
    failures.remove(key);
    const std::lock_guard lock(mutex);
    loaded_files.insert_or_assign(model.name, digest);
    return loaded;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::cancelled) failures.add(key, digest, error, Clock::now());
    throw;
  }
}

// Runs on the look-up thread. Files that are still being written change again: a model is loaded anew when two looks
// have seen the same. No model is held meanwhile, as it would seem to be in use.
void ModelHost::State::find_changed() {
  std::map<std::string, ChangedFiles> found;
  for (const std::string& name : cache.loaded_names()) {
    try {
      const NamedFolder folder = names.resolve_soon(name);
      const std::string digest = listings.of(folder).digest;
      if (is_loaded_from(name, digest)) continue;
      ChangedFiles& files = found.insert_or_assign(name, ChangedFiles{.digest = digest}).first->second;
      const auto before = changed.find(name);
      if (before == changed.end() || before->second.digest != digest) continue;
      files.is_reloaded = true;
      if (!before->second.is_reloaded) reload(folder);
    } catch (const Error&) {
      continue;  // its files have gone: it stays as long as it is used
    }
  }
  changed = std::move(found);
}

// Whether these are the files that the model was loaded from, or that is not known yet.
bool ModelHost::State::is_loaded_from(const std::string& name, const std::string& digest) {
  const std::lock_guard lock(mutex);
  const auto files = loaded_files.find(name);
  return files == loaded_files.end() || files->second == digest;
}

// Where the new files would not load, the model stays as it is.
void ModelHost::State::reload(const NamedFolder& model) {
  const std::lock_guard lock(mutex);
  if (closed) return;
  loaders.push([self = shared_from_this(), model] {
    try {
      check_hosted_model(model, self->hosting);
    } catch (const std::exception& error) {
      base::log(base::LogLevel::warn, "the files of a model have changed, and it stays as it was loaded",
                {{"model", model.name}, {"reason", error.what()}});
      return;
    }
    base::log(base::LogLevel::info, "the files of a model have changed: it is loaded anew", {{"model", model.name}});
    if (self->cache.unload(model.name))
      self->acquire_here({.name = model.name, .backend = {}}, [](const Hosted&, const std::exception_ptr&) {}, {});
  });
}

// Runs on a loader thread.
std::unique_ptr<HostedModel> ModelHost::State::load(const NamedFolder& model, const std::string& backend) {
  std::shared_ptr<ModelStatistics> counted;
  {
    const std::lock_guard lock(mutex);
    auto& known = statistics[model.name];
    if (known == nullptr) known = std::make_shared<ModelStatistics>();
    counted = known;
  }
  HostingOptions options = on_backend(hosting, backend);
  options.load.most_cache_bytes = most_cache_bytes(model);
  options.load.turns = turns;
  return load_hosted_model(model, options, std::move(counted));
}

}  // namespace alate::server
