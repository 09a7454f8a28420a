#include <iconv.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "base/os/character_sets.h"

namespace alate::base {
namespace {

class Converter {
 public:
  explicit Converter(const std::string& name) : handle_(::iconv_open("UTF-8", name.c_str())) {}
  ~Converter() {
    if (is_open()) ::iconv_close(handle_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  // iconv_open's result for a set that it does not know is (iconv_t)-1.
  bool is_open() const { return reinterpret_cast<std::ptrdiff_t>(handle_) != -1; }

  // Appends what it makes of the bytes and takes those away; the error that stopped it, 0 at their end.
  int convert(std::string_view& bytes, std::string& out) {
    std::array<char, 4096> made{};
    char* from = const_cast<char*>(bytes.data());  // iconv reads it
    std::size_t left = bytes.size(), room = made.size();
    char* to = made.data();
    errno = 0;
    const bool is_done = ::iconv(handle_, &from, &left, &to, &room) != static_cast<std::size_t>(-1);
    const int error = errno;
    out.append(made.data(), made.size() - room);
    bytes.remove_prefix(bytes.size() - left);
    return is_done ? 0 : error;
  }
  // Ends a character that waits for marks, and returns to the first state.
  void finish(std::string& out) {
    std::array<char, 64> made{};
    char* to = made.data();
    std::size_t room = made.size();
    ::iconv(handle_, nullptr, nullptr, &to, &room);
    out.append(made.data(), made.size() - room);
  }

 private:
  iconv_t handle_;
};

}  // namespace

std::optional<std::string> convert_to_utf8(std::string_view bytes, const std::string& name) {
  Converter converter(name);
  if (!converter.is_open()) return std::nullopt;
  std::string text;
  while (!bytes.empty()) {
    const int error = converter.convert(bytes, text);
    if (error == 0 || error == E2BIG) continue;
    text += "\uFFFD";
    if (!bytes.empty()) bytes.remove_prefix(1);
  }
  converter.finish(text);
  return text;
}

}  // namespace alate::base
