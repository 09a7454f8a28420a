// How a host's models are loaded, and for how long they stay.
#include <algorithm>
#include <mutex>

#include "formats/json.h"
#include "server/models/hosting_options.h"
#include "server/models/model_host_state.h"

namespace alate::server {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

runtime::ModelCacheOptions cache_options(const HostLimits& limits) {
  return {
      .most_models = limits.models, .most_bytes = limits.bytes, .closed = shutting_down(), .deletes_elsewhere = true};
}

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
      cache(cache_options(limits)) {}

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
  const auto noted = [self = shared_from_this(), model, notes = backend.empty()](const auto& step) {
    try {
      return step(*self);
    } catch (...) {
      if (notes) self->note_load(model, std::current_exception());
      throw;
    }
  };
  wanted.expected_bytes = [noted, model] {
    return noted([&](const State& self) { return self.expected_bytes(model); });
  };
  wanted.load = [noted, model, backend] {
    return noted([&](State& self) -> std::unique_ptr<runtime::CachedModel> {
      auto loaded = self.load(model, backend);
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
  return bytes;
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
  return load_hosted_model(model, on_backend(hosting, backend), std::move(counted));
}

}  // namespace alate::server
