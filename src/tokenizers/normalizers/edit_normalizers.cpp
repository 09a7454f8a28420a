// The normalizers Strip and Replace.
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/unicode/character_classes.h"

namespace alate::tokenizers {
namespace {

void assign_range(AlignedText& text, std::size_t begin, std::size_t end) {
  std::vector<Span> alignment;
  if (text.tracks()) {
    for (std::size_t i = begin; i < end; ++i) alignment.push_back(text.source(i));
  }
  text.assign(std::string(text.text().substr(begin, end - begin)), std::move(alignment));
}

class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  void apply(AlignedText& text) const override {
    const std::string_view old = text.text();
    std::size_t begin = 0;
    std::size_t end = 0;  // end of the last code point that is not white space
    bool leading = left_;
    for (std::size_t at = 0; at < old.size();) {
      const CodePoint c = decode_utf8(old, at);
      const bool space = is_in(c.value, kWhitespace);
      leading = leading && space;
      at += c.length;
      if (leading) begin = at;
      if (!space) end = at;
    }
    if (!right_) end = old.size();
    end = end < begin ? begin : end;
    if (begin != 0 || end != old.size()) assign_range(text, begin, end);
  }

 private:
  bool left_;
  bool right_;
};

class Replace final : public Normalizer {
 public:
  Replace(std::string pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(AlignedText& text) const override {
    const std::string_view old = text.text();
    std::string out;
    std::vector<Span> alignment;
    const auto keep = [&](std::size_t begin, std::size_t end) {
      out += old.substr(begin, end - begin);
      for (std::size_t i = begin; text.tracks() && i < end; ++i) alignment.push_back(text.source(i));
    };
    std::size_t last = 0;
    for (std::size_t at = old.find(pattern_); at != std::string_view::npos; at = old.find(pattern_, last)) {
      keep(last, at);
      last = at + pattern_.size();
      out += content_;
      // The reference aligns the whole replacement with the last code point that it replaces.
      if (text.tracks()) alignment.insert(alignment.end(), content_.size(), text.source(last - 1));
    }
    if (last == 0) return;
    keep(last, old.size());
    text.assign(std::move(out), std::move(alignment));
  }

 private:
  std::string pattern_;
  std::string content_;
};

}  // namespace

NormalizerPtr make_strip(const Json& part, std::string_view where) {
  return std::make_unique<Strip>(bool_member(part, "strip_left", where), bool_member(part, "strip_right", where));
}

NormalizerPtr make_replace(const Json& part, std::string_view where) {
  const Json& pattern = member(part, "pattern", where);
  if (pattern.find("Regex") != nullptr) throw_unknown_part("pattern of Replace", "Regex", where);
  const std::string& from = string_member(pattern, "String", where);
  if (from.empty()) throw make_error(ErrorCode::unsupported, where, ": Replace with an empty pattern is not supported");
  return std::make_unique<Replace>(from, string_member(part, "content", where));
}

}  // namespace alate::tokenizers
