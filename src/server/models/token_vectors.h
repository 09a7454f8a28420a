// Vectors of single tokens: the encoder's last layer, before pooling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "server/exchange.h"
#include "server/models/model_host.h"
#include "server/services.h"

namespace alate::server {

struct TokenVectors {
  std::vector<float> values;  // [tokens of all rows, width], in the order of the rows
  std::size_t width = 0;
};

/// Runs the rows through the model's encoder as tasks of its scheduler, each as large as a batch, and adds their times
/// to the exchange's stages. Calls `done` once, on a thread of services.work, with the vectors or an error:
/// RequestError, too_many, if they have more numbers than an answer as JSON may have. Never calls it if the exchange is
/// abandoned.
void compute_token_vectors(Services& services, std::shared_ptr<Exchange> exchange, std::shared_ptr<HostedModel> model,
                           std::vector<std::vector<std::int32_t>> rows,
                           std::function<void(TokenVectors, std::exception_ptr)> done);

}  // namespace alate::server
