// A body out of many small items, such as the numbers of vectors: made whole, or piece by piece while it is sent.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "server/http/http_message.h"

namespace alate::server {

class ItemizedBody {
 public:
  /// Appends item number `item`, up to some ten kilobytes; the same bytes each time it is called.
  using AppendItem = std::function<void(std::string& out, std::size_t item)>;

  /// Memory that the items are made from, and that is held for as long as the body.
  void hold(std::size_t bytes) { held_bytes_ += bytes; }
  std::size_t held_bytes() const { return held_bytes_; }

  /// Each adds to the end.
  void add_text(std::string text);
  void add_items(std::size_t count, AppendItem append) { parts_.push_back({count, std::move(append), false}); }
  void add_list(std::size_t count, AppendItem append) { parts_.push_back({count, std::move(append), true}); }  // commas
  void add(ItemizedBody other);

  /// Appends the next items until there are `bytes` more; false when none is left.
  bool append_piece(std::string& out, std::size_t bytes);
  /// The next piece is the first one.
  void restart() { part_ = item_ = 0; }

  /// From the first item to the last; both restart it.
  std::string text();
  /// The text's size, without ever holding it.
  std::size_t measure();

 private:
  struct Part {
    std::size_t count;
    AppendItem append;
    bool has_commas;
  };

  std::vector<Part> parts_;
  std::size_t held_bytes_ = 0;
  std::size_t part_ = 0, item_ = 0;  // the next one
};

/// Bodies up to this are made whole: they are sent with one call, and their memory is not worth a second pass.
inline constexpr std::size_t kMostWholeBytes = std::size_t{256} << 10;
/// Of the others.
inline constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

/// An answer with status 200. Takes as long as making the whole body, since its length is told before it.
Response itemized_response(ItemizedBody body, std::string content_type = "application/json");

}  // namespace alate::server
