// Where a JSON value ends in a text that comes byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>

namespace alate::pipelines {

/// Finds the end of one value without reading it: what a model writes need not be well-formed inside.
class JsonValueScan {
 public:
  enum class Step : std::uint8_t {
    inside,  // the byte is the value's
    last,    // the byte is the value's, and its last
    beyond,  // the value has ended before the byte, or the byte begins none
  };

  Step add(char byte);
  bool is_begun() const { return kind_ != Kind::none; }

 private:
  enum class Kind : std::uint8_t { none, text, word, nested };

  Kind kind_ = Kind::none;
  bool in_text_ = false, is_escaped_ = false;
  std::size_t depth_ = 0;
};

}  // namespace alate::pipelines
