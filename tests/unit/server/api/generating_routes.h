// Routes over a tiny language model whose texts are words: w0, w1, … (tests/golden/tiny_generators.h).
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "alate/chat.h"
#include "tests/golden/tiny_generators.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {

/// "tiny/writer" is the language model, "acme/mean" an embedder.
class GeneratingRouteTest : public RouteTest {
 protected:
  GeneratingRouteTest() {
    add("acme/mean");
    std::filesystem::create_directories(writer());
    tests::write_tiny_generator(writer());
  }

  /// Steps of a text may end after its answer, and then use the services of its request.
  ~GeneratingRouteTest() override { host().stop(); }

  Response call(std::vector<Route> routes, Method method, std::string_view path, std::string body = "") {
    return keep(begin(std::move(routes), method, path, std::move(body)))->answer.get();
  }

  std::filesystem::path writer() const { return settings.models_dir / "tiny/writer"; }

  /// The body of an answer, of a stream all that it brings.
  static std::string body_of(const Response& response) {
    if (response.stream == nullptr) return response.body;
    std::string all, piece;
    for (;;) {
      const AnswerReader::State state = response.stream->take(piece);
      all += piece;
      EXPECT_NE(state, AnswerReader::State::broken) << all;
      if (state != AnswerReader::State::open) return all;
      if (piece.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  /// What the library answers to a message of the user, with the likeliest tokens.
  std::string answer_of_library(std::string_view message, std::int64_t tokens) const {
    GenerationOptions options;
    options.sampling.temperature = 0;
    options.stopping.max_tokens = tokens;
    return Chat(TextGenerator::load(writer())).ask(message, options).text;
  }
};

}  // namespace alate::server
