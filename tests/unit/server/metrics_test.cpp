#include "server/metrics/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "server/metrics/metric_series.h"

namespace alate::server {
namespace {

using namespace std::chrono_literals;

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    out.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

std::string name_of(const std::string& sample) { return sample.substr(0, sample.find_first_of("{ ")); }

TEST(Histogram, PutsAValueIntoTheFirstBucketThatItIsNotOver) {
  constexpr std::array<std::uint64_t, 3> kBounds = {1, 10, 100};
  Histogram histogram(kBounds);
  for (const std::uint64_t value : {0, 1, 2, 10, 11, 100, 101, 1000}) histogram.observe(value);
  const auto now = histogram.snapshot();
  EXPECT_EQ(now.counts[0], 2u);
  EXPECT_EQ(now.counts[1], 2u);
  EXPECT_EQ(now.counts[2], 2u);
  EXPECT_EQ(now.counts[3], 2u);
  EXPECT_EQ(now.count, 8u);
  EXPECT_EQ(now.sum, 1225u);
}

TEST(Exposition, EscapesLabelsAndAccumulatesBuckets) {
  constexpr std::array<std::uint64_t, 2> kBounds = {1'000'000, 2'500'000'000};
  Histogram histogram(kBounds);
  histogram.observe(500'000);
  histogram.observe(1'000'000'000);
  histogram.observe(3'000'000'000);
  Exposition out;
  out.begin("a", "gauge", "About a.");
  out.sample({{"b", "q\"b\\n\nc\x1B"}, {"d", "\xFF"}}, std::uint64_t{3});
  out.begin("h", "histogram", "About h.");
  out.sample({{"route", "/x"}}, histogram, 1e9);
  EXPECT_EQ(out.take(),
            "# HELP a About a.\n# TYPE a gauge\na{b=\"q\\\"b\\\\n\\nc?\",d=\"?\"} 3\n"
            "# HELP h About h.\n# TYPE h histogram\n"
            "h_bucket{route=\"/x\",le=\"0.001\"} 1\nh_bucket{route=\"/x\",le=\"2.5\"} 2\n"
            "h_bucket{route=\"/x\",le=\"+Inf\"} 3\nh_sum{route=\"/x\"} 4.0005\nh_count{route=\"/x\"} 3\n");
}

TEST(Metrics, CountRequestsByRouteAndCode) {
  Metrics metrics;
  metrics.request("POST", "/api/embed", 200, 3ms, {.queue = 1ms, .tokenize = 1ms, .compute = 1ms, .computed = true});
  metrics.request("POST", "/api/embed", 200, 3ms, {});
  metrics.request("POST", "/api/embed", 503, 1ms, {});
  metrics.request("GET", "unknown", 404, 1ms, {});
  metrics.request("GET", "/health", 0, 1ms, {});
  const std::string text = metrics.expose({});
  EXPECT_TRUE(has_line(text, R"(alate_http_requests_total{method="POST",route="/api/embed",code="200"} 2)")) << text;
  EXPECT_TRUE(has_line(text, R"(alate_http_requests_total{method="POST",route="/api/embed",code="503"} 1)"));
  EXPECT_TRUE(has_line(text, R"(alate_http_requests_total{method="GET",route="/health",code="gone"} 1)"));
  EXPECT_TRUE(has_line(text, R"(alate_http_errors_total{route="/api/embed",code="503"} 1)"));
  EXPECT_TRUE(has_line(text, R"(alate_http_errors_total{route="unknown",code="404"} 1)"));
  EXPECT_EQ(text.find("alate_http_errors_total{route=\"/health\""), std::string::npos);
  EXPECT_TRUE(has_line(text, R"(alate_request_duration_seconds_bucket{route="/api/embed",le="0.0025"} 1)"));
  EXPECT_TRUE(has_line(text, R"(alate_request_duration_seconds_bucket{route="/api/embed",le="0.005"} 3)"));
  EXPECT_TRUE(has_line(text, R"(alate_request_duration_seconds_sum{route="/api/embed"} 0.007)"));
  // Only the one that came to a model was in the stages.
  EXPECT_TRUE(has_line(text, R"(alate_stage_duration_seconds_count{stage="queue"} 1)"));
  EXPECT_TRUE(has_line(text, R"(alate_stage_duration_seconds_count{stage="compute"} 1)"));
}

TEST(Metrics, CountWorkAndRefusals) {
  Metrics metrics;
  metrics.batch(3, 100, 5ms);
  metrics.batch(1, 9, 1ms);
  metrics.cache_hit();
  metrics.expired();
  metrics.truncated(4);
  metrics.work_taken(std::chrono::microseconds(200));
  metrics.work_taken(std::chrono::seconds(3));
  metrics.work_dropped();
  metrics.rejected("queue_full");
  metrics.rejected("queue_full");
  metrics.rejected("unauthenticated");
  const std::string text = metrics.expose({});
  EXPECT_TRUE(has_line(text, "alate_batches_total 2"));
  EXPECT_TRUE(has_line(text, "alate_tokens_total 109"));
  EXPECT_TRUE(has_line(text, "alate_batch_rows_bucket{le=\"4.0\"} 2") ||
              has_line(text, "alate_batch_rows_bucket{le=\"4\"} 2"))
      << text;
  EXPECT_TRUE(has_line(text, "alate_batch_tokens_sum 109") || has_line(text, "alate_batch_tokens_sum 109.0"));
  EXPECT_TRUE(has_line(text, "alate_cache_hits_total 1"));
  EXPECT_TRUE(has_line(text, "alate_expired_requests_total 1"));
  EXPECT_TRUE(has_line(text, "alate_truncated_texts_total 4"));
  EXPECT_TRUE(has_line(text, "alate_work_wait_seconds_count 2"));
  EXPECT_TRUE(has_line(text, "alate_work_wait_seconds_bucket{le=\"0.001\"} 1")) << text;
  EXPECT_TRUE(has_line(text, "alate_work_dropped_total 1"));
  EXPECT_TRUE(has_line(text, "alate_rejected_requests_total{reason=\"queue_full\"} 2"));
  EXPECT_TRUE(has_line(text, "alate_rejected_requests_total{reason=\"unauthenticated\"} 1"));
}

TEST(Metrics, CountTokensAndTheTimeUntilThem) {
  Metrics metrics;
  metrics.first_token(40ms);
  metrics.next_token(3ms);
  metrics.next_token(30ms);
  metrics.prompts(100, 64);
  const std::string text = metrics.expose({});
  EXPECT_TRUE(has_line(text, "alate_generated_tokens_total 3"));
  EXPECT_TRUE(has_line(text, "alate_prompt_tokens_total 100"));
  EXPECT_TRUE(has_line(text, "alate_prompt_cached_tokens_total 64"));
  EXPECT_TRUE(has_line(text, "alate_time_to_first_token_seconds_count 1"));
  EXPECT_TRUE(has_line(text, "alate_time_to_first_token_seconds_bucket{le=\"0.05\"} 1"));
  EXPECT_TRUE(has_line(text, "alate_time_between_tokens_seconds_bucket{le=\"0.005\"} 1"));
  EXPECT_TRUE(has_line(text, "alate_time_between_tokens_seconds_count 2"));
}

TEST(Metrics, ShowTheStepsAndTheCacheOfLanguageModels) {
  Gauges gauges;
  gauges.models.push_back({.name = "embedder", .backend = "cpu", .device = "", .dtype = "float32", .steps = {}});
  gauges.models.push_back({.name = "writer",
                           .backend = "cpu",
                           .device = "",
                           .dtype = "float32",
                           .steps = runtime::StepCounts{.waiting = 1,
                                                        .running = 2,
                                                        .pages = 10,
                                                        .pages_read = 6,
                                                        .pages_idle = 3,
                                                        .steps = 4,
                                                        .computed_tokens = 50,
                                                        .cached_tokens = 60,
                                                        .preemptions = 7},
                           .cache_bytes = 1000});
  gauges.loads = {.loaded = 5, .failed = 1, .evicted = 2, .idle = 3, .asked_for = 4};
  const std::string text = Metrics().expose(gauges);
  EXPECT_TRUE(has_line(text, R"(alate_sequences_running{model="writer"} 2)")) << text;
  EXPECT_TRUE(has_line(text, R"(alate_sequences_waiting{model="writer"} 1)"));
  EXPECT_TRUE(has_line(text, R"(alate_steps_total{model="writer"} 4)"));
  EXPECT_TRUE(has_line(text, R"(alate_step_tokens_total{model="writer"} 50)"));
  EXPECT_TRUE(has_line(text, R"(alate_prefix_hit_tokens_total{model="writer"} 60)"));
  EXPECT_TRUE(has_line(text, R"(alate_preemptions_total{model="writer"} 7)"));
  EXPECT_TRUE(has_line(text, R"(alate_kv_cache_pages{model="writer",state="read"} 6)"));
  EXPECT_TRUE(has_line(text, R"(alate_kv_cache_pages{model="writer",state="kept"} 3)"));
  EXPECT_TRUE(has_line(text, R"(alate_kv_cache_pages{model="writer",state="free"} 1)"));
  EXPECT_TRUE(has_line(text, R"(alate_kv_cache_limit_bytes{model="writer"} 1000)"));
  EXPECT_EQ(text.find(R"(alate_steps_total{model="embedder"})"), std::string::npos);
  EXPECT_TRUE(has_line(text, R"(alate_model_loads_total{result="loaded"} 5)"));
  EXPECT_TRUE(has_line(text, R"(alate_model_loads_total{result="failed"} 1)"));
  EXPECT_TRUE(has_line(text, R"(alate_model_unloads_total{reason="evicted"} 2)"));
  EXPECT_TRUE(has_line(text, R"(alate_model_unloads_total{reason="idle"} 3)"));
  EXPECT_TRUE(has_line(text, R"(alate_model_unloads_total{reason="asked_for"} 4)"));
}

TEST(Metrics, ShowGaugesAndTheProcess) {
  Gauges gauges;
  gauges.version = "1.2.3";
  gauges.requests_running = 3;
  gauges.requests_waiting = 4;
  gauges.work_running = 2;
  gauges.work_waiting = 9;
  gauges.connections = 5;
  gauges.body_bytes = 6;
  gauges.answer_bytes = 8;
  gauges.models.push_back({.name = "owner/\"name\"",
                           .backend = "cpu",
                           .device = "0",
                           .dtype = "float32",
                           .bytes = 7,
                           .jobs = 8,
                           .rows = 9,
                           .tokens = 10});
  const std::string text = Metrics().expose(gauges);
  for (const std::string line :
       {R"(alate_build_info{version="1.2.3"} 1)", "alate_requests_running 3", "alate_requests_waiting 4",
        "alate_work_running 2", "alate_work_waiting 9", "alate_connections 5", "alate_body_bytes 6",
        "alate_answer_bytes 8", R"(alate_model_memory_bytes{model="owner/\"name\""} 7)",
        R"(alate_queue_jobs{model="owner/\"name\""} 8)", R"(alate_queue_rows{model="owner/\"name\""} 9)",
        R"(alate_queue_tokens{model="owner/\"name\""} 10)",
        R"(alate_model_info{model="owner/\"name\"",backend="cpu",device="0",dtype="float32"} 1)"})
    EXPECT_TRUE(has_line(text, line)) << line;
  const auto value_of = [&](const std::string& name) {
    const std::size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1.0 : std::stod(text.substr(at + name.size() + 2));
  };
  EXPECT_GE(value_of("process_cpu_seconds_total"), 0);
  EXPECT_GT(value_of("process_resident_memory_bytes"), 100'000);
  EXPECT_GE(value_of("process_open_fds"), 3);
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_LE(value_of("process_start_time_seconds"), now + 5);
  EXPECT_GT(value_of("process_start_time_seconds"), now - 86400);
}

TEST(Metrics, EveryMetricHasItsHelpAndTypeOnceAndNoSampleIsThereTwice) {
  Metrics metrics;
  metrics.request("GET", "/a", 200, 1ms, {});
  metrics.request("GET", "/b", 500, 1ms, {});
  metrics.rejected("queue_full");
  metrics.batch(1, 1, 1ms);
  Gauges gauges;
  gauges.version = "1";
  gauges.models = {{.name = "a", .backend = "cpu", .device = "", .dtype = ""},
                   {.name = "b", .backend = "", .device = "", .dtype = ""}};
  std::set<std::string> types, helps, samples;
  std::string current;
  for (const std::string& line : lines_of(metrics.expose(gauges))) {
    if (line.starts_with("# HELP ")) {
      EXPECT_TRUE(helps.insert(name_of(line.substr(7))).second) << line;
    } else if (line.starts_with("# TYPE ")) {
      current = name_of(line.substr(7));
      EXPECT_TRUE(types.insert(current).second) << line;
    } else {
      EXPECT_TRUE(name_of(line).starts_with(current)) << line;
      EXPECT_TRUE(samples.insert(line.substr(0, line.rfind(' '))).second) << line;
    }
  }
  EXPECT_EQ(types, helps);
  EXPECT_GT(types.size(), 20u);
}

TEST(Metrics, AreBoundedWhateverIsCounted) {
  Metrics metrics;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "x" + std::to_string(i);
    metrics.request("METHOD" + name, "/" + name, 600 + i, 1ms, {});
    metrics.rejected(name);
  }
  const std::string text = metrics.expose({});
  EXPECT_LT(lines_of(text).size(), 8000u);
  EXPECT_NE(text.find("code=\"other\""), std::string::npos);
  EXPECT_NE(text.find("reason=\"other\""), std::string::npos);
  EXPECT_EQ(text.find("METHOD"), std::string::npos);
}

TEST(Metrics, LoseNothingWhenManyThreadsCount) {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&metrics, i] {
      for (int n = 0; n < 1000; ++n) {
        metrics.request("GET", "/" + std::to_string((n + i) % 10), 200, 1ms, {});
        metrics.batch(1, 2, 1ms);
        metrics.rejected("queue_full");
        EXPECT_TRUE(n % 100 != 0 || !metrics.expose({}).empty());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = metrics.expose({});
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(has_line(
        text, "alate_http_requests_total{method=\"GET\",route=\"/" + std::to_string(i) + "\",code=\"200\"} 400"));
  }
  EXPECT_TRUE(has_line(text, "alate_tokens_total 8000"));
  EXPECT_TRUE(has_line(text, "alate_rejected_requests_total{reason=\"queue_full\"} 4000"));
}

}  // namespace
}  // namespace alate::server
