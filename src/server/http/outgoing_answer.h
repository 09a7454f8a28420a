// An answer on its way to the client: which bytes are next, and how much memory it still holds.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "server/clients/client_account.h"
#include "server/http/http_message.h"

namespace alate::server {

/// Gives back what has been written while the rest waits for a client that reads slowly. Belongs to one thread.
class OutgoingAnswer {
 public:
  OutgoingAnswer() = default;
  /// Takes the body out of the response.
  OutgoingAnswer(std::string head, Response& response, bool with_body);

  bool is_written() const { return head_written_ == head_.size() && body_written_ == body_bytes_; }
  /// Whether the next bytes have to be made first.
  bool needs_piece() const { return source_ && piece_written_ == piece_.size(); }
  /// REQUIRES: needs_piece(). Throws what the source throws, and Error when it does not keep to its size.
  void make_piece();

  /// The bytes to be written next, the same ones until some of them have been.
  std::string_view head() const { return std::string_view(head_).substr(head_written_); }
  std::string_view body() const { return std::string_view(piece_).substr(piece_written_); }
  void wrote(std::size_t bytes);
  std::size_t written() const { return head_written_ + body_written_; }
  std::size_t body_written() const { return body_written_; }

  /// Counts what it holds, from now on less and less, on the client's account. Harmless when repeated.
  void charge(const std::shared_ptr<ClientAccount>& account);
  std::size_t charged_bytes() const { return charge_.bytes(); }

 private:
  std::size_t held_bytes() const;
  void release_written();

  std::string head_;
  std::string piece_;                   // all of the body where it has no source
  std::unique_ptr<BodySource> source_;  // until it has made everything
  std::size_t body_bytes_ = 0, made_ = 0;
  std::size_t head_written_ = 0, body_written_ = 0, piece_written_ = 0;
  std::size_t released_ = 0;  // bytes of the piece, written and given back to the system
  ByteCharge charge_;
};

}  // namespace alate::server
