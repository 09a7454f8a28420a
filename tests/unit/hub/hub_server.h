// A hub on this machine for tests, with the routes that huggingface_hub and this library use, and a second server to
// which large files are redirected. A test may change any answer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace alate::hub {

struct HubRequest {
  std::string method, path, query;
  std::map<std::string, std::string> fields;  // names in lower case
  bool is_storage = false;                    // at the second server
  std::string head;                           // all of it
};

struct HubAnswer {
  int status = 200;
  std::map<std::string, std::string> fields = {};
  std::string body = {};
  std::optional<std::size_t> cut_at = {};  // so many bytes of the body are sent, then the connection is closed
  std::chrono::milliseconds stall{0};      // before that close
  std::size_t piece = 0;                   // the body goes out in pieces of this size, with `pause` between them
  std::chrono::milliseconds pause{0};
};

struct HubFile {
  std::string content;
  bool is_large = false;  // by SHA-256, and redirected to the second server
};

/// Any number of connections at a time.
class HubServer {
 public:
  HubServer();
  ~HubServer();
  HubServer(const HubServer&) = delete;
  HubServer& operator=(const HubServer&) = delete;

  /// A model with one commit, which "main" names. Replaces one of that id.
  void put_model(const std::string& id, const std::string& commit, std::map<std::string, HubFile> files);
  /// The answer to /api/models/ID/revision/..., in place of that of put_model.
  void put_listing(const std::string& id, std::string text);
  /// What is at a path of the hub, whatever else is there: {"/v1/index.json", "{…}"}.
  void put_page(const std::string& path, std::string body);
  void remove_page(const std::string& path);
  /// Called with each answer before it is sent, from several threads.
  void change_answers(std::function<void(const HubRequest&, HubAnswer&)> change);

  std::string url() const { return "http://127.0.0.1:" + std::to_string(hub_.port); }
  std::string storage_url() const { return "http://127.0.0.1:" + std::to_string(storage_.port); }
  std::vector<HubRequest> requests() const;
  /// Requests whose path has this text.
  std::size_t count(const std::string& method, const std::string& part) const;

  static std::string sha256(const std::string& content);
  static std::string git_digest(const std::string& content);

 private:
  struct Listener {
    int descriptor = -1;
    int port = 0;
    std::thread thread = {};
  };
  struct Model {
    std::string commit;
    std::map<std::string, HubFile> files;
    std::optional<std::string> listing;
  };

  void open(Listener& listener, bool is_storage);
  void serve(int connection, bool is_storage);
  HubAnswer answer(const HubRequest& request);
  HubAnswer answer_api(const Model& model, const std::string& id, const std::string& rest) const;
  HubAnswer answer_file(const Model& model, const std::string& id, const std::string& rest) const;
  HubAnswer answer_storage(const HubRequest& request) const;
  void send_answer(int connection, const HubRequest& request, const HubAnswer& answer) const;

  Listener hub_, storage_;
  std::atomic<bool> stops_{false};
  mutable std::mutex mutex_;
  std::map<std::string, Model> models_;
  std::map<std::string, std::string> pages_;
  std::map<std::string, std::string> stored_;  // contents by digest
  std::function<void(const HubRequest&, HubAnswer&)> change_;
  std::vector<HubRequest> requests_;
  std::vector<std::thread> clients_;
};

}  // namespace alate::hub
