#include "pipelines/fill/fills_json.h"

#include <cstddef>

#include "pipelines/calls/json_members.h"

namespace alate::pipelines {
namespace {

template <typename Write>
std::string list_of(std::span<const std::vector<Fill>> masks, const Write& write) {
  std::string out = "[";
  for (const std::vector<Fill>& mask : masks) {
    out += out.size() > 1 ? ",[" : "[";
    for (const Fill& fill : mask) {
      begin_object(out);
      write(out, fill);
      out += '}';
    }
    out += ']';
  }
  return out += ']';
}

}  // namespace

std::string fills_json(std::span<const std::vector<Fill>> masks) {
  return list_of(masks, [](std::string& out, const Fill& fill) {
    append_member(out, "token", fill.token);
    append_member(out, "score", fill.score);
    append_member(out, "text", fill.text);
    append_member(out, "id", static_cast<std::size_t>(fill.id));
  });
}

std::string hugging_face_fills_json(std::span<const std::vector<Fill>> masks) {
  const std::string list = list_of(masks, [](std::string& out, const Fill& fill) {
    append_member(out, "score", fill.score);
    append_member(out, "token", static_cast<std::size_t>(fill.id));
    append_member(out, "token_str", fill.token);
    append_member(out, "sequence", fill.text);
  });
  return masks.size() == 1 ? list.substr(1, list.size() - 2) : list;
}

}  // namespace alate::pipelines
