// The members of a JSON object as they are written, to copy them without changing a number or an escape.
#pragma once

#include <string_view>
#include <vector>

namespace alate::formats {

/// The text of each member, `"key": value`, in order; views of `object`, which must be a text that parse_json has read
/// as an object: nothing is checked again.
std::vector<std::string_view> json_member_texts(std::string_view object);

}  // namespace alate::formats
