#include "server/api/cohere.h"

#include <random>

#include "server/api/vector_types.h"

namespace alate::server {
void add_cohere_embeddings(ItemizedBody& body, const VectorRows& vectors, std::string_view type) {
  body.add_text("[");
  body.add_list(vectors.rows(), [vectors, type = std::string(type)](std::string& out, std::size_t index) {
    append_vector_as(out, vectors.row(index), type);
  });
  body.add_text("]");
}

std::string random_uuid() {
  std::random_device source;
  std::uniform_int_distribution<int> nibble(0, 15);
  std::string uuid = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  for (char& c : uuid) {
    if (c == 'x') c = "0123456789abcdef"[nibble(source)];
    if (c == 'y') c = "89ab"[nibble(source) % 4];
  }
  return uuid;
}

}  // namespace alate::server
