// A models directory of tiny models, and a host over it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "server/exchange/work_queue.h"
#include "server/models/model_host.h"
#include "server/settings/settings.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::server {

/// What acquire came to.
struct Acquired {
  std::future<std::pair<std::shared_ptr<HostedModel>, std::exception_ptr>> answer;

  std::shared_ptr<HostedModel> model() {
    auto [model, error] = answer.get();
    EXPECT_EQ(error, nullptr);
    EXPECT_NE(model, nullptr);
    return model;
  }
  Error error() {
    const auto [model, error] = answer.get();
    EXPECT_EQ(model, nullptr);
    return base::error_of([&pointer = error] {
      if (pointer != nullptr) std::rethrow_exception(pointer);
    });
  }
  bool is_ready() const { return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
};

class ModelHostTest : public ::testing::Test {
 protected:
  ModelHostTest() {
    settings.models_dir = folder.path() / "models";
    ::setenv("ALATE_BUILTIN_MODELS", (folder.path() / "builtin").c_str(), 1);  // not those of this build
    ::setenv("ALATE_HOME", (folder.path() / "home").c_str(), 1);               // nor those that were fetched
  }
  ~ModelHostTest() override { ::unsetenv("ALATE_HOME"); }

  /// Puts a copy of a model of tests/golden/models into the models directory, or elsewhere.
  void add(std::string_view name, std::string_view golden = "st_mean") const {
    copy_to(settings.models_dir / name, golden);
  }
  static void copy_to(const std::filesystem::path& place, std::string_view golden = "st_mean") {
    std::filesystem::create_directories(place.parent_path());
    std::filesystem::copy(source_folder() / "tests/golden/models" / golden, place,
                          std::filesystem::copy_options::recursive);
  }

  ModelHost& host() {
    if (host_ == nullptr) host_ = std::make_unique<ModelHost>(settings, loaders, runtime::BatchObserver{});
    return *host_;
  }
  void end_host() { host_.reset(); }

  Acquired acquire(std::string_view name, std::string_view backend = {}) {
    auto promise = std::make_shared<std::promise<std::pair<std::shared_ptr<HostedModel>, std::exception_ptr>>>();
    Acquired acquired{promise->get_future()};
    host().acquire(name, backend, [promise](std::shared_ptr<HostedModel> model, std::exception_ptr error) {
      promise->set_value({std::move(model), std::move(error)});
    });
    return acquired;
  }

  /// The names of the models that are loaded.
  std::vector<std::string> loaded() {
    std::vector<std::string> names;
    for (const LoadedListing& each : host().loaded()) names.push_back(each.model->name);
    return names;
  }

  /// No message may say where the models are.
  void expect_no_path(const Error& error) const {
    EXPECT_EQ(std::string_view(error.what()).find(folder.path().string()), std::string_view::npos) << error.what();
  }

  base::TemporaryFolder folder;
  Settings settings;
  WorkQueue loaders{2};

 private:
  std::unique_ptr<ModelHost> host_;
};

/// Keeps a queue of one thread busy until it is let go.
class Blockade {
 public:
  explicit Blockade(WorkQueue& queue) {
    // Shared with the queue's thread, which may still be on its way out when this goes.
    queue.push([begun = begun_, end = end_.get_future().share()] {
      begun->set_value();
      end.wait();
    });
    begun_->get_future().wait();
  }
  ~Blockade() { end_.set_value(); }
  Blockade(const Blockade&) = delete;
  Blockade& operator=(const Blockade&) = delete;

 private:
  std::shared_ptr<std::promise<void>> begun_ = std::make_shared<std::promise<void>>();
  std::promise<void> end_;
};

}  // namespace alate::server
