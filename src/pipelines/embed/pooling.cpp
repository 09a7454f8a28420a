// The names of poolings.
#include <algorithm>
#include <array>

#include "alate/embedding.h"

namespace alate {
namespace {

// In the order of the enum.
constexpr std::array<std::string_view, 6> kNames = {"mean",        "cls", "max", "lasttoken", "mean_sqrt_len_tokens",
                                                    "weightedmean"};

}  // namespace

std::string_view to_string(Pooling pooling) { return kNames.at(static_cast<std::size_t>(pooling)); }

std::optional<Pooling> parse_pooling(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  return found == kNames.end() ? std::nullopt : std::optional(static_cast<Pooling>(found - kNames.begin()));
}

}  // namespace alate
