// An answer being sent: the next bytes to write, and the memory it still holds.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "server/clients/client_account.h"
#include "server/http/http_message.h"

namespace alate::server {

/// Releases written memory while the rest waits for a slow reader. Belongs to one thread.
class OutgoingAnswer {
 public:
  OutgoingAnswer() = default;
  /// Moves the body out of the response.
  OutgoingAnswer(std::string head, Response& response, bool with_body);

  bool is_written() const { return head_written_ == head_.size() && body_written_ == body_bytes_; }
  /// Whether the next piece must be generated before writing.
  bool needs_piece() const { return source_ && piece_written_ == piece_.size(); }
  /// REQUIRES: needs_piece(). Throws what the source throws, and Error if the source deviates from its size.
  void make_piece();

  /// The next bytes to write; unchanged until some of them have been written.
  std::string_view head() const { return std::string_view(head_).substr(head_written_); }
  std::string_view body() const { return std::string_view(piece_).substr(piece_written_); }
  void wrote(std::size_t bytes);
  std::size_t written() const { return head_written_ + body_written_; }
  std::size_t body_written() const { return body_written_; }

  /// Charges the client's account with what it holds, which shrinks from now on. Harmless when repeated.
  void charge(const std::shared_ptr<ClientAccount>& account);
  std::size_t charged_bytes() const { return charge_.bytes(); }

 private:
  std::size_t held_bytes() const;
  void release_written();

  std::string head_;
  std::string piece_;                   // the whole body if there is no source
  std::unique_ptr<BodySource> source_;  // until it has generated everything
  std::size_t body_bytes_ = 0, made_ = 0;
  std::size_t head_written_ = 0, body_written_ = 0, piece_written_ = 0;
  std::size_t released_ = 0;  // bytes of the piece that were written and returned to the system
  ByteCharge charge_;
};

}  // namespace alate::server
