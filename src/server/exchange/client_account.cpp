#include "server/exchange/client_account.h"

#include <algorithm>

namespace alate::server {

std::size_t client_share(std::size_t of_all, std::size_t percent, std::size_t least) {
  // Divide first: the product could overflow, and the rounding error is below one percent.
  const std::size_t share = of_all / 100 * percent + of_all % 100 * percent / 100;
  return std::min(of_all, std::max(share, least));
}

std::size_t ClientAccounts::Hash::operator()(const ClientId& id) const noexcept {
  // Clients choose their addresses. The multiplication spreads neighbouring ones over the table; only look-up speed is
  // at stake.
  const std::uint64_t bits = (id.number ^ static_cast<std::uint64_t>(id.kind) << 62U) * 0x9E3779B97F4A7C15U;
  return static_cast<std::size_t>(bits ^ bits >> 32U);
}

std::shared_ptr<ClientAccount> ClientAccounts::find(const ClientId& id) {
  if (const auto found = accounts_.find(id); found != accounts_.end()) {
    if (auto account = found->second.lock()) return account;
  }
  if (accounts_.size() >= sweep_at_) {
    std::erase_if(accounts_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<std::size_t>(64, 2 * accounts_.size());
  }
  auto account = std::make_shared<ClientAccount>(id, total_);
  accounts_[id] = account;
  return account;
}

std::atomic<std::size_t>& ByteCharge::own() const {
  return kind_ == Kind::body ? account_->bodies : kind_ == Kind::answer ? account_->answers : account_->rows;
}

std::atomic<std::size_t>& ByteCharge::total() const {
  HeldBytes& all = *account_->total;
  return kind_ == Kind::body ? all.bodies : kind_ == Kind::answer ? all.answers : all.rows;
}

void ByteCharge::raise_to(std::size_t bytes) {
  if (bytes <= bytes_) return;
  total() += bytes - bytes_;
  own() += bytes - bytes_;
  bytes_ = bytes;
}

void ByteCharge::lower_to(std::size_t bytes) noexcept {
  if (bytes >= bytes_) return;
  own() -= bytes_ - bytes;
  total() -= bytes_ - bytes;
  bytes_ = bytes;
}

void ByteCharge::give_back() noexcept { lower_to(0); }

}  // namespace alate::server
