// What the requests for models have in common, whatever their task.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "alate/tokenizer.h"
#include "server/models/model_purpose.h"

namespace alate::server {

struct ModelRequest {
  std::string model;     // as named by the client; empty: the default model, or that of the purpose
  ModelPurpose purpose;  // as in ModelHost::acquire
  std::string backend;   // as in ModelHost::acquire; empty: the body's "backend"
  bool truncate = true;  // false: a text longer than the model allows is Problem::too_long
  std::optional<Side> truncation_side;
  std::optional<std::chrono::nanoseconds> keep_alive;  // as in ModelHost::touch
  std::string parameter = "input";                     // the family's name for the texts, for error messages
  bool lone = false;                                   // the parameter is one text or row, not a list; for errors
};

}  // namespace alate::server
