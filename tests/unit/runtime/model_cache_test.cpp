// The cache of models, over models that only count themselves.
#include "runtime/caching/model_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "alate/error.h"
#include "tests/unit/base/expect_error.h"

namespace alate::runtime {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;
using Held = ModelCache::Held;
using Wanted = ModelCache::Wanted;

std::atomic<int> alive = 0;

class CountedModel final : public CachedModel {
 public:
  explicit CountedModel(std::string place = "cpu:0", std::size_t bytes = 10) : place_(std::move(place)), bytes_(bytes) {
    ++alive;
  }
  ~CountedModel() override { --alive; }
  CountedModel(const CountedModel&) = delete;
  CountedModel& operator=(const CountedModel&) = delete;

  std::string place() const override { return place_; }
  std::size_t bytes() const override { return bytes_; }
  bool is_busy() const override { return busy; }

  std::atomic<bool> busy = false;

 private:
  const std::string place_;
  const std::size_t bytes_;
};

Wanted wanted(const std::string& name, std::string place = {}) {
  return {.key = {.model = name, .options = {}, .place = place},
          .load = [place] { return std::make_unique<CountedModel>(place.empty() ? "cpu:0" : place); }};
}

// Its load is started by whoever runs what `started` gets.
Wanted wanted_later(const std::string& name, std::vector<std::function<void()>>& started) {
  Wanted asked = wanted(name);
  asked.start = [&started](std::function<void()> load) { started.push_back(std::move(load)); };
  return asked;
}

std::vector<std::string> names(const ModelCache& cache) {
  std::vector<std::string> all;
  for (const ModelCache::Kept& kept : cache.kept()) {
    if (kept.model != nullptr) all.push_back(kept.key.model);
  }
  return all;
}
using Names = std::vector<std::string>;

class Cache : public ::testing::Test {
 protected:
  Cache() { EXPECT_EQ(alive, 0); }
  ~Cache() override { EXPECT_EQ(alive, 0); }
};

TEST_F(Cache, LoadsAModelOnceForAllWhileOthersLoadInParallel) {
  ModelCache cache;
  std::promise<void> other_is_loaded;
  std::atomic<int> loads = 0;
  Wanted slow = wanted("slow");
  slow.load = [&] {
    ++loads;
    other_is_loaded.get_future().wait();  // hangs if loads wait for each other
    return std::make_unique<CountedModel>();
  };
  std::vector<std::thread> threads;
  std::vector<Held> found(6);
  for (Held& each : found) threads.emplace_back([&] { each = cache.get(slow); });
  EXPECT_NE(cache.get(wanted("other")), nullptr);
  other_is_loaded.set_value();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(loads, 1);
  for (const Held& each : found) EXPECT_EQ(each, found.front());
  EXPECT_EQ(cache.find(slow.key), found.front());
}

TEST_F(Cache, AFailureIsToldToAllWithAnErrorOfTheirOwnAndTriedAgain) {
  std::vector<std::function<void()>> started;
  ModelCache cache;
  Wanted faulty = wanted_later("a", started);
  faulty.load = []() -> std::unique_ptr<CachedModel> { throw Error(ErrorCode::corrupt, "broken"); };
  std::vector<std::exception_ptr> errors;
  for (int i = 0; i < 3; ++i)
    cache.acquire(faulty, [&](const Held&, std::exception_ptr error) { errors.push_back(std::move(error)); });
  ASSERT_EQ(started.size(), 1U);
  started[0]();
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_NE(errors[0], errors[1]);
  for (const std::exception_ptr& error : errors)
    EXPECT_EQ(base::error_of([&] { std::rethrow_exception(error); }).code(), ErrorCode::corrupt);
  Held model;
  cache.acquire(wanted_later("a", started), [&](Held made, const std::exception_ptr&) { model = std::move(made); });
  ASSERT_EQ(started.size(), 2U);
  started[1]();
  EXPECT_NE(model, nullptr);
}

TEST_F(Cache, ALoadBeginsWhenTheFirstOfItsTurnsComes) {
  std::vector<std::pair<std::string, std::function<void()>>> started;
  int loads = 0, given = 0;
  const auto wanted_in_turn = [&](const std::string& turn) {
    Wanted asked = wanted("a");
    asked.turn = turn;
    asked.start = [&started, turn](std::function<void()> load) { started.emplace_back(turn, std::move(load)); };
    asked.load = [&loads] {
      ++loads;
      return std::make_unique<CountedModel>();
    };
    return asked;
  };
  ModelCache cache;
  for (const char* turn : {"slow", "quick", "quick", "slow"})
    cache.acquire(wanted_in_turn(turn),
                  [&](const Held& model, const std::exception_ptr&) { given += model != nullptr; });
  ASSERT_EQ(started.size(), 2U);  // one for each turn
  EXPECT_EQ(started[1].first, "quick");
  started[1].second();
  EXPECT_EQ(given, 4);
  started[0].second();
  EXPECT_EQ(loads, 1);
}

TEST_F(Cache, OtherOptionsAreAnotherModelAndTheSamePlaceIsNot) {
  ModelCache cache;
  const Held plain = cache.get(wanted("a"));
  EXPECT_EQ(cache.get(wanted("a", "cpu:0")), plain);  // it is there already
  EXPECT_NE(cache.get(wanted("a", "gpu:0")), plain);
  Wanted other = wanted("a");
  other.key.options = "int8";
  EXPECT_NE(cache.get(other), plain);
  EXPECT_EQ(cache.kept().size(), 3U);
}

TEST_F(Cache, AModelThatLoadingPutsWhereOneIsAlreadyIsLetGoOf) {
  ModelCache cache;
  const Held named = cache.get(wanted("a", "cpu:0"));
  EXPECT_EQ(cache.get(wanted("a")), named);
  EXPECT_EQ(alive, 1);
  int loads = 0;
  Wanted again = wanted("a");
  again.load = [&] { return ++loads, std::make_unique<CountedModel>(); };
  EXPECT_EQ(cache.get(again), named);
  EXPECT_EQ(loads, 0);  // it is known by now
  EXPECT_TRUE(cache.unload("a"));
  EXPECT_NE(cache.get(again), named);
  EXPECT_EQ(loads, 1);
}

TEST_F(Cache, TheLeastRecentlyUsedMakesRoomThoseWithoutUsersFirst) {
  ModelCache cache({.most_models = 2});
  Held a = cache.get(wanted("a"));
  cache.get(wanted("b"));
  cache.get(wanted("c"));
  EXPECT_EQ(names(cache), (Names{"a", "c"}));  // a has a user
  static_cast<CountedModel&>(*a).busy = true;
  a.reset();
  cache.get(wanted("d"));
  EXPECT_EQ(names(cache), (Names{"a", "d"}));  // a has work
  static_cast<CountedModel&>(*cache.find({"a"})).busy = false;
  cache.get(wanted("d"));
  cache.get(wanted("e"));
  EXPECT_EQ(names(cache), (Names{"d", "e"}));
}

TEST_F(Cache, AModelInUseDoesNotMakeRoom) {
  ModelCache cache({.most_models = 1});
  Held a = cache.get(wanted("a"));
  const Error error = base::error_of([&] { (void)cache.get(wanted("b")); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("1 may be loaded, and all that are, are in use (a)"), std::string::npos)
      << error.message();
  EXPECT_EQ(names(cache), Names{"a"});
  EXPECT_EQ(cache.counts().failed, 1U);
  a.reset();
  cache.get(wanted("b"));
  EXPECT_EQ(names(cache), Names{"b"});
  EXPECT_EQ(cache.counts().loaded, 2U);
  EXPECT_EQ(cache.counts().evicted, 1U);
}

TEST_F(Cache, TheFiguresSayWhyThereIsNoRoom) {
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  ModelCache cache({.most_bytes = 100 * kMegabyte});
  const auto of_megabytes = [&](const std::string& name, std::size_t count) {
    Wanted model = wanted(name);
    model.expected_bytes = [count] { return count * kMegabyte; };
    model.load = [count] { return std::make_unique<CountedModel>("cpu:0", count * kMegabyte); };
    return model;
  };
  const Held a = cache.get(of_megabytes("a", 60));
  const Error error = base::error_of([&] { (void)cache.get(of_megabytes("b", 50)); });
  EXPECT_NE(error.message().find("takes 50 MB, and of 100 MB for all models 60 MB are taken by models in use (a)"),
            std::string::npos)
      << error.message();
  const Error alone = base::error_of([&] { (void)cache.get(of_megabytes("c", 150)); });
  EXPECT_EQ(alone.code(), ErrorCode::resource_exhausted);
}

TEST_F(Cache, ALoadWaitsAWhileForAModelInUse) {
  ModelCache cache({.most_models = 1, .patience = hours(1)});
  Held a = cache.get(wanted("a"));
  std::thread loading([&] { cache.get(wanted("b")); });
  while (cache.kept().size() < 2) std::this_thread::yield();
  a.reset();
  loading.join();
  EXPECT_EQ(names(cache), Names{"b"});
}

TEST_F(Cache, RoomIsMadeForExpectedBytesBeforeLoadingAndForThoseInMemoryAfterwards) {
  ModelCache cache({.most_bytes = 100});
  const auto of_bytes = [](const std::string& name, std::size_t expected, std::size_t bytes) {
    Wanted model = wanted(name);
    model.expected_bytes = [expected] { return expected; };
    model.load = [bytes] { return std::make_unique<CountedModel>("cpu:0", bytes); };
    return model;
  };
  cache.get(of_bytes("a", 60, 60));
  Wanted b = of_bytes("b", 60, 30);
  b.load = [] {
    EXPECT_EQ(alive, 0);  // a has gone before
    return std::make_unique<CountedModel>("cpu:0", 30);
  };
  cache.get(b);
  cache.get(of_bytes("c", 30, 30));
  EXPECT_EQ(names(cache), (Names{"b", "c"}));
  cache.get(of_bytes("d", 30, 90));  // larger than it said
  EXPECT_EQ(names(cache), Names{"d"});
  EXPECT_EQ(cache.kept().front().bytes, 90U);
}

TEST_F(Cache, WhatMayNotBeLoadedIsNotAndTakesNoRoom) {
  ModelCache cache({.most_models = 1});
  const Held a = cache.get(wanted("a"));
  Wanted large = wanted("large");
  large.expected_bytes = []() -> std::size_t { throw Error(ErrorCode::resource_exhausted, "too large"); };
  EXPECT_EQ(base::error_of([&] { (void)cache.get(large); }).code(), ErrorCode::resource_exhausted);
  EXPECT_EQ(names(cache), Names{"a"});
}

TEST_F(Cache, LoadsWaitForRoomThatAnotherLoadTakes) {
  // Whoever asked for the first one has it for a moment.
  ModelCache cache({.most_models = 1, .patience = std::chrono::minutes(1)});
  std::promise<void> begun, go_on;
  std::atomic<bool> first_loaded = false;
  Wanted first = wanted("first");
  first.load = [&] {
    begun.set_value();
    go_on.get_future().wait();
    first_loaded = true;
    return std::make_unique<CountedModel>();
  };
  std::thread loading([&] { cache.get(first); });
  begun.get_future().wait();
  std::atomic<bool> second_loads = false;
  Wanted second = wanted("second");
  second.load = [&] {
    second_loads = true;
    EXPECT_TRUE(first_loaded);
    return std::make_unique<CountedModel>();
  };
  std::thread waiting([&] { cache.get(second); });
  EXPECT_FALSE(second_loads);
  go_on.set_value();
  loading.join();
  waiting.join();
  EXPECT_EQ(names(cache), Names{"second"});
  EXPECT_EQ(alive, 1);  // whoever asked for the first one has let go of it
}

TEST_F(Cache, IdleModelsAreLetGoOfUnlessTheyAreHeldOrBusyOrStay) {
  ModelCache cache;
  const auto idle = [&](const std::string& name, ModelCache::KeepAlive keep_alive, bool stays = false) {
    Wanted model = wanted(name);
    model.keep_alive = keep_alive;
    model.stays = stays;
    return cache.get(model);
  };
  idle("idle", nanoseconds(0));
  idle("ever", std::nullopt);
  idle("later", hours(1));
  EXPECT_TRUE(cache.use(*idle("stays", std::nullopt, true), ModelCache::KeepAlive(nanoseconds(0))));
  static_cast<CountedModel&>(*idle("busy", nanoseconds(0))).busy = true;
  Held held = idle("held", nanoseconds(0));
  cache.unload_idle();
  EXPECT_EQ(names(cache), (Names{"busy", "ever", "held", "later", "stays"}));
  held.reset();
  static_cast<CountedModel&>(*cache.find({"busy"})).busy = false;
  EXPECT_TRUE(cache.use(*cache.find({"later"}), ModelCache::KeepAlive(nanoseconds(0))));
  EXPECT_TRUE(cache.use(*cache.find({"ever"})));  // leaves it so
  cache.unload_idle();
  EXPECT_EQ(names(cache), (Names{"ever", "stays"}));
  EXPECT_FALSE(cache.kept().front().expires.has_value());
}

TEST_F(Cache, KeepAliveIsLengthenedWhereShorterOnesAreIgnored) {
  ModelCache cache;
  Wanted model = wanted("a");
  model.keep_alive = hours(1);
  const Held held = cache.get(model);
  EXPECT_FALSE(cache.lengthen(*held, nanoseconds(0)));
  EXPECT_FALSE(cache.lengthen(*held, hours(1) - nanoseconds(1)));
  EXPECT_TRUE(cache.lengthen(*held, hours(1)));
  EXPECT_TRUE(cache.lengthen(*held, hours(2)));
  EXPECT_FALSE(cache.lengthen(*held, hours(1)));
  EXPECT_TRUE(cache.lengthen(*held, std::nullopt));
  EXPECT_FALSE(cache.kept().front().expires.has_value());
  EXPECT_FALSE(cache.lengthen(*held, hours(2)));
  model = wanted("stays");
  model.stays = true;
  EXPECT_FALSE(cache.lengthen(*cache.get(model), nanoseconds(0)));
  cache.unload("a");
  EXPECT_TRUE(cache.lengthen(*held, nanoseconds(0)));  // nothing is kept
}

TEST_F(Cache, UnloadedModelsLiveAsLongAsTheyAreHeld) {
  ModelCache cache;
  Held held = cache.get(wanted("a"));
  EXPECT_FALSE(cache.unload("b"));
  EXPECT_TRUE(cache.unload("a"));
  EXPECT_FALSE(cache.unload("a"));
  EXPECT_EQ(alive, 1);
  EXPECT_FALSE(cache.use(*held));
  EXPECT_EQ(cache.alive(), std::vector{held});
  const Held other = cache.get(wanted("a"));
  EXPECT_NE(other, held);
  EXPECT_FALSE(cache.forget("a", nanoseconds(1)));
  held.reset();
  EXPECT_EQ(alive, 1);
}

TEST_F(Cache, ForgettingWaitsForLoadsUnderWayAndForUsers) {
  ModelCache cache;
  std::promise<void> begun, go_on;
  Wanted slow = wanted("a");
  slow.load = [&] {
    begun.set_value();
    go_on.get_future().wait();
    return std::make_unique<CountedModel>();
  };
  std::thread user([&] { EXPECT_NE(cache.get(slow), nullptr); });
  begun.get_future().wait();
  EXPECT_FALSE(cache.forget("a", nanoseconds(1)));
  EXPECT_TRUE(cache.kept().empty());
  go_on.set_value();
  EXPECT_TRUE(cache.forget("a", hours(1)));
  user.join();
  EXPECT_EQ(alive, 0);
  EXPECT_TRUE(cache.forget("nothing", nanoseconds(0)));
}

TEST_F(Cache, WhoWaitsWhenItEndsIsToldAndModelsOutliveIt) {
  std::vector<std::function<void()>> started;
  Held held;
  std::exception_ptr told;
  {
    ModelCache cache({.closed = Error(ErrorCode::unavailable, "it ends"), .deletes_elsewhere = true});
    cache.acquire(wanted_later("a", started), [&](Held made, const std::exception_ptr&) { held = std::move(made); });
    started[0]();
    cache.acquire(wanted_later("b", started), [&](const Held&, const std::exception_ptr& error) { told = error; });
    cache.close();
    EXPECT_EQ(base::error_of([&] { std::rethrow_exception(told); }).message(), "it ends");
    told = nullptr;
    cache.acquire(wanted_later("c", started), [&](const Held&, const std::exception_ptr& error) { told = error; });
    EXPECT_NE(told, nullptr);
  }
  started[1]();  // loads nothing
  EXPECT_EQ(alive, 1);
  held.reset();
}

TEST_F(Cache, ModelsAreDestroyedElsewhereWhereThatIsAsked) {
  class Noting final : public CachedModel {
   public:
    explicit Noting(std::promise<std::thread::id>& where) : where_(where) {}
    ~Noting() override { where_.set_value(std::this_thread::get_id()); }
    Noting(const Noting&) = delete;
    Noting& operator=(const Noting&) = delete;
    std::string place() const override { return "cpu:0"; }
    std::size_t bytes() const override { return 0; }

   private:
    std::promise<std::thread::id>& where_;
  };
  for (const bool elsewhere : {false, true}) {
    ModelCache cache({.deletes_elsewhere = elsewhere});
    std::promise<std::thread::id> where;
    Wanted noting = wanted("a");
    noting.load = [&] { return std::make_unique<Noting>(where); };
    cache.get(noting);
    EXPECT_TRUE(cache.unload("a"));
    EXPECT_EQ(where.get_future().get() == std::this_thread::get_id(), !elsewhere);
  }
}

// Meant for the thread sanitizer too.
TEST_F(Cache, ManyThreadsGetUseAndLetGo) {
  ModelCache cache({.most_models = 2, .patience = hours(1), .deletes_elsewhere = true});
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937 random(i);
      for (int round = 0; round < 300; ++round) {
        const std::string name(1, static_cast<char>('a' + random() % 3));
        switch (random() % 8) {
          case 0: cache.unload(name); break;
          case 1: cache.unload_idle(); break;
          case 2: (void)cache.kept(); break;
          case 3: cache.forget(name, nanoseconds(0)); break;
          default: {
            Wanted model = wanted(name, random() % 2 == 0 ? "" : "cpu:0");
            model.keep_alive = nanoseconds(0);
            const Held held = cache.get(model);
            EXPECT_EQ(held->key().model, name);
            cache.use(*held);
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(names(cache).size(), 2U);
}

}  // namespace
}  // namespace alate::runtime
