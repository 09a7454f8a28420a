#include "pipelines/recognize/entities_json.h"

#include <cstddef>
#include <string_view>

#include "formats/json.h"

namespace alate::pipelines {
namespace {

void append(std::string& out, std::string_view name, std::string_view text) {
  out += '"';
  out += name;
  out += "\":";
  formats::append_json_string(out, text);
}

void append(std::string& out, std::string_view name, std::size_t number) {
  out += ",\"";
  out += name;
  out += "\":" + std::to_string(number);
}

void append_score(std::string& out, float score) {
  out += ",\"score\":";
  formats::append_json_number(out, score);
}

}  // namespace

std::string entities_json(std::span<const Entity> entities) {
  std::string out = "[";
  for (const Entity& entity : entities) {
    out += out.size() > 1 ? ",{" : "{";
    append(out, "text", entity.text);
    out += ',';
    append(out, "label", entity.label);
    append(out, "start", entity.start);
    append(out, "end", entity.end);
    append_score(out, entity.score);
    append(out, "byte_start", entity.byte_start);
    append(out, "byte_end", entity.byte_end);
    out += '}';
  }
  return out += ']';
}

std::string hugging_face_entities_json(std::span<const Entity> entities) {
  std::string out = "[";
  for (const Entity& entity : entities) {
    out += out.size() > 1 ? ",{" : "{";
    append(out, entity.token ? "entity" : "entity_group", entity.label);
    append_score(out, entity.score);
    if (entity.token) append(out, "index", *entity.token);
    out += ',';
    append(out, "word", entity.word);
    append(out, "start", entity.start);
    append(out, "end", entity.end);
    out += '}';
  }
  return out += ']';
}

}  // namespace alate::pipelines
