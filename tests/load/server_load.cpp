// Many clients at one server, each answer compared with the library's bit for bit.
//   server_load --program build/release/bin/alate --model FOLDER [--seconds 60] [--clients 200] [--memory] [--latency]
//               [--throughput] [--idle N] [--texts 2000] [--serve-option OPTION]…
// Without a mode it is the load alone. Prints what it measured; exits 1 when an answer was wrong, a request failed that
// should not have, or the server did not end well.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "alate/embedding.h"
#include "tests/load/client.h"
#include "tests/load/server_process.h"
#include "tests/load/workload.h"

namespace alate::load {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string program, model;
  int seconds = 60;
  std::size_t clients = 200, idle = 0, texts = 2000;
  bool memory = false, latency = false, throughput = false, load = true;
  std::vector<std::string> serve;
};

struct Totals {
  std::mutex mutex;
  std::vector<double> milliseconds;  // of ordinary requests
  std::size_t texts = 0, tokens = 0, refused = 0, gone = 0, slow = 0, failed = 0;
  std::atomic<std::size_t> requests = 0;

  void wrong(const std::string& what) {
    const std::lock_guard lock(mutex);
    if (++failed <= 10) std::cout << "WRONG: " << what << '\n';
  }
};

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto place = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place), values.end());
  return values[place];
}

// What must be refused, and how.
void ask_for_error(Client& client, std::mt19937& random, Totals& totals) {
  struct Case {
    std::string bytes;
    int status;
  };
  const std::vector<Case> cases = {
      {Client::request("POST", "/api/embed", "{\"input\": "), 400},
      {Client::request("POST", "/v1/embeddings", R"({"model": "nobody/nothing", "input": "a"})"), 404},
      {Client::request("POST", "/api/embed", R"({"input": {"a": 1}})"), 400},
      {Client::request("GET", "/no/such/route", ""), 404},
      {Client::request("PUT", "/api/embed", "{}"), 405}};
  const Case& chosen = cases[random() % cases.size()];
  const Answer answer = client.exchange(chosen.bytes);
  if (answer.status != chosen.status)
    totals.wrong("an error request got " + std::to_string(answer.status) + ", not " + std::to_string(chosen.status));
  const std::lock_guard lock(totals.mutex);
  ++totals.refused;
}

void ask(Client& client, const Workload& work, const Workload::Request& request, Totals& totals, int pause_ms) {
  const auto begin = Clock::now();
  Answer answer;
  if (pause_ms == 0) {
    answer = client.exchange(request.bytes);
  } else {
    client.connect();
    client.send(request.bytes, request.bytes.size() / 5 + 1, pause_ms);
    answer = client.receive(pause_ms);
  }
  const double time = milliseconds_since(begin);
  if (answer.status != 200) return totals.wrong("status " + std::to_string(answer.status) + ": " + answer.body);
  if (const std::string problem = work.check(request, answer.body); !problem.empty())
    return totals.wrong("an answer " + problem);
  const std::lock_guard lock(totals.mutex);
  if (pause_ms == 0) {
    totals.milliseconds.push_back(time);
  } else {
    ++totals.slow;
  }
  totals.texts += request.texts.size();
  totals.tokens += request.tokens;
}

void leave_early(Client& client, const Workload::Request& request, std::mt19937& random, Totals& totals) {
  client.connect();
  const bool whole = random() % 2 == 0;
  client.send(whole ? std::string_view(request.bytes)
                    : std::string_view(request.bytes).substr(0, request.bytes.size() / 2));
  std::this_thread::sleep_for(std::chrono::milliseconds(random() % 50));
  if (random() % 2 == 0) {
    client.reset();
  } else {
    client.close();
  }
  const std::lock_guard lock(totals.mutex);
  ++totals.gone;
}

// One client of many, until `go_on` says no.
template <typename GoOn>
void run_client(std::uint16_t port, const Workload& work, std::uint32_t seed, Totals& totals, const GoOn& go_on) {
  std::mt19937 random(seed);
  Client client(port);
  while (go_on()) {
    const Workload::Request request = work.draw(random);
    const auto kind = random() % 100;
    try {
      if (kind < 4) {
        leave_early(client, request, random, totals);
      } else if (kind < 7) {
        ask(client, work, request, totals, 20);
      } else if (kind < 12) {
        ask_for_error(client, random, totals);
      } else {
        ask(client, work, request, totals, 0);
      }
    } catch (const std::exception& error) {
      totals.wrong(error.what());
      client.close();
    }
    ++totals.requests;
  }
}

template <typename GoOn>
void run_clients(std::size_t count, std::uint16_t port, const Workload& work, Totals& totals, const GoOn& go_on) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] { run_client(port, work, static_cast<std::uint32_t>(1000 + i), totals, go_on); });
  for (std::thread& thread : threads) thread.join();
}

void load(const Options& options, const ServerProcess& server, const Workload& work, Totals& totals) {
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::seconds(options.seconds);
  run_clients(options.clients, server.port(), work, totals, [&] { return Clock::now() < end; });
  const double seconds = milliseconds_since(begin) / 1000;
  std::printf("load: %zu clients, %.0f s: %zu requests (%zu slow ones, %zu gone early, %zu errors asked for)\n",
              options.clients, seconds, totals.requests.load(), totals.slow, totals.gone, totals.refused);
  std::printf("load: %.0f texts/s, %.0f tokens/s; p50 %.0f ms, p99 %.0f ms\n",
              static_cast<double>(totals.texts) / seconds, static_cast<double>(totals.tokens) / seconds,
              quantile(totals.milliseconds, 0.5), quantile(totals.milliseconds, 0.99));
}

void memory(const Options& options, const ServerProcess& server, const Workload& work, Totals& totals) {
  const auto until = [&](std::size_t requests) {
    run_clients(options.clients, server.port(), work, totals, [&, requests] { return totals.requests < requests; });
    return static_cast<double>(server.private_bytes()) / (1 << 20);
  };
  const double early = until(1000), late = until(10000);
  std::printf("memory: %.1f MB private after 1,000 requests, %.1f MB after 10,000: %+.1f MB\n", early, late,
              late - early);
}

// What one short text takes through the server and by the library, turn about.
void latency(const EmbeddingPipeline& pipeline, const ServerProcess& server, const Workload& work, Totals& totals) {
  std::mt19937 random(7);
  Client client(server.port());
  std::vector<double> served, direct;
  for (int i = 0; i < 600; ++i) {
    const Workload::Request request = work.draw_short(random);
    auto begin = Clock::now();
    const Answer answer = client.exchange(request.bytes);
    const double time = milliseconds_since(begin);
    if (const std::string problem = work.check(request, answer.body); !problem.empty()) totals.wrong(problem);
    begin = Clock::now();
    static_cast<void>(pipeline.embed({&work.texts()[request.texts.front()], 1}));
    if (i < 100) continue;  // until both are warm
    served.push_back(time);
    direct.push_back(milliseconds_since(begin));
  }
  std::printf(
      "latency of one short text: server p50 %.3f ms, p90 %.3f ms; library p50 %.3f ms, p90 %.3f ms; difference of p50 "
      "%.3f ms\n",
      quantile(served, 0.5), quantile(served, 0.9), quantile(direct, 0.5), quantile(direct, 0.9),
      quantile(served, 0.5) - quantile(direct, 0.5));
}

// The same texts through the server, by enough clients to keep it busy, and by the library, turn about.
void throughput(const EmbeddingPipeline& pipeline, const ServerProcess& server, const Workload& work, Totals& totals) {
  constexpr std::size_t kClients = 16, kRequests = 12;
  std::vector<double> ratios;
  for (std::uint32_t round = 0; round < 7; ++round) {
    std::vector<std::vector<Workload::Request>> requests(kClients);
    std::vector<std::string> texts;
    for (std::uint32_t c = 0; c < kClients; ++c) {
      std::mt19937 random(round * 1000 + c);
      for (std::size_t i = 0; i < kRequests; ++i) {
        requests[c].push_back(work.draw(random));
        for (const std::size_t text : requests[c].back().texts) texts.push_back(work.texts()[text]);
      }
    }
    auto begin = Clock::now();
    std::vector<std::thread> threads;
    for (const auto& each : requests) {
      threads.emplace_back([&] {
        Client client(server.port());
        for (const auto& request : each) {
          const Answer answer = client.exchange(request.bytes);
          if (answer.status != 200) totals.wrong("status " + std::to_string(answer.status));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const double served = milliseconds_since(begin);
    begin = Clock::now();
    static_cast<void>(pipeline.embed(texts));
    const double direct = milliseconds_since(begin);
    if (round == 0) continue;
    ratios.push_back(served / direct);
    std::printf("throughput: %zu texts, server %.0f ms, library %.0f ms, ratio %.3f\n", texts.size(), served, direct,
                served / direct);
  }
  std::printf(
      "throughput: the server takes %.3f of the library's time (median; %.3f to %.3f), its clients' work included\n",
      quantile(ratios, 0.5), quantile(ratios, 0), quantile(ratios, 1));
}

void idle(std::size_t count, const ServerProcess& server) {
  const auto before = static_cast<double>(server.private_bytes());
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    // Half have never asked anything, half wait after an answer.
    if (i % 2 == 0) {
      clients.back()->connect();
    } else {
      clients.back()->exchange(Client::request("GET", "/health", ""));
    }
  }
  const auto after = static_cast<double>(server.private_bytes());
  std::printf("idle: %zu connections take %.1f MB\n", count, (after - before) / (1 << 20));
}

// Until the model is loaded, so that nothing measures that.
void wait_until_ready(const ServerProcess& server) {
  Client client(server.port());
  while (client.exchange(Client::request("GET", "/readyz", "")).status != 200)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

Options read_options(int count, char** given) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = given[i];
    const auto value = [&]() -> std::string {
      if (++i >= count) throw std::runtime_error(name + " needs a value");
      return given[i];
    };
    if (name == "--program")
      options.program = value();
    else if (name == "--model")
      options.model = value();
    else if (name == "--seconds")
      options.seconds = std::stoi(value());
    else if (name == "--clients")
      options.clients = std::stoul(value());
    else if (name == "--texts")
      options.texts = std::stoul(value());
    else if (name == "--idle")
      options.idle = std::stoul(value()), options.load = false;
    else if (name == "--memory")
      options.memory = true, options.load = false;
    else if (name == "--latency")
      options.latency = true, options.load = false;
    else if (name == "--throughput")
      options.throughput = true, options.load = false;
    else if (name == "--serve-option")
      options.serve.push_back(value());
    else
      throw std::runtime_error("there is no option " + name);
  }
  if (options.program.empty() || options.model.empty()) throw std::runtime_error("--program and --model are needed");
  return options;
}

int run(const Options& options) {
  std::vector<std::string> arguments = {options.model, "--quiet"};
  arguments.insert(arguments.end(), options.serve.begin(), options.serve.end());
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(options.model);
  const Workload work(pipeline, std::filesystem::path(options.model).filename().string(), options.texts, 1);
  ServerProcess server(options.program, arguments);
  wait_until_ready(server);
  Totals totals;
  if (options.latency) latency(pipeline, server, work, totals);
  if (options.throughput) throughput(pipeline, server, work, totals);
  if (options.memory) memory(options, server, work, totals);
  if (options.idle > 0) idle(options.idle, server);
  if (options.load) load(options, server, work, totals);
  const int code = server.stop();
  if (code != 0) totals.wrong("the server ended with " + std::to_string(code));
  std::printf("%zu wrong\n", totals.failed);
  return totals.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace alate::load

int main(int count, char** given) {
  try {
    return alate::load::run(alate::load::read_options(count, given));
  } catch (const std::exception& error) {
    std::cerr << "server_load: " << error.what() << '\n';
    return 1;
  }
}
