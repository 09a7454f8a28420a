// Accounting of the server's memory, per client and in total.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>

#include "server/exchange/client_id.h"

namespace alate::server {

/// How much of a shared resource one client may hold: `percent` of it, but at least `least`.
std::size_t client_share(std::size_t of_all, std::size_t percent, std::size_t least);

/// Bytes held by all clients together.
struct HeldBytes {
  /// A share that one client may have, and what all may have together.
  struct Limit {
    std::size_t client = ~std::size_t{0}, all = ~std::size_t{0};
  };

  HeldBytes(std::size_t the_max_answers, std::size_t the_max_client_answers)
      : HeldBytes(the_max_answers, the_max_client_answers, Limit()) {}
  HeldBytes(std::size_t the_max_answers, std::size_t the_max_client_answers, Limit the_max_rows)
      : max_answers(the_max_answers), max_client_answers(the_max_client_answers), max_rows(the_max_rows) {}

  std::atomic<std::size_t> bodies = 0;   // of requests in flight
  std::atomic<std::size_t> answers = 0;  // not yet read by their clients
  std::atomic<std::size_t> rows = 0;     // that models compute, with the numbers that they become
  const std::size_t max_answers, max_client_answers;
  const Limit max_rows;
};

/// One client's account. The byte counts are thread-safe; the connection counts belong to the transport's thread.
class ClientAccount {
 public:
  ClientAccount(ClientId the_id, std::shared_ptr<HeldBytes> the_total) : id(the_id), total(std::move(the_total)) {}

  /// Whether there would be room for the answer to another request. Always true for a client that has read all its
  /// answers, so that no client waits for others to read.
  bool may_begin() const {
    const std::size_t held = answers.load();
    return held == 0 || (held < total->max_client_answers && total->answers.load() < total->max_answers);
  }

  /// Whether there is room for so many more bytes of rows.
  bool has_row_room(std::size_t bytes) const {
    return bytes <= total->max_rows.client && rows.load() <= total->max_rows.client - bytes &&
           bytes <= total->max_rows.all && total->rows.load() <= total->max_rows.all - bytes;
  }

  const ClientId id;
  const std::shared_ptr<HeldBytes> total;
  std::atomic<std::size_t> bodies = 0, answers = 0, rows = 0;  // bytes, as in HeldBytes
  std::size_t connections = 0;                                 // within the connection limit
  std::size_t surplus_connections = 0;                         // beyond it
};

/// Finds accounts. An account lives as long as it is referenced. Belongs to one thread.
class ClientAccounts {
 public:
  explicit ClientAccounts(std::shared_ptr<HeldBytes> total) : total_(std::move(total)) {}

  std::shared_ptr<ClientAccount> find(const ClientId& id);
  std::size_t size() const { return accounts_.size(); }  // includes accounts no longer referenced

 private:
  struct Hash {
    std::size_t operator()(const ClientId& id) const noexcept;
  };

  std::shared_ptr<HeldBytes> total_;
  std::unordered_map<ClientId, std::weak_ptr<ClientAccount>, Hash> accounts_;
  std::size_t sweep_at_ = 64;  // accounts, including those no longer referenced
};

/// Bytes that one request holds, charged to its client's account. Released on destruction, on any thread. A single
/// charge is not thread-safe.
class ByteCharge {
 public:
  enum class Kind { body, answer, rows };

  ByteCharge() = default;
  ByteCharge(std::shared_ptr<ClientAccount> account, Kind kind) : account_(std::move(account)), kind_(kind) {}
  ~ByteCharge() { give_back(); }
  ByteCharge(ByteCharge&& other) noexcept
      : account_(std::move(other.account_)), kind_(other.kind_), bytes_(std::exchange(other.bytes_, 0)) {}
  ByteCharge& operator=(ByteCharge&& other) noexcept {
    if (this == &other) return *this;
    give_back();
    account_ = std::move(other.account_);
    kind_ = other.kind_;
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }
  ByteCharge(const ByteCharge&) = delete;
  ByteCharge& operator=(const ByteCharge&) = delete;

  /// REQUIRES: constructed with an account.
  void raise_to(std::size_t bytes);
  void lower_to(std::size_t bytes) noexcept;
  std::size_t bytes() const { return bytes_; }

 private:
  void give_back() noexcept;
  /// The client's count and that of all.
  std::atomic<std::size_t>& own() const;
  std::atomic<std::size_t>& total() const;

  std::shared_ptr<ClientAccount> account_;
  Kind kind_ = Kind::body;
  std::size_t bytes_ = 0;
};

}  // namespace alate::server
