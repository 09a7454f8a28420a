#include "server/itemized_body.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace alate::server {
namespace {

class Pieces final : public BodySource {
 public:
  Pieces(ItemizedBody body, std::size_t size) : body_(std::move(body)), size_(size) {}

  std::size_t size() const override { return size_; }
  std::size_t held_bytes() const override { return body_.held_bytes(); }
  void append_piece(std::string& out) override {
    out.reserve(out.size() + kPieceBytes + kPieceBytes / 4);  // the last item may exceed the piece size
    body_.append_piece(out, kPieceBytes);
  }

 private:
  ItemizedBody body_;
  const std::size_t size_;
};

}  // namespace

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
  const std::size_t size = body.measure();
  response.source = std::make_unique<Pieces>(std::move(body), size);
  return response;
}

}  // namespace alate::server
