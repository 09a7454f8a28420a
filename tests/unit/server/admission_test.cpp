// Slots and turns of several clients.
#include "server/clients/admission.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

namespace alate::server {
namespace {

using Outcome = Admission::Outcome;

const ClientId kGreedy = client_of_address("127.0.0.1"), kOther = client_of_address("127.0.0.2");

std::shared_ptr<Exchange> exchange_of(const ClientId& client, std::shared_ptr<ClientAccount> account = nullptr) {
  auto exchange = std::make_shared<Exchange>(Request{}, "id", Clock::time_point::max(), [](const Response&) {});
  exchange->client_id = client;
  exchange->account = std::move(account);
  return exchange;
}

// Requests by name, and what became of them.
class Clients {
 public:
  Clients(std::size_t places, std::size_t queue, std::size_t percent) : admission(places, queue, percent, work) {}

  bool enter(const std::string& name, const std::shared_ptr<Exchange>& exchange) {
    return admission.enter(exchange, [this, name](Outcome outcome) {
      const std::lock_guard lock(mutex_);
      events_.push_back((outcome == Outcome::begins ? "begins " : "displaced ") + name);
    });
  }
  // A request that is kept here.
  bool enter(const std::string& name, const ClientId& client) {
    kept.push_back(exchange_of(client));
    return enter(name, kept.back());
  }
  std::vector<std::string> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  // What the queue has to do is done when something pushed after it has run.
  void settle() {
    std::promise<void> done;
    work.push([&] { done.set_value(); });
    done.get_future().wait();
  }

  // An exchange that goes leaves its place to the next one, whose event is still noted: so they go first.
 private:
  mutable std::mutex mutex_;
  std::vector<std::string> events_;

 public:
  WorkQueue work{1};
  Admission admission;
  std::vector<std::shared_ptr<Exchange>> kept;
};

using Events = std::vector<std::string>;

TEST(Admission, LeavesPlacesAndQueueToOtherClients) {
  Clients clients(4, 8, 50);
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(clients.enter("greedy", kGreedy), i < 6) << i;  // 2 of 4 places, 4 of 8 in the queue
  EXPECT_EQ(clients.admission.counts().running, 2U);
  EXPECT_EQ(clients.admission.counts().waiting, 4U);
  const auto other = exchange_of(kOther);
  EXPECT_TRUE(clients.enter("other", other));
  EXPECT_EQ(clients.events(), (Events{"begins greedy", "begins greedy", "begins other"}));
  for (const auto& each : clients.kept) each->abandon();
  other->finish();
  clients.settle();
  EXPECT_EQ(clients.admission.counts().running, 0U);
  EXPECT_EQ(clients.admission.counts().waiting, 0U);
}

TEST(Admission, GivesFreePlacesToClientsInTurn) {
  Clients clients(1, 8, 100);
  for (const auto& [name, id] : {std::pair{"g1", kGreedy}, {"g2", kGreedy}, {"g3", kGreedy}, {"o1", kOther}})
    EXPECT_TRUE(clients.enter(name, id));
  for (const std::size_t ends : {0U, 3U, 1U, 2U}) {
    clients.kept[ends]->finish();
    clients.settle();
  }
  EXPECT_EQ(clients.events(), (Events{"begins g1", "begins o1", "begins g2", "begins g3"}));
}

TEST(Admission, AFullQueueTakesFromTheClientWithMost) {
  Clients clients(1, 4, 100);
  for (const char* name : {"g1", "g2", "g3", "g4", "g5"}) EXPECT_TRUE(clients.enter(name, kGreedy));
  EXPECT_FALSE(clients.enter("g6", exchange_of(kGreedy)));
  EXPECT_TRUE(clients.enter("o1", kOther));
  EXPECT_EQ(clients.events(), (Events{"begins g1", "displaced g5"}));
  EXPECT_EQ(clients.admission.counts().waiting, 4U);
  clients.kept[0]->finish();
  clients.settle();
  EXPECT_EQ(clients.events().back(), "begins o1");
  for (const auto& each : clients.kept) each->abandon();
}

TEST(Admission, APlaceIsKeptUntilTheAnswerIsWritten) {
  Clients clients(1, 4, 100);
  const auto first = exchange_of(kGreedy), second = exchange_of(kOther);
  EXPECT_TRUE(clients.enter("first", first));
  EXPECT_TRUE(clients.enter("second", second));
  first->reply({});
  clients.settle();
  EXPECT_EQ(clients.events(), Events{"begins first"});
  first->finish();
  clients.settle();
  EXPECT_EQ(clients.events(), (Events{"begins first", "begins second"}));
  second->abandon();
  EXPECT_EQ(clients.admission.counts().running, 0U);
}

TEST(Admission, UnreadAnswersHoldBackOnlyTheirClient) {
  Clients clients(8, 8, 100);
  const auto total = std::make_shared<HeldBytes>(1000, 500);
  ClientAccounts accounts(total);
  const auto greedy = accounts.find(kGreedy), other = accounts.find(kOther);
  const auto waits = exchange_of(kGreedy, greedy), first = exchange_of(kOther, other);
  {
    ByteCharge unread(greedy, ByteCharge::Kind::answer);
    unread.raise_to(2000);  // more than all may have together
    EXPECT_TRUE(clients.enter("greedy", waits));
    EXPECT_TRUE(clients.enter("other", first));
    EXPECT_EQ(clients.events(), Events{"begins other"});
    clients.admission.wake();
    clients.settle();
    EXPECT_EQ(clients.events(), Events{"begins other"});
  }
  clients.admission.wake();
  clients.settle();
  EXPECT_EQ(clients.events(), (Events{"begins other", "begins greedy"}));
  waits->finish();
  first->finish();
}

TEST(Admission, EndsWithItsQueueFull) {
  // Each that is dropped leaves its place to the next: this must not go deeper with each of them.
  Clients clients(1, 50000, 100);
  for (int i = 0; i < 50000; ++i) ASSERT_TRUE(clients.enter("", kGreedy));
  clients.work.stop();
  clients.kept.front()->finish();
  EXPECT_EQ(clients.admission.counts().running, 0U);
  EXPECT_EQ(clients.admission.counts().waiting, 0U);
}

TEST(ClientId, TellsClientsApart) {
  EXPECT_NE(client_of_address("10.0.0.1"), client_of_address("10.0.0.2"));
  EXPECT_EQ(client_of_address("2001:db8::1"), client_of_address("2001:db8::ffff:2"));
  EXPECT_NE(client_of_address("2001:db8::1"), client_of_address("2001:db8:0:1::1"));
  EXPECT_EQ(client_of_address("unix"), ClientId{});
  EXPECT_NE(client_of_key(0), client_of_address("0.0.0.0"));
  EXPECT_EQ(to_string(client_of_address("10.0.0.1")), "10.0.0.1");
  EXPECT_EQ(to_string(client_of_address("2001:db8::1")), "20010db800000000/64");
  EXPECT_EQ(to_string(client_of_key(3)), "key:3");
}

TEST(ClientAccounts, ForgetsClientsThatHoldNothing) {
  ClientAccounts accounts(std::make_shared<HeldBytes>(1000, 500));
  const auto kept = accounts.find(kOther);
  std::weak_ptr<ClientAccount> gone = accounts.find(kGreedy);
  EXPECT_TRUE(gone.expired());
  for (std::uint64_t i = 0; i < 10000; ++i) accounts.find({ClientId::Kind::ipv6, i});
  EXPECT_EQ(accounts.find(kOther), kept);
  EXPECT_LE(accounts.size(), 1000U);
}

TEST(ClientAccount, HasRoomForRowsUpToItsShareAndThatOfAll) {
  const auto total = std::make_shared<HeldBytes>(1000, 500, HeldBytes::Limit{.client = 600, .all = 800});
  ClientAccounts accounts(total);
  const auto greedy = accounts.find(kGreedy), other = accounts.find(kOther);
  EXPECT_FALSE(greedy->has_row_room(601));
  {
    ByteCharge charge(greedy, ByteCharge::Kind::rows);
    charge.raise_to(500);
    EXPECT_TRUE(greedy->has_row_room(100));
    EXPECT_FALSE(greedy->has_row_room(101));
    EXPECT_TRUE(other->has_row_room(300));
    EXPECT_FALSE(other->has_row_room(301));
    EXPECT_EQ(total->bodies + total->answers, 0U);
  }
  EXPECT_EQ(total->rows, 0U);
  EXPECT_TRUE(greedy->has_row_room(600));
}

TEST(ClientShare, IsAtLeastWhatOneRequestNeeds) {
  EXPECT_EQ(client_share(512, 75, 1), 384U);
  EXPECT_EQ(client_share(1, 75, 1), 1U);
  EXPECT_EQ(client_share(0, 75, 1), 0U);
  EXPECT_EQ(client_share(1500, 50, 1000), 1000U);
  EXPECT_EQ(client_share(1500, 50, 9000), 1500U);
}

}  // namespace
}  // namespace alate::server
