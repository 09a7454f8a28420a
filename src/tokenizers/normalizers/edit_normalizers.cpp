// Normalizers that cut from, replace in and add to a text: Strip, Replace, Prepend.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/unicode/character_classes.h"

namespace alate::tokenizers {
namespace {

void assign_range(AlignedText& text, std::size_t begin, std::size_t end) {
  std::vector<Span> alignment;
  if (text.tracks()) {
    for (std::size_t i = begin; i < end; ++i) alignment.push_back(text.source(i));
  }
  const std::size_t at_start = std::max(std::min(text.at_start(), end), begin) - begin;
  text.assign(std::string(text.text().substr(begin, end - begin)), std::move(alignment), at_start);
}

class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  void apply(AlignedText& text) const override {
    const std::string_view old = text.text();
    std::size_t begin = 0;
    std::size_t end = 0;  // end of the last code point that is not white space
    bool leading = left_;
    Progress progress(text.budget());
    for (std::size_t at = 0; at < old.size();) {
      progress.reached(at);
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
  Replace(Pattern pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void apply(AlignedText& text) const override {
    const std::string_view old = text.text();
    std::vector<Span> matches;
    pattern_.find_all(old, matches, text.budget());
    if (matches.empty()) return;
    std::size_t size = old.size();
    for (const Span match : matches) size -= match.end - match.begin;
    size += matches.size() * content_.size();  // both are below 2^32
    text.budget().check_bytes(size);
    std::string out;
    out.reserve(size);
    std::vector<Span> alignment;
    if (text.tracks()) alignment.reserve(size);
    std::size_t at_start = 0;
    const auto keep = [&](std::size_t begin, std::size_t end) {
      out += old.substr(begin, end - begin);
      for (std::size_t i = begin; text.tracks() && i < end; ++i) alignment.push_back(text.source(i));
      if (begin < end && begin < text.at_start()) at_start = out.size() - (end - std::min(end, text.at_start()));
    };
    std::size_t last = 0;
    Progress progress(text.budget());
    for (const Span match : matches) {
      progress.reached(out.size());
      keep(last, match.begin);
      last = match.end;
      out += content_;
      // The reference aligns the whole replacement with the byte before its end.
      if (text.tracks())
        alignment.insert(alignment.end(), content_.size(), last == 0 ? text.start() : text.source(last - 1));
      if (last == 0 ? text.start().begin == 0 : last <= text.at_start()) at_start = out.size();
    }
    keep(last, old.size());
    text.assign(std::move(out), std::move(alignment), at_start);
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string prefix) : prefix_(std::move(prefix)) {}

  void apply(AlignedText& text) const override {
    if (text.empty()) return;
    text.budget().check_bytes(prefix_.size() + text.size());
    std::vector<Span> alignment;
    if (text.tracks()) {
      alignment.reserve(prefix_.size() + text.size());
      alignment.assign(prefix_.size(), text.source(0));
      for (std::size_t i = 0; i < text.size(); ++i) alignment.push_back(text.source(i));
      // In the reference the first code point is inserted after the prefix; after none, nothing precedes it.
      if (prefix_.empty()) std::fill_n(alignment.begin(), decode_utf8(text.text(), 0).length, text.before_first());
    }
    std::string out;
    out.reserve(prefix_.size() + text.size());
    out += prefix_;
    out += text.text();
    const std::size_t at_start = text.at_start() == 0 ? 0 : prefix_.size() + text.at_start();
    text.assign(std::move(out), std::move(alignment), at_start);
  }

 private:
  std::string prefix_;
};

}  // namespace

NormalizerPtr strip(bool left, bool right) { return std::make_unique<Strip>(left, right); }

NormalizerPtr replace(PatternText pattern, std::string content, std::string_view where) {
  return std::make_unique<Replace>(Pattern(std::move(pattern), where), std::move(content));
}

NormalizerPtr prepend(std::string prefix) { return std::make_unique<Prepend>(std::move(prefix)); }

}  // namespace alate::tokenizers
