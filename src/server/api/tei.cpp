#include "server/api/tei.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alate/embedding_kinds.h"
#include "server/api/vector_types.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::server {

std::string tei_model_of(const Call& call) {
  const auto named = call.parameters.find("model");
  return named != call.parameters.end() ? named->second : call.body.get_string("model", "");
}

void read_tei_truncation(const formats::Json& options, ModelRequest& request) {
  request.truncate = options.get_bool("truncate", true);
  if (const formats::Json* side = options.find_value("truncation_direction")) {
    const std::string& name = side->as_string("truncation_direction");
    request.truncation_side = name == "Left" || name == "left" ? Side::left : Side::right;
  }
}

ItemizedBody tei_vectors(EmbedAnswer answer) {
  const VectorRows vectors = take_vectors(answer);
  ItemizedBody body;
  body.hold(vectors.held_bytes());
  body.add_text("[");
  body.add_list(vectors.rows(), [vectors](std::string& out, std::size_t row) { append_vector(out, vectors.row(row)); });
  body.add_text("]");
  return body;
}

ItemizedBody tei_token_vectors(EmbedAnswer answer) {
  const VectorRows vectors(std::move(answer.vectors), answer.tokens, answer.dimensions);
  ItemizedBody body;
  body.hold(vectors.held_bytes());
  std::size_t first = 0;
  for (std::size_t i = 0; i < answer.row_tokens.size(); ++i) {
    body.add_text(i == 0 ? "[[" : ",[");
    body.add_list(answer.row_tokens[i], [vectors, first](std::string& out, std::size_t token) {
      append_vector(out, vectors.row(first + token));
    });
    body.add_text("]");
    first += answer.row_tokens[i];
  }
  body.add_text(answer.row_tokens.empty() ? "[]" : "]");
  return body;
}

ItemizedBody tei_sparse(EmbedAnswer answer) {
  ItemizedBody body;
  body.hold(kind_bytes(answer));
  const auto rows = std::make_shared<const std::vector<SparseEmbedding>>(std::move(answer.sparse));
  body.add_text("[");
  body.add_list(rows->size(), [rows](std::string& out, std::size_t row) {
    const SparseEmbedding& one = (*rows)[row];
    out += '[';
    for (std::size_t i = 0; i < one.indices.size(); ++i) {
      out += (i > 0 ? R"(,{"index":)" : R"({"index":)") + std::to_string(one.indices[i]) + R"(,"value":)";
      formats::append_json_number(out, one.values[i]);
      out += '}';
    }
    out += ']';
  });
  body.add_text("]");
  return body;
}

std::string tei_similarities(const EmbedAnswer& answer) {
  const std::span<const float> source = std::span(answer.vectors).first(answer.dimensions);
  std::string out = "[";
  for (std::size_t i = 1; i < answer.rows; ++i) {
    const std::span<const float> other = std::span(answer.vectors).subspan(i * answer.dimensions, answer.dimensions);
    double dot = 0, source_square = 0, other_square = 0;
    for (std::size_t j = 0; j < source.size(); ++j) {
      dot += double{source[j]} * double{other[j]};
      source_square += double{source[j]} * double{source[j]};
      other_square += double{other[j]} * double{other[j]};
    }
    const double lengths = std::sqrt(source_square) * std::sqrt(other_square);
    if (i > 1) out += ',';
    formats::append_json_number(out, static_cast<float>(lengths > 0 ? std::clamp(dot / lengths, -1.0, 1.0) : 0));
  }
  return out += ']';
}

void append_tei_tokens(std::string& out, const Encoding& encoding, std::string_view text) {
  out += '[';
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    if (i > 0) out += ',';
    out += R"({"id":)" + std::to_string(encoding.ids[i]) + R"(,"text":)";
    if (encoding.special_mask[i] != 0) {
      formats::append_json_string(out, encoding.tokens[i]);
      out += R"(,"special":true,"start":null,"stop":null})";
      continue;
    }
    const auto [start, stop] = encoding.byte_offsets[i];
    // Offsets may be past the end, as the reference's are for byte tokens of marked characters, or within a character.
    const std::size_t begin = std::min<std::size_t>(start, text.size());
    const std::string_view part = text.substr(begin, stop - start);
    formats::append_json_string(out, tokenizers::repair_utf8(part).value_or(std::string(part)));
    out += R"(,"special":false,"start":)" + std::to_string(start) + R"(,"stop":)" + std::to_string(stop) + '}';
  }
  out += ']';
}

}  // namespace alate::server
