#include "server/api/openai_logprobs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "formats/json.h"
#include "server/exchange/refuse.h"
#include "server/models/request_limits.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::server {
namespace {

using tokenizers::TokenBytes;

// JSON has no infinity; OpenAI writes this for a token that cannot be.
constexpr float kImpossible = -9999;

void check_size(std::size_t bytes) {
  if (bytes > kRequestLimits.answer_bytes)
    refuse(Problem::Kind::too_large, "the log probabilities would take more than " +
                                         std::to_string(kRequestLimits.answer_bytes) +
                                         " bytes: ask for fewer of the likeliest tokens, or for less text");
}

void append_logprob(std::string& out, float logprob) {
  formats::append_json_number(out, std::isfinite(logprob) ? logprob : kImpossible);
}

std::string valid_utf8(std::string bytes) {
  if (auto repaired = tokenizers::repair_utf8(bytes)) return *std::move(repaired);
  return bytes;
}

// The members token, logprob and bytes.
void append_token(std::string& out, std::int32_t token, float logprob, const TokenBytes& bytes) {
  const std::string text = bytes.of(token);
  out += R"("token":)";
  formats::append_json_string(out, valid_utf8(text));
  out += R"(,"logprob":)";
  append_logprob(out, logprob);
  out += R"(,"bytes":[)";
  for (std::size_t i = 0; i < text.size(); ++i)
    out += (i > 0 ? "," : "") + std::to_string(static_cast<unsigned char>(text[i]));
  out += ']';
}

// The text of a token as a key: no two tokens with different bytes have the same.
std::string spelling_of(const std::string& bytes) {
  if (!tokenizers::repair_utf8(bytes)) return bytes;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string spelling = "bytes:";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    spelling += "\\x";
    spelling += kDigits[byte >> 4];
    spelling += kDigits[byte & 15];
  }
  return spelling;
}

std::size_t code_points_begun(std::string_view bytes) {
  return static_cast<std::size_t>(
      std::ranges::count_if(bytes, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// The likeliest tokens and the chosen one; of several with one text the likeliest.
void append_top(std::string& out, const GeneratedToken& token, const TokenBytes& bytes) {
  std::vector<std::pair<std::string, float>> entries;
  const auto add = [&](std::int32_t id, float logprob) {
    std::string key = spelling_of(bytes.of(id));
    const auto same = std::ranges::find(entries, key, &std::pair<std::string, float>::first);
    if (same == entries.end()) {
      entries.emplace_back(std::move(key), logprob);
    } else {
      same->second = std::max(same->second, logprob);
    }
  };
  for (const TokenLogprob& each : token.top) add(each.token, each.logprob);
  add(token.id, token.logprob);
  out += '{';
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) out += ',';
    formats::append_json_string(out, entries[i].first);
    out += ':';
    append_logprob(out, entries[i].second);
  }
  out += '}';
}

}  // namespace

void append_token_logprobs(std::string& out, std::span<const GeneratedToken> tokens, const TokenBytes& bytes) {
  out += '[';
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    out += i > 0 ? ",{" : "{";
    append_token(out, tokens[i].id, tokens[i].logprob, bytes);
    out += R"(,"top_logprobs":[)";
    for (std::size_t j = 0; j < tokens[i].top.size(); ++j) {
      out += j > 0 ? ",{" : "{";
      append_token(out, tokens[i].top[j].token, tokens[i].top[j].logprob, bytes);
      out += '}';
    }
    out += "]}";
    check_size(out.size());
  }
  out += ']';
}

void CompletionLogprobs::append(std::string& out, std::span<const GeneratedToken> tokens, bool is_start,
                                const TokenBytes& bytes) {
  std::string texts, logprobs, tops, offsets;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_unknown = is_start && i == 0;
    if (i > 0)
      for (std::string* list : {&texts, &logprobs, &tops, &offsets}) *list += ',';
    const std::string text = bytes.of(tokens[i].id);
    formats::append_json_string(texts, spelling_of(text));
    if (is_unknown) {
      logprobs += "null";
      tops += "null";
    } else {
      append_logprob(logprobs, tokens[i].logprob);
      append_top(tops, tokens[i], bytes);
    }
    offsets += std::to_string(offset_);
    offset_ += code_points_begun(text);
    check_size(texts.size() + tops.size());
  }
  out += R"({"tokens":[)" + texts + R"(],"token_logprobs":[)" + logprobs + R"(],"top_logprobs":[)" + tops +
         R"(],"text_offset":[)" + offsets + "]}";
}

}  // namespace alate::server
