// The library's error type: a code, a message for the user, and its causes.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alate {

enum class ErrorCode {
  invalid_argument,    // the caller's input is wrong, whatever the state of the machine
  not_found,           // a file, model or name does not exist
  unsupported,         // well-formed, but this build, backend or architecture cannot do it
  resource_exhausted,  // out of memory, or over a limit that exists to protect the process
  unavailable,         // a backend or network that may be available later
  deadline_exceeded,
  cancelled,
  unauthenticated,
  corrupt,   // a file contradicts itself or its format
  internal,  // a bug in Alate
};

/// The code's name, as printed and sent, for example "invalid_argument".
std::string_view to_string(ErrorCode code);

/// Thrown by every function of the library that fails. The message says which input, what is wrong and what to do; it
/// is one line and contains no text from the user's documents.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message);

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  /// The causes, nearest first; empty when this error is the root.
  const std::vector<std::string>& causes() const { return causes_; }

  /// The same error and causes with `context` prepended to the message ("loading model.safetensors: ...").
  Error with_context(std::string_view context) const;
  /// The same error with one more cause appended.
  Error with_cause(const std::exception& cause) const;

  /// The message and its causes on one line; owned by the error.
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  void render();

  ErrorCode code_;
  std::string message_;
  std::vector<std::string> causes_;
  std::string what_;
};

/// `Error{code, message}` with the parts' printable forms concatenated as the message.
template <typename... Parts>
Error make_error(ErrorCode code, const Parts&... parts);

namespace detail {
inline void append(std::string& out, std::string_view part) { out += part; }
inline void append(std::string& out, const char* part) { out += part; }
inline void append(std::string& out, const std::string& part) { out += part; }
inline void append(std::string& out, char part) { out += part; }
template <typename Number>
void append(std::string& out, Number part) {
  out += std::to_string(part);
}
}  // namespace detail

template <typename... Parts>
Error make_error(ErrorCode code, const Parts&... parts) {
  std::string message;
  (detail::append(message, parts), ...);
  return Error{code, std::move(message)};
}

}  // namespace alate
