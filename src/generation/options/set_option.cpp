#include "generation/options/set_option.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <variant>

#include "alate/error.h"
#include "generation/options/option_rows.h"

namespace alate::generation {
namespace {

using formats::Json;

std::uint64_t seed_of(const Json& value, std::string_view name) {
  return value.visit([&](const auto& held) -> std::uint64_t {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(held)>, std::uint64_t>) {
      return held;
    } else {
      return static_cast<std::uint64_t>(value.as_int(name));
    }
  });
}

Mirostat mirostat_of(const Json& value, std::string_view name) {
  const std::int64_t version = value.as_int(name);
  if (version < 0 || version > 2)  // an enumerator would lose the number before check_options sees it
    throw make_error(ErrorCode::invalid_argument, name, " is ", version, "; it must be a whole number from 0 to 2");
  return static_cast<Mirostat>(version);
}

template <typename Options>
bool set_in(Options& options, std::span<const OptionRow<Options>> rows, std::string_view name, const Json& value) {
  const auto row = std::ranges::find(rows, name, &OptionRow<Options>::name);
  if (row == rows.end()) return false;
  if (value.is_null()) return true;
  std::visit(
      [&](auto field) {
        auto& place = options.*field;
        using Value = std::remove_reference_t<decltype(place)>;
        if constexpr (std::is_same_v<Value, double>) {
          place = value.as_double(name);
        } else if constexpr (std::is_same_v<Value, bool>) {
          place = value.as_bool(name);
        } else if constexpr (std::is_same_v<Value, Mirostat>) {
          place = mirostat_of(value, name);
        } else if constexpr (std::is_same_v<Value, std::optional<std::uint64_t>>) {
          place = seed_of(value, name);
        } else {
          place = value.as_int(name);
        }
      },
      row->field);
  return true;
}

}  // namespace

bool set_option(SamplingOptions& options, std::string_view name, const Json& value) {
  return set_in(options, sampling_rows(), name, value);
}
bool set_option(StoppingOptions& options, std::string_view name, const Json& value) {
  return set_in(options, stopping_rows(), name, value);
}

}  // namespace alate::generation
