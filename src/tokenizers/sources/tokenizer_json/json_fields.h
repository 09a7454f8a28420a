// Access to members of a tokenizer file's JSON objects, with `corrupt` errors that name the location.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/json.h"

namespace alate::tokenizers {

using formats::Json;

/// Maximum nesting of parts (Sequence in Sequence).
inline constexpr int kMaxPartDepth = 16;

/// The member of `object`, which `where` names ("tokenizer.json: model"). Throws corrupt if it is absent.
const Json& member(const Json& object, std::string_view key, std::string_view where);

/// The member as the requested type. Throws corrupt if it is absent or of another kind.
const std::string& string_member(const Json& object, std::string_view key, std::string_view where);
bool bool_member(const Json& object, std::string_view key, std::string_view where);
const Json::Array& array_member(const Json& object, std::string_view key, std::string_view where);
const Json::Object& object_member(const Json& object, std::string_view key, std::string_view where);
/// A whole number from 0 to 2^31 - 1: an id, a type id, a count.
std::int32_t count_member(const Json& object, std::string_view key, std::string_view where);

/// The same for a value that is not a member.
const std::string& as_string(const Json& value, std::string_view where);
std::int32_t as_count(const Json& value, std::string_view where);

/// The "type" of a part. Throws corrupt if `part` is not an object or has none.
const std::string& part_type(const Json& part, std::string_view where);

/// Throws unsupported naming the kind of part ("normalizer") and its type.
[[noreturn]] void throw_unknown_part(std::string_view kind, std::string_view type, std::string_view where);

/// Throws corrupt if `depth` exceeds kMaxPartDepth.
void check_depth(int depth, std::string_view where);

/// Maximum number of parts of one member, those in sequences counted: every text goes through all of them.
inline constexpr std::size_t kMaxParts = 1024;

/// Throws resource_exhausted if `part` has more than kMaxParts.
void check_part_count(const Json& part, std::string_view where);

}  // namespace alate::tokenizers
