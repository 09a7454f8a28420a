#include "alate/error.h"
#include "tokenizers/decoders/stages.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

// The reference's list, in its order.
constexpr std::pair<std::string_view, std::string_view> kCleanups[] = {
    {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},    {" n't", "n't"},
    {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
};

void put_between_code_points(std::string& text, std::string_view inserted) {
  std::string out(inserted);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = decode_utf8(text, at).length;
    append_replacement(out.append(text, at, length), inserted);
    at += length;
  }
  text = std::move(out);
}

}  // namespace

void append_replacement(std::string& out, std::string_view replacement) {
  if (out.size() + replacement.size() > kMaxReplacedBytes)
    throw make_error(ErrorCode::resource_exhausted, "a decoder makes more than ", kMaxReplacedBytes,
                     " bytes of the tokens; decode fewer of them");
  out.append(replacement);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) {
    if (!to.empty()) put_between_code_points(text, to);
    return;
  }
  std::size_t at = text.find(from);
  if (at == std::string::npos) return;
  std::string out;
  std::size_t last = 0;
  for (; at != std::string::npos; at = text.find(from, last)) {
    append_replacement(out.append(text, last, at - last), to);
    last = at + from.size();
  }
  out.append(text, last);
  text = std::move(out);
}

void clean_up_word(std::string& text) {
  if (text.find(' ') == std::string::npos) return;
  for (const auto& [from, to] : kCleanups) replace_all(text, from, to);
}

StreamedReplacement::StreamedReplacement(std::string from, std::string to)
    : from_(std::move(from)), to_(std::move(to)), fallback_(from_.size() + 1, 0) {
  std::size_t matching = 0;
  for (std::size_t i = 1; i < from_.size(); ++i) {
    while (matching > 0 && from_[i] != from_[matching]) matching = fallback_[matching];
    if (from_[i] == from_[matching]) ++matching;
    fallback_[i + 1] = matching;
  }
}

void StreamedReplacement::add(std::string_view part, std::string& out) {
  for (const char byte : part) {
    while (matching_ > 0 && from_[matching_] != byte) {
      const std::size_t shorter = fallback_[matching_];
      out.append(from_, 0, matching_ - shorter);
      matching_ = shorter;
    }
    if (from_[matching_] != byte) {
      out += byte;
    } else if (++matching_ == from_.size()) {
      append_replacement(out, to_);
      matching_ = 0;
    }
  }
}

void StreamedReplacement::finish(std::string& out) {
  out.append(from_, 0, matching_);
  matching_ = 0;
}

}  // namespace alate::tokenizers
