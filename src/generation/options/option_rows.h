// The options of sampling and stopping that are single numbers, as tables: a row gives an option its name, its place
// and its range, for checks and for JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "alate/sampling.h"

namespace alate::generation {

template <typename Options>
struct OptionRow {
  using Field = std::variant<double Options::*, std::int64_t Options::*, bool Options::*, Mirostat Options::*,
                             std::optional<std::int64_t> Options::*, std::optional<std::uint64_t> Options::*>;

  std::string_view name;
  Field field;
  double least = 0, most = 0;  // inclusive; flags and seeds have no range
};

std::span<const OptionRow<SamplingOptions>> sampling_rows();
std::span<const OptionRow<StoppingOptions>> stopping_rows();

}  // namespace alate::generation
