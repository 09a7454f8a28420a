#include "server/api/vector_types.h"

#include "alate/embedding_precision.h"
#include "formats/base64.h"
#include "server/models/embed_service.h"

namespace alate::server {

void append_vector_as(std::string& out, std::span<const float> row, std::string_view type) {
  if (type != "base64") return append_vector(out, row, parse_precision(type).value_or(Precision::float32));
  out += '"';
  formats::append_base64(out, row);
  out += '"';
}

}  // namespace alate::server
