#include "server/http/outgoing_answer.h"

#include <algorithm>
#include <span>
#include <utility>

#include "alate/error.h"
#include "base/os/heap.h"

namespace alate::server {
namespace {

// Granularity for releasing written bytes of a body; less is not worth a system call.
constexpr std::size_t kBytesReleased = 1024 * 1024;

}  // namespace

OutgoingAnswer::OutgoingAnswer(std::string head, Response& response, bool with_body) : head_(std::move(head)) {
  if (!with_body) return;
  body_bytes_ = response.body_bytes();
  piece_ = std::move(response.body);
  made_ = piece_.size();
  if (made_ < body_bytes_) source_ = std::move(response.source);
}

void OutgoingAnswer::make_piece() {
  piece_.clear();
  piece_written_ = 0;
  source_->append_piece(piece_);
  made_ += piece_.size();
  if (piece_.empty() || made_ > body_bytes_)
    throw make_error(ErrorCode::internal, "a body has not the ", body_bytes_, " bytes that its head told");
  if (made_ < body_bytes_) return;
  source_.reset();
  charge_.lower_to(held_bytes());
}

void OutgoingAnswer::wrote(std::size_t bytes) {
  const std::size_t of_head = std::min(bytes, head_.size() - head_written_);
  head_written_ += of_head;
  body_written_ += bytes - of_head;
  piece_written_ += bytes - of_head;
  release_written();
}

std::size_t OutgoingAnswer::held_bytes() const {
  return head_.capacity() + piece_.capacity() - released_ + (source_ ? source_->held_bytes() : 0);
}

void OutgoingAnswer::charge(const std::shared_ptr<ClientAccount>& account) {
  if (charge_.bytes() > 0) return;
  charge_ = ByteCharge(account, ByteCharge::Kind::answer);
  charge_.raise_to(held_bytes());
}

void OutgoingAnswer::release_written() {
  if (piece_written_ < released_ + kBytesReleased) return;
  base::discard_pages(std::span(piece_).first(piece_written_));
  released_ = piece_written_;
  charge_.lower_to(held_bytes());
}

}  // namespace alate::server
