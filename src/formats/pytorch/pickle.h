// Python's pickles, read as data: https://docs.python.org/3/library/pickletools.html. No code is run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace alate::formats {

/// Something that a pickle builds. It refers to other values by their index in Pickle::values.
struct PickleValue {
  enum class Kind {
    none,
    boolean,
    integer,  // of more than 64 bits: `text` has its bytes, least first
    number,
    text,
    tuple,
    list,
    dict,        // `items` has key, value, key, value, …
    global,      // `text` is "module name"
    object,      // what calling items[0], a global, with items[1], a tuple, would give
    persistent,  // something outside of the pickle; items[0] says what
  };

  Kind kind = Kind::none;
  std::int64_t integer = 0;  // of a boolean too
  double number = 0;
  std::string_view text;  // not checked to be UTF-8; lives in the file
  std::vector<std::uint32_t> items;
};

struct Pickle {
  std::vector<PickleValue> values;
  std::uint32_t root = 0;
  std::size_t byte_count = 0;  // other bytes may follow

  const PickleValue& operator[](std::uint32_t index) const { return values[index]; }
};

struct PickleLimits {
  std::size_t max_values = 2'000'000;
  std::size_t max_operations = 16'000'000;
};

/// Reads the pickle at the beginning of `bytes`, of protocol 2 to 5. Only the `globals` may be named ("module name");
/// collections.OrderedDict becomes a dict. The state that objects are given after their making is left out. Values may
/// refer to themselves. Throws corrupt, unsupported for another global and for operations that data do not need,
/// resource_exhausted over a limit; each with `what` (the file's name).
Pickle parse_pickle(std::span<const std::byte> bytes, std::span<const std::string_view> globals, std::string_view what,
                    const PickleLimits& limits = {});

}  // namespace alate::formats
