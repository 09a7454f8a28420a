#include <utility>

#include "tokenizers/decoders/decoder.h"

namespace alate::tokenizers {
namespace {

// The reference's list, in its order.
constexpr std::pair<std::string_view, std::string_view> kCleanups[] = {
    {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},    {" n't", "n't"},
    {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (text.find(from) == std::string::npos) return;
  std::string out;
  std::size_t last = 0;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, last)) {
    out.append(text, last, at - last).append(to);
    last = at + from.size();
  }
  out.append(text, last);
  text = std::move(out);
}

class WordPieceDecoder final : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  void apply(std::vector<std::string>& tokens) const override {
    bool first = true;
    for (std::string& token : tokens) {
      if (!std::exchange(first, false)) {
        if (token.starts_with(prefix_)) {
          token.erase(0, prefix_.size());
        } else {
          token.insert(token.begin(), ' ');
        }
      }
      if (!cleanup_) continue;
      for (const auto& [from, to] : kCleanups) replace_all(token, from, to);
    }
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

}  // namespace

DecoderPtr make_word_piece_decoder(const Json& part, std::string_view where) {
  return std::make_unique<WordPieceDecoder>(string_member(part, "prefix", where), bool_member(part, "cleanup", where));
}

}  // namespace alate::tokenizers
