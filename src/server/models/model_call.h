// A request that a model answers row by row, whatever its task: waits for the model, prepares rows, submits them to the
// model's scheduler, answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/threads/cancellation.h"
#include "pipelines/calls/prepared_rows.h"
#include "runtime/batching/batch_scheduler.h"
#include "server/exchange/client_account.h"
#include "server/models/hosted_call.h"

namespace alate::server {

/// What the answers of all tasks have.
struct ModelAnswer {
  std::shared_ptr<HostedModel> model;
  std::vector<std::size_t> truncated;        // indices of truncated texts, ascending
  std::vector<std::size_t> row_tokens;       // tokens computed per row, special tokens included
  std::size_t tokens = 0;                    // their sum
  std::chrono::nanoseconds total{}, load{};  // since the request arrived; loading, if it waited for that
};

/// "texts[3]": an input's place in the body.
std::string place_of_input(const ModelRequest& request, std::size_t input);

/// A task derives from it. Its functions are called one after the other; each may throw like a route's handler. Once
/// the model is there they run on the work queue, since the model's files decide how long they take, except `take` and
/// `respond` of a small answer, which are arithmetic on the scheduler's thread. Long loops ask `cancellation`.
class ModelCall : public HostedCall {
 public:
  using HostedCall::HostedCall;

  /// Answers with the result of `respond`, plus X-Model-Fingerprint; errors get the format of the call's family. Throws
  /// like a route's handler. Call once.
  void start();

 protected:
  virtual const ModelRequest& request() const = 0;
  virtual ModelAnswer& answer() = 0;
  /// How many texts or rows the client gives.
  virtual std::size_t input_count() const = 0;
  /// Checks the request's options; the model is there from now on.
  virtual void accept() {}
  /// The rows, or the first piece of them; it is called again for the next as long as `has_more`.
  virtual pipelines::PreparedRows prepare() = 0;
  virtual bool has_more() const { return false; }
  /// Bytes that the request holds until these rows are computed, besides them and their numbers.
  virtual std::size_t held_bytes() const { return 0; }
  /// What the refusal of a text that is too long says of it, after its place: " has more than the 512 tokens …".
  virtual std::string excess() const = 0;
  /// What computes the rows, once the answer's tokens are known. The texts are no longer needed: queued jobs should be
  /// small.
  virtual std::shared_ptr<const runtime::BatchProgram> program() = 0;
  /// The numbers of all rows of the piece.
  virtual void take(std::vector<float> values) = 0;
  /// Whether `take`, `hand_over` and `respond` take too long for the scheduler's thread, whatever the rows.
  virtual bool is_slow_to_answer() const { return false; }
  /// Whether another request, which this starts, answers instead. Called before `respond`.
  virtual bool hand_over() { return false; }
  /// Makes the answer. It must not hold the model, which could otherwise not be unloaded until the client has read it.
  virtual Response respond() = 0;

  Services& services() const { return services_; }
  const Exchange& exchange() const { return *exchange_; }
  /// Requested once nobody waits for the answer.
  base::Cancellation cancellation() const { return exchange_->cancellation(); }

 private:
  void check_count() const;
  void charge(std::size_t bytes);
  void begin();
  void submit();
  void computed(runtime::BatchResult result);
  void reply();

  ByteCharge charge_;  // for rows
};

}  // namespace alate::server
