#include "server/api/text_inputs.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

using formats::Json;

std::string place_of(const std::string& list, std::size_t index) { return list + "[" + std::to_string(index) + "]"; }

[[noreturn]] void refuse_kind(const std::string& place, const Json& value, const char* expected) {
  refuse(Problem::Kind::invalid, place + " is a " + std::string(value.kind()) + "; " + expected,
         place.substr(0, place.find('[')));
}

}  // namespace

std::vector<std::int32_t> read_token_ids(const Json::Array& ids, const std::string& place) {
  std::vector<std::int32_t> row;
  row.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!ids[i].is_integer()) refuse_kind(place_of(place, i), ids[i], "a list of token ids holds whole numbers alone");
    const std::int64_t id = ids[i].as_int(place);
    if (id < 0 || id > std::numeric_limits<std::int32_t>::max()) {
      refuse(Problem::Kind::invalid, place_of(place, i) + " is " + std::to_string(id) + ", which is no token id",
             place.substr(0, place.find('[')));
    }
    row.push_back(static_cast<std::int32_t>(id));
  }
  return row;
}

void read_inputs(const Json& inputs, const std::string& name, EmbedRequest& request) {
  request.parameter = name;
  if (inputs.is_string()) {
    request.lone = true;
    request.texts.push_back(inputs.as_string(name));
    return;
  }
  const Json::Array& list = inputs.as_array(name);
  if (!list.empty() && list.front().is_number()) {
    request.lone = true;
    request.token_rows.push_back(read_token_ids(list, name));
    return;
  }
  const bool rows = !list.empty() && list.front().is_array();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (rows && list[i].is_array()) {
      request.token_rows.push_back(read_token_ids(list[i].as_array(name), place_of(name, i)));
    } else if (!rows && list[i].is_string()) {
      request.texts.push_back(list[i].as_string(name));
    } else {
      refuse_kind(place_of(name, i), list[i],
                  rows ? "the first is a list of token ids, and so must all be" : "it must be a string");
    }
  }
}

}  // namespace alate::server
