// Embedding for all families: waits for the model, tokenizes, gives the rows to the model's scheduler, answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/models/model_host.h"
#include "server/route.h"
#include "server/services.h"
#include "server/vector_rows.h"

namespace alate::server {

struct EmbedRequest {
  std::string model;    // as the client named it; empty: the default one
  std::string backend;  // as ModelHost::acquire; filled in by `embed` from the body's "backend"
  std::vector<std::string> texts;
  std::vector<std::vector<std::int32_t>> token_rows;  // instead of texts; special tokens are added where absent
  bool truncate = true;                               // false: a text over the model's length is Problem::too_long
  std::optional<Side> truncation_side;
  std::optional<bool> normalize;          // as EmbedOptions
  std::optional<std::size_t> dimensions;  // as EmbedOptions; over the model's: Problem::impossible
  std::string prompt_name;
  std::vector<std::string> prompt_names;  // the first of these that the model has is used where prompt_name is empty
  std::optional<std::string> prompt;
  std::optional<std::chrono::nanoseconds> keep_alive;  // as ModelHost::touch
  std::string parameter = "input";                     // what the family calls the texts, for errors
  bool lone = false;                                   // the parameter is one text or row, no list: for errors
};

struct EmbedAnswer {
  std::shared_ptr<HostedModel> model;
  std::size_t rows = 0, dimensions = 0;
  std::vector<float> vectors;                // [rows, dimensions]
  std::vector<std::size_t> truncated;        // indices of the texts that were cut, rising
  std::vector<std::size_t> row_tokens;       // computed for each row, specials included
  std::size_t tokens = 0;                    // their sum
  std::chrono::nanoseconds total{}, load{};  // since the request arrived; of loading, where this request waited for it
};

/// Computes and answers with what `format` makes of the result, plus X-Model-Fingerprint; errors get the shape of the
/// call's route. `format` may run on any thread and may throw as a route's handler. What it answers must not hold the
/// model, which could not be unloaded until the client has read.
void embed(Call& call, EmbedRequest request, std::function<Response(EmbedAnswer)> format);

/// Takes the vectors out of an answer, for a body that is made of them later.
VectorRows take_vectors(EmbedAnswer& answer);

/// "embeddings" of all families: appends the row as a JSON array of numbers, shortest form that reads back the same.
void append_vector(std::string& out, std::span<const float> row);

}  // namespace alate::server
