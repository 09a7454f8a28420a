#include "pipelines/answer/answers_json.h"

#include "pipelines/calls/json_members.h"

namespace alate::pipelines {

std::string answers_json(std::span<const Answer> answers) {
  std::string out = "[";
  for (const Answer& answer : answers) {
    begin_object(out);
    append_member(out, "text", answer.text);
    append_member(out, "start", answer.start);
    append_member(out, "end", answer.end);
    append_member(out, "score", answer.score);
    append_member(out, "byte_start", answer.byte_start);
    append_member(out, "byte_end", answer.byte_end);
    out += '}';
  }
  return out += ']';
}

std::string hugging_face_answers_json(std::span<const Answer> answers) {
  std::string out = "[";
  for (const Answer& answer : answers) {
    begin_object(out);
    append_member(out, "score", answer.score);
    append_member(out, "start", answer.start);
    append_member(out, "end", answer.end);
    append_member(out, "answer", answer.text);
    out += '}';
  }
  if (answers.size() == 1) return out.substr(1);
  return out += ']';
}

}  // namespace alate::pipelines
