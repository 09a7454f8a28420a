#include "pipelines/generate/json_value_scan.h"

namespace alate::pipelines {
namespace {

// Of numbers, true, false and null.
bool is_word(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '-' ||
         byte == '+' || byte == '.';
}

}  // namespace

JsonValueScan::Step JsonValueScan::add(char byte) {
  if (kind_ == Kind::none) {
    if (byte == '"') {
      kind_ = Kind::text;
      in_text_ = true;
    } else if (byte == '{' || byte == '[') {
      kind_ = Kind::nested;
      depth_ = 1;
    } else if (is_word(byte)) {
      kind_ = Kind::word;
    } else {
      return Step::beyond;
    }
    return Step::inside;
  }
  if (kind_ == Kind::word) return is_word(byte) ? Step::inside : Step::beyond;
  if (in_text_) {
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (byte == '\\') {
      is_escaped_ = true;
    } else if (byte == '"') {
      in_text_ = false;
      if (kind_ == Kind::text) return Step::last;
    }
    return Step::inside;
  }
  if (byte == '"') {
    in_text_ = true;
  } else if (byte == '{' || byte == '[') {
    ++depth_;
  } else if ((byte == '}' || byte == ']') && --depth_ == 0) {
    return Step::last;
  }
  return Step::inside;
}

}  // namespace alate::pipelines
