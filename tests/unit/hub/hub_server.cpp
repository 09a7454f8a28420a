#include "tests/unit/hub/hub_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <stdexcept>

#include "base/sha1.h"
#include "base/sha256.h"
#include "formats/json.h"

namespace alate::hub {
namespace {

using formats::Json;

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

HubRequest parse(std::string head, bool is_storage) {
  HubRequest request{.method = {}, .path = {}, .query = {}, .fields = {}, .is_storage = is_storage, .head = {}};
  const std::size_t space = head.find(' ');
  request.method = head.substr(0, space);
  request.path = head.substr(space + 1, head.find(' ', space + 1) - space - 1);
  if (const std::size_t mark = request.path.find('?'); mark != std::string::npos) {
    request.query = request.path.substr(mark + 1);
    request.path.resize(mark);
  }
  for (std::size_t at = head.find("\r\n"); at != std::string::npos;) {
    const std::size_t end = head.find("\r\n", at + 2);
    if (end == std::string::npos) break;
    const std::string line = head.substr(at + 2, end - at - 2);
    if (const std::size_t colon = line.find(": "); colon != std::string::npos)
      request.fields[lower(line.substr(0, colon))] = line.substr(colon + 2);
    at = end;
  }
  request.head = std::move(head);
  return request;
}

HubAnswer not_found(const std::string& kind) {
  return {.status = 404, .fields = {{"X-Error-Code", kind}}, .body = "{\"error\":\"none\"}"};
}

// Cuts the body to the range that was asked for.
void take_range(const HubRequest& request, HubAnswer& answer) {
  const auto range = request.fields.find("range");
  if (answer.status != 200 || range == request.fields.end() || !range->second.starts_with("bytes=")) return;
  char* after = nullptr;
  const std::size_t begin = std::strtoull(range->second.c_str() + 6, &after, 10), size = answer.body.size();
  std::size_t last = after[1] == '\0' ? size - 1 : std::strtoull(after + 1, nullptr, 10);
  if (begin >= size) {
    answer.status = 416;
    answer.body.clear();
    return;
  }
  last = std::min(last, size - 1);
  answer.status = 206;
  answer.body = answer.body.substr(begin, last + 1 - begin);
  answer.fields["Content-Range"] =
      "bytes " + std::to_string(begin) + "-" + std::to_string(last) + "/" + std::to_string(size);
}

// The digests of large contents: most tests have the same, of which sanitizers' builds sum 20 MiB in seconds.
class Remembered {
 public:
  std::string digest_of(const std::string& content, const std::function<std::string()>& sum) {
    if (content.size() < (std::size_t{1} << 20)) return sum();
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = digests_.try_emplace(content);
    if (is_new) known->second = sum();
    return known->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> digests_;
};

bool send_all(int connection, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

}  // namespace

std::string HubServer::sha256(const std::string& content) {
  static Remembered remembered;
  return remembered.digest_of(content, [&] { return base::Sha256().add(std::as_bytes(std::span(content))).finish(); });
}

std::string HubServer::git_digest(const std::string& content) {
  static Remembered remembered;
  return remembered.digest_of(content, [&] {
    const std::string head = "blob " + std::to_string(content.size()) + '\0';
    base::Sha1 sum;
    return sum.add(std::as_bytes(std::span(head))).add(std::as_bytes(std::span(content))).finish();
  });
}

HubServer::HubServer() {
  open(hub_, false);
  open(storage_, true);
}

HubServer::~HubServer() {
  stops_ = true;
  for (Listener* each : {&hub_, &storage_}) {
    ::shutdown(each->descriptor, SHUT_RDWR);
    each->thread.join();
    ::close(each->descriptor);
  }
  for (std::thread& each : clients_) each.join();
}

void HubServer::open(Listener& listener, bool is_storage) {
  listener.descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener.descriptor, generic, size) != 0 || ::listen(listener.descriptor, 64) != 0 ||
      ::getsockname(listener.descriptor, generic, &size) != 0)
    throw std::runtime_error("no port to listen on");
  listener.port = ntohs(address.sin_port);
  listener.thread = std::thread([this, &listener, is_storage] {
    for (;;) {
      const int connection = ::accept4(listener.descriptor, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      const std::lock_guard lock(mutex_);
      clients_.emplace_back([this, connection, is_storage] { serve(connection, is_storage); });
    }
  });
}

void HubServer::put_model(const std::string& id, const std::string& commit, std::map<std::string, HubFile> files) {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, file] : files) stored_[sha256(file.content)] = file.content;
  models_[id] = {.commit = commit, .files = std::move(files), .listing = {}};
}

void HubServer::put_listing(const std::string& id, std::string text) {
  const std::lock_guard lock(mutex_);
  models_[id].listing = std::move(text);
}

void HubServer::put_page(const std::string& path, std::string body) {
  const std::lock_guard lock(mutex_);
  pages_[path] = std::move(body);
}

void HubServer::remove_page(const std::string& path) {
  const std::lock_guard lock(mutex_);
  pages_.erase(path);
}

void HubServer::change_answers(std::function<void(const HubRequest&, HubAnswer&)> change) {
  const std::lock_guard lock(mutex_);
  change_ = std::move(change);
}

std::vector<HubRequest> HubServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::size_t HubServer::count(const std::string& method, const std::string& part) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(requests_, [&](const HubRequest& each) {
    return each.method == method && each.path.find(part) != std::string::npos;
  }));
}

HubAnswer HubServer::answer_api(const Model& model, const std::string& id, const std::string& rest) const {
  HubAnswer answer{.fields = {{"Content-Type", "application/json"}}};
  const bool is_tree = rest.starts_with("/tree/");
  if (model.listing && !is_tree) {
    answer.body = *model.listing;
    return answer;
  }
  const std::string revision = rest.substr(rest.find('/', 1) == std::string::npos ? 0 : rest.find('/', 1) + 1);
  if (!rest.empty() && revision != "main" && revision != model.commit) return not_found("RevisionNotFound");
  Json::Array siblings, tree;
  for (const auto& [name, file] : model.files) {
    const Json size = std::uint64_t{file.content.size()};
    Json::Object sibling = {{"rfilename", name}, {"size", size}, {"blobId", git_digest(file.content)}};
    Json::Object entry = {{"type", "file"}, {"path", name}, {"size", size}, {"oid", git_digest(file.content)}};
    if (file.is_large) {
      const std::string digest = sha256(file.content);
      sibling.emplace_back("lfs", Json::Object{{"sha256", digest}, {"size", size}, {"pointerSize", 134}});
      entry.emplace_back("lfs", Json::Object{{"oid", digest}, {"size", size}, {"pointerSize", 134}});
    }
    siblings.push_back(std::move(sibling));
    tree.push_back(std::move(entry));
  }
  answer.body = formats::to_json_text(
      is_tree ? Json(std::move(tree))
              : Json(Json::Object{{"id", id}, {"sha", model.commit}, {"siblings", std::move(siblings)}}));
  return answer;
}

// "/REVISION/NAME" below /ID/resolve.
HubAnswer HubServer::answer_file(const Model& model, const std::string& id, const std::string& rest) const {
  const std::size_t slash = rest.find('/', 1);
  const std::string revision = rest.substr(1, slash - 1), name = rest.substr(slash + 1);
  if (revision != "main" && revision != model.commit) return not_found("RevisionNotFound");
  const auto found = model.files.find(name);
  HubAnswer answer;
  if (found == model.files.end()) answer = not_found("EntryNotFound");
  answer.fields["X-Repo-Commit"] = model.commit;
  if (found == model.files.end()) return answer;
  const std::string& content = found->second.content;
  if (!found->second.is_large) {
    answer.fields["ETag"] = "\"" + git_digest(content) + "\"";
    answer.body = content;
    return answer;
  }
  const std::string digest = sha256(content);
  answer.status = 302;
  answer.fields["X-Linked-Etag"] = "\"" + digest + "\"";
  answer.fields["X-Linked-Size"] = std::to_string(content.size());
  answer.fields["Location"] = storage_url() + "/" + digest + "?signature=secret";
  answer.body = "Found. Redirecting for " + id;
  return answer;
}

HubAnswer HubServer::answer_storage(const HubRequest& request) const {
  const auto found = stored_.find(request.path.substr(1));
  if (found == stored_.end()) return not_found("none");
  return {.fields = {{"ETag", "\"storage-" + found->first.substr(0, 8) + "\""}, {"Accept-Ranges", "bytes"}},
          .body = found->second};
}

HubAnswer HubServer::answer(const HubRequest& request) {
  if (request.is_storage) return answer_storage(request);
  if (const auto page = pages_.find(request.path); page != pages_.end())
    return {.fields = {{"Content-Type", "application/json"}}, .body = page->second};
  if (request.path.starts_with("/v1/")) return {.status = 404, .body = "none"};
  const bool is_api = request.path.starts_with("/api/models/");
  const std::string path = request.path.substr(is_api ? 12 : 1);
  for (const auto& [id, model] : models_) {
    if (path != id && !path.starts_with(id + "/")) continue;
    const std::string rest = path.substr(id.size());
    if (is_api) return answer_api(model, id, rest);
    if (rest.starts_with("/resolve/")) return answer_file(model, id, rest.substr(8));
  }
  HubAnswer missing = not_found("RepoNotFound");
  missing.status = 401;  // as the hub answers askers without a token
  return missing;
}

void HubServer::send_answer(int connection, const HubRequest& request, const HubAnswer& answer) const {
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " Answer\r\nConnection: close\r\n";
  for (const auto& [name, value] : answer.fields) head.append(name).append(": ").append(value).append("\r\n");
  if (!answer.fields.contains("Content-Length") && !answer.fields.contains("Transfer-Encoding"))
    head += "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
  if (!send_all(connection, head + "\r\n") || request.method == "HEAD") return;
  const std::string_view body = std::string_view(answer.body).substr(0, answer.cut_at.value_or(answer.body.size()));
  const std::size_t piece = answer.piece > 0 ? answer.piece : std::max<std::size_t>(body.size(), 1);
  for (std::size_t at = 0; at < body.size() && !stops_; at += piece) {
    if (!send_all(connection, body.substr(at, piece))) return;
    if (answer.pause.count() > 0) std::this_thread::sleep_for(answer.pause);
  }
  for (auto left = answer.stall; left.count() > 0 && !stops_; left -= std::chrono::milliseconds(10)) {
    pollfd entry = {connection, POLLRDHUP, 0};
    if (::poll(&entry, 1, 10) != 0) return;  // the client has left
  }
}

void HubServer::serve(int connection, bool is_storage) {
  std::string head;
  char buffer[4096];
  while (head.find("\r\n\r\n") == std::string::npos && !stops_) {
    pollfd entry = {connection, POLLIN, 0};
    if (::poll(&entry, 1, 50) == 0) continue;
    const ssize_t got = ::recv(connection, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    head.append(buffer, static_cast<std::size_t>(got));
  }
  if (head.find("\r\n\r\n") != std::string::npos) {
    const HubRequest request = parse(std::move(head), is_storage);
    HubAnswer made;
    std::function<void(const HubRequest&, HubAnswer&)> change;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      made = answer(request);
      change = change_;
    }
    take_range(request, made);
    if (change) change(request, made);
    send_answer(connection, request, made);
    ::shutdown(connection, SHUT_WR);
    // What the client still sends is read, so that it gets the answer instead of a reset.
    for (int i = 0; i < 100 && !stops_; ++i) {
      pollfd entry = {connection, POLLIN, 0};
      if (::poll(&entry, 1, 20) > 0 && ::recv(connection, buffer, sizeof buffer, 0) <= 0) break;
    }
  }
  ::close(connection);
}

}  // namespace alate::hub
