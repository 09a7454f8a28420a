// The model of a request that names none.
#pragma once

#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/threads/mutex.h"
#include "server/models/model_listing.h"
#include "server/models/model_names.h"
#include "server/models/model_purpose.h"

namespace alate::server {

/// Thread-safe. Both arguments must outlive it.
class ModelChoice {
 public:
  using Clock = ModelNames::Clock;

  ModelChoice(const ModelNames& names, ModelListings& listings) : names_(names), listings_(listings) {}

  /// The default model, where it is for one of the tasks; else the only model that is for the first task that any is
  /// for. Built-in models are among these only if no other is and the settings name no default model. Where none is for
  /// the tasks, and for a purpose that keeps it, the default model, whose refusal says what it is for. Throws
  /// invalid_argument, listing the choices, if there are several, and as ModelNames::resolve of an empty name. Blocks
  /// on the disk, at most once a second for a purpose; the result may be a second old.
  NamedFolder choose(const ModelPurpose& purpose, Clock::time_point since);

 private:
  struct Kept {
    Clock::time_point made;
    std::optional<NamedFolder> model;
    std::exception_ptr error;
  };

  Kept make(const ModelPurpose& purpose, Clock::time_point since);
  std::vector<NamedFolder> models_for(pipelines::Task task, const ModelPurpose& purpose);
  bool fits(const NamedFolder& model, pipelines::Task task, const ModelPurpose& purpose);

  const ModelNames& names_;
  ModelListings& listings_;
  base::Mutex mutex_;
  std::map<std::string, Kept> kept_;  // by the purpose
};

}  // namespace alate::server
