#include "backends/plugin/plugin_backend.h"

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "alate/error.h"
#include "backends/donation.h"
#include "backends/host_buffers.h"
#include "backends/lowering.h"
#include "backends/plugin/executable.h"
#include "backends/plugin/graph_text.h"
#include "backends/plugin/library.h"
#include "base/threads/mutex.h"

namespace alate::plugin {
namespace {

using backends::Buffer;
using backends::Device;
using backends::Support;

// Most answers about nodes that are kept. A model has some tens of different nodes.
constexpr std::size_t kMostAnswers = 4096;

class PluginBackend final : public backends::Backend {
 public:
  explicit PluginBackend(const FoundPlugin& plugin) : name_(plugin.name), file_(plugin.file) {}

  std::string_view name() const override { return name_; }

  std::vector<Device> devices() override {
    try {
      return library()->devices();
    } catch (const Error& error) {
      return {Device{.backend = name_,
                     .name = "cpu",
                     .description = "a backend of its own library",
                     .library = file_.string(),
                     .unusable = error.message(),
                     .remedy = "build the library anew as docs/adding-a-backend.md says, or take it out of "
                               "ALATE_BACKEND_PATH"}};
    }
  }

  backends::LibrarySearch libraries() const override { return {.found = {file_}, .looked_in = file_.string()}; }

  Support supports(const graph::Graph& graph, const graph::Node& node, const Device& device) const override {
    return support_of(graph, node, device.name);
  }

  std::unique_ptr<backends::Executable> compile(const graph::Graph& graph,
                                                const backends::CompileOptions& options) override {
    const std::shared_ptr<const Library> library = this->library();
    const graph::Graph optimized = backends::lower(
        name_, graph, options,
        [&](const graph::Graph& g, const graph::Node& node) { return support_of(g, node, options.device); });
    auto executable = std::make_unique<PluginExecutable>(optimized, library, options);
    backends::require_small_copies(name_, optimized, executable->facts().aliases, options);
    return executable;
  }

  Buffer upload(const Tensor& tensor, const Device&) override { return tensor; }
  Tensor download(const Buffer& buffer) override { return backends::host_tensor(buffer); }

 private:
  // Spellings and answers are cached; spellings as long as the process lives, since the interface returns views.
  Support support_of(const graph::Graph& graph, const graph::Node& node, const std::string& device) const {
    const std::string text = write_node(graph, node);
    const std::string key = device + '\n' + text;
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = answers_.find(key); found != answers_.end()) return found->second;
    }
    Support support;
    try {
      const std::string_view op = graph::to_string(node.op);
      Library::Answer answer = library()->supports(op, text, device);
      const std::lock_guard lock(mutex_);
      if (answer.native) {
        support.native = true;
        support.spelling = *spellings_.insert(answer.spelling.empty() ? std::string(op) : answer.spelling).first;
      } else {
        support.reason = answer.reason.empty() ? "the library does not run it" : std::move(answer.reason);
      }
      if (answers_.size() >= kMostAnswers) answers_.clear();
      answers_.emplace(key, support);
    } catch (const Error& error) {
      support = {.native = false, .spelling = {}, .reason = error.message()};
    }
    return support;
  }

  std::shared_ptr<const Library> library() const {
    const std::lock_guard lock(opening_);
    if (library_ == nullptr) library_ = Library::open(file_, name_);
    return library_;
  }

  std::string name_;
  std::filesystem::path file_;
  mutable base::Mutex opening_;
  mutable std::shared_ptr<const Library> library_;
  mutable base::Mutex mutex_;
  mutable std::set<std::string> spellings_;
  mutable std::map<std::string, Support> answers_;
};

}  // namespace

std::unique_ptr<backends::Backend> make_backend(const FoundPlugin& plugin) {
  return std::make_unique<PluginBackend>(plugin);
}

std::vector<std::string> aliases_of(const FoundPlugin& plugin) {
  try {
    return Library::open(plugin.file, plugin.name)->aliases();
  } catch (const Error&) {
    return {};  // its devices() says why
  }
}

}  // namespace alate::plugin
