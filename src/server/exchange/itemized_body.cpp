#include "server/exchange/itemized_body.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace alate::server {
void ItemizedBody::add_text(std::string text) {
  hold(text.capacity());
  add_items(1, [text = std::move(text)](std::string& out, std::size_t /*item*/) { out += text; });
}

void ItemizedBody::add(ItemizedBody other) {
  hold(other.held_bytes_);
  std::ranges::move(other.parts_, std::back_inserter(parts_));
}

bool ItemizedBody::append_piece(std::string& out, std::size_t bytes) {
  const std::size_t enough = out.size() + bytes;
  for (; part_ < parts_.size(); ++part_, item_ = 0) {
    const Part& part = parts_[part_];
    for (; item_ < part.count; ++item_) {
      if (out.size() >= enough) return true;
      if (part.has_commas && item_ > 0) out += ',';
      part.append(out, item_);
    }
  }
  return false;
}

std::string ItemizedBody::text() {
  std::string whole;
  restart();
  append_piece(whole, static_cast<std::size_t>(-1));
  restart();
  return whole;
}

std::size_t ItemizedBody::measure() {
  std::size_t size = 0;
  std::string piece;
  restart();
  for (bool more = true; more; size += piece.size()) {
    piece.clear();
    more = append_piece(piece, kPieceBytes);
  }
  restart();
  return size;
}

Response itemized_response(ItemizedBody body, std::string content_type) {
  Response response;
  response.content_type = std::move(content_type);
  body.restart();
  if (!body.append_piece(response.body, kMostWholeBytes)) return response;
  std::string().swap(response.body);
  const std::size_t size = body.measure(), held_bytes = body.held_bytes();
  // std::function copies what it holds, and items may be large.
  auto shared = std::make_shared<ItemizedBody>(std::move(body));
  response.stream = stream_on_demand(size, held_bytes, [shared = std::move(shared)](std::string& out) {
    out.reserve(kPieceBytes + kPieceBytes / 4);  // the last item may exceed the piece size
    shared->append_piece(out, kPieceBytes);
  });
  return response;
}

}  // namespace alate::server
