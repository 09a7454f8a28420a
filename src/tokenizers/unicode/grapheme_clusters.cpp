#include "tokenizers/unicode/grapheme_clusters.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "alate/error.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

constexpr std::size_t kMostCodePoints = 128;

bool is_ascii_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]) < 0x80; }

// Most characters of most texts: between two of ASCII is a border unless they are the end of a line on Windows.
bool is_ascii_cluster(std::string_view text, std::size_t at) {
  return is_ascii_at(text, at) && text[at] != '\r' && (at + 1 == text.size() || is_ascii_at(text, at + 1));
}

}  // namespace

std::size_t cluster_end(std::string_view text, std::size_t at) {
  if (is_ascii_cluster(text, at)) return at + 1;
  CodePoint last = decode_utf8(text, at);
  at += last.length;
  utf8proc_int32_t state = 0;
  for (std::size_t count = 1; at < text.size() && count < kMostCodePoints; ++count) {
    if (last.value < 0x80 && is_ascii_at(text, at) && last.value != '\r') break;
    const CodePoint next = decode_utf8(text, at);
    const bool is_border = utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last.value),
                                                            static_cast<utf8proc_int32_t>(next.value), &state);
    if (is_border) break;
    at += next.length;
    last = next;
  }
  return at;
}

GraphemeClusters::GraphemeClusters(std::string_view text) : text_(text) {
  if (text.size() >= std::numeric_limits<std::uint32_t>::max())
    throw make_error(ErrorCode::resource_exhausted, "the text has ", text.size(),
                     " bytes; give less than 4 GiB at once");
  for (std::size_t at = 0; at < text.size();) {
    if (is_ascii_cluster(text, at)) {
      ++at;
      continue;
    }
    const std::size_t end = cluster_end(text, at);
    const bool is_one = is_ascii_at(text, at) ? end == at + 1 : end == at + decode_utf8(text, at).length;
    if (!is_one) clusters_.emplace_back(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end));
    at = end;
  }
}

const GraphemeClusters::Cluster* GraphemeClusters::around(std::size_t at) const {
  const auto behind = std::ranges::upper_bound(clusters_, at, {}, &Cluster::first);
  if (behind == clusters_.begin()) return nullptr;
  const Cluster& cluster = *std::prev(behind);
  return at > cluster.first && at < cluster.second ? &cluster : nullptr;
}

std::size_t GraphemeClusters::border_before(std::size_t at) const {
  if (at >= text_.size()) return text_.size();
  if (const Cluster* cluster = around(at)) return cluster->first;
  while (!starts_code_point(text_[at])) --at;
  return at;
}

std::size_t GraphemeClusters::border_after(std::size_t at) const {
  if (at >= text_.size()) return text_.size();
  if (const Cluster* cluster = around(at)) return cluster->second;
  while (at < text_.size() && !starts_code_point(text_[at])) ++at;
  return at;
}

}  // namespace alate::tokenizers
