// An answer being sent: the next bytes to write, and the memory it still holds.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "server/exchange/client_account.h"
#include "server/exchange/http_message.h"

namespace alate::server {

/// Releases written memory while the rest waits for a slow reader. Belongs to one thread.
class OutgoingAnswer {
 public:
  /// How a client learns where the body ends.
  enum class Framing {
    told,         // Content-Length
    chunked,      // RFC 9112, section 7.1
    until_close,  // for HTTP/1.0
  };

  OutgoingAnswer() = default;
  /// Moves the body out of the response. `wake` is passed to its stream, if it has one (AnswerReader::on_bytes).
  OutgoingAnswer(std::string head, Response& response, bool with_body, Framing framing, std::function<void()> wake);

  bool is_written() const;
  /// Whether the next piece must be generated before writing.
  bool needs_piece() const { return stream_ && piece_written_ == piece_.size(); }
  enum class Piece {
    made,     // or there is some of the head to write, or nothing more at all
    waits,    // for the stream's producer
    missing,  // the producer has broken the stream off
  };
  /// REQUIRES: needs_piece(). Throws what the producer throws, and Error if it deviates from the size that it told.
  Piece make_piece();

  bool has_known_size() const { return framing_ == Framing::told; }

  /// The next bytes to write; what has been seen stays in front until it has been written.
  std::string_view head() const { return std::string_view(head_).substr(head_written_); }
  std::string_view body() const { return std::string_view(piece_).substr(piece_written_); }
  void wrote(std::size_t bytes);
  std::size_t written() const { return written_; }
  /// Without the framing.
  std::size_t body_written() const { return body_written_; }

  /// Charges the client's account with what it holds, which shrinks from now on. Harmless when repeated.
  void charge(const std::shared_ptr<ClientAccount>& account);
  /// The client has read everything there was.
  void give_charge_back() { charge_ = {}; }
  std::size_t charged_bytes() const { return charge_.bytes(); }

 private:
  std::size_t held_bytes() const;
  void release_written();

  std::string head_;                      // of the answer, then of each chunk
  std::string piece_;                     // the whole body if there is no stream
  std::unique_ptr<AnswerReader> stream_;  // until everything has been taken
  Framing framing_ = Framing::told;
  std::size_t made_ = 0;  // by the stream
  std::size_t written_ = 0, head_written_ = 0, body_written_ = 0, piece_written_ = 0;
  std::size_t piece_body_ = 0;  // bytes of the piece that are body, not framing behind it
  std::size_t released_ = 0;    // bytes of the piece that were written and returned to the system
  ByteCharge charge_;
};

}  // namespace alate::server
