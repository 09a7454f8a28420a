// A response body of many small items, such as vector elements, built whole or piece by piece while it is sent.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "server/exchange/http_message.h"

namespace alate::server {

class ItemizedBody {
 public:
  /// Appends item number `item`, at most some ten kilobytes; must produce the same bytes on every call.
  using AppendItem = std::function<void(std::string& out, std::size_t item)>;

  /// Accounts memory that the items are built from and that lives as long as the body.
  void hold(std::size_t bytes) { held_bytes_ += bytes; }
  std::size_t held_bytes() const { return held_bytes_; }

  /// Each of these appends to the end.
  void add_text(std::string text);
  void add_items(std::size_t count, AppendItem append) { parts_.push_back({count, std::move(append), false}); }
  void add_list(std::size_t count, AppendItem append) { parts_.push_back({count, std::move(append), true}); }  // commas
  void add(ItemizedBody other);

  /// Appends the next items until at least `bytes` have been added; false when no item is left.
  bool append_piece(std::string& out, std::size_t bytes);
  /// Rewinds: the next piece is the first one.
  void restart() { part_ = item_ = 0; }

  /// The whole body from first item to last. Both this and `measure` restart it.
  std::string text();
  /// The text's size, without ever holding the whole text.
  std::size_t measure();

 private:
  struct Part {
    std::size_t count;
    AppendItem append;
    bool has_commas;
  };

  std::vector<Part> parts_;
  std::size_t held_bytes_ = 0;
  std::size_t part_ = 0, item_ = 0;  // next to append
};

/// Bodies up to this size are built whole: one call sends them, and the memory saved is not worth a second pass.
inline constexpr std::size_t kMostWholeBytes = std::size_t{256} << 10;
/// Piece size for larger bodies.
inline constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

/// An answer with status 200. Takes as long as building the whole body, because its length is sent ahead of it.
Response itemized_response(ItemizedBody body, std::string content_type = "application/json");

}  // namespace alate::server
