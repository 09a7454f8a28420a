#include "pipelines/recognize/entities_json.h"

#include "pipelines/calls/json_members.h"

namespace alate::pipelines {

std::string entities_json(std::span<const Entity> entities) {
  std::string out = "[";
  for (const Entity& entity : entities) {
    begin_object(out);
    append_member(out, "text", entity.text);
    append_member(out, "label", entity.label);
    append_member(out, "start", entity.start);
    append_member(out, "end", entity.end);
    append_member(out, "score", entity.score);
    append_member(out, "byte_start", entity.byte_start);
    append_member(out, "byte_end", entity.byte_end);
    out += '}';
  }
  return out += ']';
}

std::string hugging_face_entities_json(std::span<const Entity> entities) {
  std::string out = "[";
  for (const Entity& entity : entities) {
    begin_object(out);
    append_member(out, entity.token ? "entity" : "entity_group", entity.label);
    append_member(out, "score", entity.score);
    if (entity.token) append_member(out, "index", *entity.token);
    append_member(out, "word", entity.word);
    append_member(out, "start", entity.start);
    append_member(out, "end", entity.end);
    out += '}';
  }
  return out += ']';
}

}  // namespace alate::pipelines
