// A response body that is generated while it is sent.
#pragma once

#include <cstddef>
#include <string>

namespace alate::server {

/// For bodies much larger than their source data, such as vectors as text. Belongs to one thread at a time. Must hold
/// nothing that may not outlive its request, because the client decides how long it lives.
class BodySource {
 public:
  virtual ~BodySource() = default;
  /// Size of the whole body, known before any of it is generated.
  virtual std::size_t size() const = 0;
  /// Memory held while it lives, in addition to the pieces.
  virtual std::size_t held_bytes() const = 0;
  /// Appends the next piece, in less than a millisecond; appends nothing only once `size` bytes have been generated.
  virtual void append_piece(std::string& out) = 0;
};

}  // namespace alate::server
