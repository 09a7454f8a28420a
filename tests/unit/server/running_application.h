// A whole server inside the test's process, over a small model, and a client for it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "alate/embedding.h"
#include "formats/json.h"
#include "server/application.h"
#include "tests/load/client.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::server {

/// Serves "tiny/embedder" (and "tiny/other", the same without normalization) until it is destroyed.
class RunningApplication {
 public:
  explicit RunningApplication(const std::function<void(Settings&)>& change = {}) {
    const std::filesystem::path models = source_folder() / "tests/golden/models";
    const auto options = std::filesystem::copy_options::recursive;
    std::filesystem::create_directories(folder_.path() / "models/tiny");
    std::filesystem::copy(models / "st_mean_normalize", folder_.path() / "models/tiny/embedder", options);
    std::filesystem::copy(models / "st_mean", folder_.path() / "models/tiny/other", options);
    Settings settings;
    settings.port = 0;
    settings.models_dir = folder_.path() / "models";
    settings.default_model = "tiny/embedder";
    if (change) change(settings);
    application_ = std::make_unique<Application>(settings, "1.2.3");
    const std::string endpoint = application_->endpoints().front();
    if (settings.listens_on_tcp)
      port_ = static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
    thread_ = std::thread([this] { application_->run(); });
  }
  ~RunningApplication() { stop(); }
  RunningApplication(const RunningApplication&) = delete;
  RunningApplication& operator=(const RunningApplication&) = delete;

  void stop() {
    application_->stop();
    if (thread_.joinable()) thread_.join();
  }
  Application& application() { return *application_; }
  std::uint16_t port() const { return port_; }
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path model() const { return folder_.path() / "models/tiny/embedder"; }
  std::filesystem::path other_model() const { return folder_.path() / "models/tiny/other"; }

  load::Answer get(std::string_view path, std::string_view headers = "") const {
    return send(load::Client::request("GET", path, "", headers));
  }
  load::Answer post(std::string_view path, std::string_view body, std::string_view headers = "") const {
    return send(load::Client::request("POST", path, body, headers));
  }
  load::Answer send(std::string_view bytes) const {
    load::Client client(port_);
    return client.exchange(bytes);
  }

 private:
  base::TemporaryFolder folder_;
  std::unique_ptr<Application> application_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

/// The value of a header of an answer; empty when absent.
inline std::string header_of(const load::Answer& answer, std::string_view name) {
  const std::string start = "\r\n" + std::string(name) + ": ";
  const std::size_t at = answer.head.find(start);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + start.size();
  return answer.head.substr(begin, answer.head.find("\r\n", begin) - begin);
}

inline formats::Json json_of(const load::Answer& answer) { return formats::parse_json(answer.body, "the answer"); }

}  // namespace alate::server
