// A conversation with a language model, whose answers are shown as they come.
//   chat [MODEL]     builtin:smollm2 unless MODEL is given; `alate pull builtin:smollm2` fetches it
#include <exception>
#include <iostream>
#include <stop_token>
#include <string>
#include <string_view>

#include "alate/chat.h"
#include "alate/find_model.h"

int main(int argc, char** argv) try {
  const auto generator = alate::TextGenerator::load(alate::find_model(argc > 1 ? argv[1] : "builtin:smollm2"));
  alate::Chat chat(generator);
  chat.set_system("You answer in one sentence.");
  alate::GenerationOptions options = generator.defaults();
  options.stopping.max_tokens = 200;

  const auto show = [](std::string_view piece) { std::cout << piece << std::flush; };
  for (std::string line; std::cout << "> " << std::flush && std::getline(std::cin, line);) {
    if (line.empty()) continue;
    // Another thread may end an answer: stop.request_stop().
    std::stop_source stop;
    const alate::ChatAnswer answer = chat.ask(line, options, show, {.stop = stop.get_token()});
    std::cout << "\n(" << answer.tokens.size() << " tokens, " << to_string(answer.finish) << ")\n";
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "chat: " << error.what() << "\n";
  return 1;
}
