// Sharing loaded models among threads: each model is loaded once, on the first backend in order that can run it.
//   session_manager MODEL [NAME[:DEVICE]…]
#include <cstdio>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "alate/find_model.h"
#include "alate/inference_backend.h"
#include "alate/session.h"

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    std::fprintf(stderr, "usage: session_manager MODEL [NAME[:DEVICE]...]\n");
    return 2;
  }
  const std::filesystem::path model = alate::find_model(arguments[0]);
  for (const alate::InferenceBackend& backend : alate::list_available_backends())
    std::printf("available: %s\n", backend.name().c_str());
  std::printf("default: %s\n", alate::get_default_backend().name().c_str());

  alate::SessionManager sessions;
  sessions.set_priority(alate::BackendPlace::parse_all(std::span(arguments).subspan(1)));
  std::vector<std::thread> users;
  for (int i = 0; i < 4; ++i) {
    users.emplace_back([&] {
      try {
        const alate::SessionModel loaded = sessions.load_model(model);
        const alate::Tensor ids = alate::Tensor::from<std::int64_t>({1, 3}, std::vector<std::int64_t>{101, 7592, 102});
        const alate::NamedTensors outputs = loaded.model.forward({{"input_ids", ids}});
        std::printf("%s:%s gives %zu outputs\n", loaded.backend.c_str(), loaded.device.c_str(), outputs.size());
      } catch (const std::exception& error) {
        std::fprintf(stderr, "session_manager: %s\n", error.what());
      }
    });
  }
  for (std::thread& user : users) user.join();
  for (const alate::SessionFacts& session : sessions.sessions())
    std::printf("session %s:%s has %zu models\n", session.backend.c_str(), session.device.c_str(), session.models);
  return sessions.unload(model) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "session_manager: %s\n", error.what());
  return 1;
}
