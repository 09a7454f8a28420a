// A body that is made while it is sent.
#pragma once

#include <cstddef>
#include <string>

namespace alate::server {

/// For bodies that are much larger than what they are made from, such as the text of many numbers. Belongs to one
/// thread at a time; may hold nothing that must not outlive its request, since the client decides how long it lives.
class BodySource {
 public:
  virtual ~BodySource() = default;
  /// Of the whole body, known before any of it is made.
  virtual std::size_t size() const = 0;
  /// Memory that it holds while it lives, beside the pieces.
  virtual std::size_t held_bytes() const = 0;
  /// Appends the next piece, which takes less than a millisecond; nothing only when `size` bytes have been made.
  virtual void append_piece(std::string& out) = 0;
};

}  // namespace alate::server
