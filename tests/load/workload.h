// Requests to a server with the answers that the library gives: what an answer must equal bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "alate/embedding.h"

namespace alate::load {

/// Texts with the library's vectors.
class Workload {
 public:
  /// Makes `count` texts of 1 to some 200 words and embeds each alone. `model` is the server's name for the model.
  Workload(const EmbeddingPipeline& pipeline, std::string model, std::size_t count, std::uint32_t seed);

  struct Request {
    std::string bytes;  // a whole HTTP request
    std::vector<std::size_t> texts;
    enum class Form { native, binary, openai, openai_base64, tei } form = Form::native;
    std::size_t tokens = 0;
  };
  /// Most are one short text; some have many or long ones.
  Request draw(std::mt19937& random) const;
  /// One text of about eight words.
  Request draw_short(std::mt19937& random) const;

  /// What is wrong with an answer's body; empty when each vector equals the library's bit for bit.
  std::string check(const Request& request, const std::string& body) const;

  const std::vector<std::string>& texts() const { return texts_; }

 private:
  Request make(std::vector<std::size_t> texts, Request::Form form) const;

  std::string model_;
  std::size_t dimensions_;
  std::vector<std::string> texts_;
  std::vector<std::size_t> tokens_;
  std::vector<std::vector<float>> vectors_;
};

}  // namespace alate::load
