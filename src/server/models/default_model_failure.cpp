#include "server/models/default_model_failure.h"

#include <mutex>
#include <utility>

namespace alate::server {

void DefaultModelFailure::set(const NamedFolder& model, std::string reason, ModelListings& listings) {
  Failure failure{model, std::move(reason), listings.of(model).digest, Clock::now()};
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
}

void DefaultModelFailure::clear(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (name.empty() || (failure_ && failure_->model.name == name)) failure_.reset();
}

std::string DefaultModelFailure::reason() const {
  const std::lock_guard lock(mutex_);
  return failure_ ? failure_->reason : std::string();
}

bool DefaultModelFailure::is_due(ModelListings& listings, Clock::time_point now) const {
  std::optional<Failure> failure;
  {
    const std::lock_guard lock(mutex_);
    failure = failure_;
  }
  return failure && (now - failure->since >= kRetry || listings.of(failure->model).digest != failure->digest);
}

}  // namespace alate::server
