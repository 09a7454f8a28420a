#include "server/readiness.h"

#include "formats/json.h"

namespace alate::server {
namespace {

std::string seconds(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace

std::string find_obstacle(const WorkQueue& work, const WorkQueue& loaders, const ModelHost& models,
                          const ReadinessLimits& limits) {
  if (const auto wait = work.longest_wait(); wait > limits.wait)
    return "the server's work threads have not answered for " + seconds(wait);
  if (const auto run = work.longest_run(); run > limits.work)
    return "one of the server's work threads has been at work that should have ended for " + seconds(run);
  // Models wait for each other while loading, so only a thread that never finishes indicates a fault.
  if (const auto run = loaders.longest_run(); run > limits.load) return "a model has been loading for " + seconds(run);
  if (const std::string model = models.hung_model(limits.batch); !model.empty())
    return "the model " + formats::quoted_name(model) + " has been at the same batch for over " + seconds(limits.batch);
  return {};
}

}  // namespace alate::server
