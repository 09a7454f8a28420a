#include "server/http/outgoing_answer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "alate/error.h"
#include "base/os/heap.h"

namespace alate::server {
namespace {

// Granularity for releasing written bytes of a body; less is not worth a system call.
constexpr std::size_t kBytesReleased = 1024 * 1024;
constexpr std::string_view kLineBreak = "\r\n", kLastChunk = "0\r\n\r\n";

void append_chunk_size(std::string& out, std::size_t size) {
  std::array<char, 2 * sizeof size> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
  out.append(digits.data(), end).append(kLineBreak);
}

}  // namespace

OutgoingAnswer::OutgoingAnswer(std::string head, Response& response, bool with_body, Framing framing,
                               std::function<void()> wake)
    : head_(std::move(head)), framing_(framing) {
  if (!with_body) {
    response.stream.reset();  // its producer need not go on
    return;
  }
  if (response.stream) {
    stream_ = std::move(response.stream);
    stream_->on_bytes(std::move(wake));
    return;
  }
  piece_ = std::move(response.body);
  piece_body_ = piece_.size();
}

bool OutgoingAnswer::is_written() const {
  return !stream_ && head_written_ == head_.size() && piece_written_ == piece_.size();
}

OutgoingAnswer::Piece OutgoingAnswer::make_piece() {
  const AnswerReader::State state = stream_->take(piece_);
  piece_written_ = released_ = 0;
  piece_body_ = piece_.size();
  made_ += piece_.size();
  const bool ended = state == AnswerReader::State::ended;
  if (const std::optional<std::size_t> size = stream_->size(); size && (made_ > *size || (ended && made_ < *size)))
    throw make_error(ErrorCode::internal, "a body has not the ", *size, " bytes that its head told");
  if (piece_.empty() && !ended) {
    if (!head().empty()) return Piece::made;
    return state == AnswerReader::State::broken ? Piece::missing : Piece::waits;
  }
  if (head().empty()) {
    head_.clear();
    head_written_ = 0;
  }
  if (framing_ == Framing::chunked) {
    if (!piece_.empty()) {
      append_chunk_size(head_, piece_.size());
      piece_ += kLineBreak;
    }
    if (ended) piece_ += kLastChunk;
  }
  if (ended) stream_.reset();
  charge_.lower_to(held_bytes());
  return Piece::made;
}

void OutgoingAnswer::wrote(std::size_t bytes) {
  written_ += bytes;
  const std::size_t of_head = std::min(bytes, head_.size() - head_written_);
  head_written_ += of_head;
  const std::size_t body_before = std::min(piece_written_, piece_body_);
  piece_written_ += bytes - of_head;
  body_written_ += std::min(piece_written_, piece_body_) - body_before;
  release_written();
}

std::size_t OutgoingAnswer::held_bytes() const {
  return head_.capacity() + (stream_ ? stream_->held_bytes() : piece_.capacity() - released_);
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
