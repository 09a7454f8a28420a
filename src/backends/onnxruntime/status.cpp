#include "backends/onnxruntime/status.h"

#include <initializer_list>

namespace alate::onnxruntime {
namespace {

bool says(std::string_view text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (text.find(part) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

ErrorCode code_of(int status, std::string_view text) {
  constexpr int kInvalidArgument = 2, kNoSuchFile = 3, kInvalidProtobuf = 7, kNotImplemented = 9, kInvalidGraph = 10;
  if (says(text, {"Failed to allocate memory", "bad_alloc", "bad allocation", "out of memory"}))
    return ErrorCode::resource_exhausted;
  if (says(text,
           {"No Op registered for", "is not a registered function/op", "Could not find an implementation for",
            "Unsupported model IR version", "ONNX Runtime only *guarantees* support", "No opset import for domain"}))
    return ErrorCode::unsupported;
  if (says(text, {"External data path"}))
    return says(text, {"does not exist"}) ? ErrorCode::not_found : ErrorCode::corrupt;
  switch (status) {
    case kInvalidArgument: return ErrorCode::invalid_argument;
    case kNoSuchFile: return ErrorCode::not_found;
    case kInvalidProtobuf:
    case kInvalidGraph: return ErrorCode::corrupt;
    case kNotImplemented: return ErrorCode::unsupported;
    default: return ErrorCode::internal;
  }
}

std::string plain_text(std::string_view text) {
  // "[ONNXRuntimeError] : 1 : FAIL : " precedes the message of an inner error; so does a failed condition.
  constexpr std::string_view kNested = "[ONNXRuntimeError] : ", kPart = " : ", kCondition = " was false. ";
  if (const std::size_t nested = text.rfind(kNested); nested != std::string_view::npos) {
    std::string_view rest = text.substr(nested + kNested.size());
    for (int part = 0; part < 2 && rest.find(kPart) != std::string_view::npos; ++part)
      rest.remove_prefix(rest.find(kPart) + kPart.size());
    text = rest;
  }
  if (const std::size_t condition = text.rfind(kCondition); condition != std::string_view::npos)
    text.remove_prefix(condition + kCondition.size());
  std::string plain(text);
  for (char& c : plain) c = c == '\n' ? ' ' : c;
  while (!plain.empty() && plain.back() == ' ') plain.pop_back();
  return plain;
}

}  // namespace alate::onnxruntime
