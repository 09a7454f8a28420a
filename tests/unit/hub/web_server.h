// A web server of a few lines on this machine, for tests of downloads.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace alate::hub {

/// Answers each request with what is put at its path, one at a time; 404 for others.
class WebServer {
 public:
  WebServer();
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  /// The whole answer, from the status line on.
  void put(const std::string& path, std::string answer);
  /// A file of this type.
  void put_file(const std::string& path, const std::string& type, const std::string& content);
  std::string url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }
  /// The head of every request so far.
  std::vector<std::string> requests() const;

 private:
  void serve();

  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> answers_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace alate::hub
