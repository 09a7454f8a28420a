// search_models: what a hub and a registry answer, and what is made of it.
#include "hub/remote/model_search.h"

#include "tests/unit/hub/registry_testing.h"

namespace alate::hub {
namespace {

constexpr const char* kAnswer = R"([
  {"_id": "1", "id": "sentence-transformers/all-MiniLM-L6-v2", "pipeline_tag": "sentence-similarity",
   "library_name": "sentence-transformers", "downloads": 150000000, "gated": false,
   "config": {"architectures": ["BertModel"], "model_type": "bert"},
   "safetensors": {"parameters": {"I64": 512, "F32": 22713216}, "total": 22713728}},
  {"id": "meta/painter", "pipeline_tag": "text-to-image", "library_name": "diffusers", "downloads": 9},
  {"id": "acme/whisperer", "pipeline_tag": "feature-extraction", "config": {"model_type": "mamba"}, "gated": "manual"},
  {"modelId": "acme/unknown", "downloads": null, "tags": ["x"]}])";

class ModelSearch : public RegistryTesting {
 protected:
  ModelSearchOptions search(const std::string& text = "") const {
    return {.text = text,
            .endpoint = server.url(),
            .offline = false,
            .timeout = std::chrono::seconds(30),
            .retry_delay = std::chrono::milliseconds(5)};
  }
};

TEST_F(ModelSearch, OfAHubTellsWhatRunsHere) {
  server.put_page("/api/models", kAnswer);
  const FoundModels found = search_models(search("a & b"));
  ASSERT_EQ(found.models.size(), 2U);
  EXPECT_EQ(found.other_kinds, 2U);  // text-to-image, and an architecture that is not built
  const FoundModel& first = found.models[0];
  EXPECT_EQ(first.id, "sentence-transformers/all-MiniLM-L6-v2");
  EXPECT_EQ(first.type, "embedder");
  EXPECT_EQ(first.architecture, "bert");
  EXPECT_EQ(first.dtype, "F32");
  EXPECT_EQ(first.parameters, 22713728U);
  EXPECT_EQ(first.downloads, 150000000U);
  EXPECT_EQ(first.gated, "");
  EXPECT_EQ(first.runs, true);
  EXPECT_EQ(found.models[1].id, "acme/unknown");
  EXPECT_FALSE(found.models[1].runs);
  const HubRequest request = server.requests().back();
  EXPECT_NE(request.query.find("search=a%20%26%20b"), std::string::npos) << request.query;
  EXPECT_NE(request.query.find("expand=config"), std::string::npos) << request.query;

  ModelSearchOptions all = search();
  all.all_kinds = true;
  all.limit = 3;
  const FoundModels every = search_models(all);
  EXPECT_EQ(every.models.size(), 3U);
  EXPECT_EQ(every.further, 1U);
  EXPECT_TRUE(every.models[1].is_other_kind);
  EXPECT_EQ(every.models[2].runs, false);
  EXPECT_EQ(every.models[2].gated, "manual");
}

TEST_F(ModelSearch, OfARegistryFiltersItsIndex) {
  ModelSearchOptions of_registry = search("ACME embed");
  of_registry.registry = registry();
  const FoundModels found = search_models(of_registry);
  ASSERT_EQ(found.models.size(), 1U);
  EXPECT_EQ(found.models[0].id, "acme/small");
  EXPECT_EQ(found.models[0].variants, (std::vector<std::string>{"f16", "i8"}));
  EXPECT_EQ(found.models[0].bytes, 20'000'000U);
  of_registry.text = "acme";
  EXPECT_EQ(search_models(of_registry).other_kinds, 1U);
  of_registry.text = "acme nothing";
  EXPECT_TRUE(search_models(of_registry).models.empty());
}

TEST_F(ModelSearch, HostileAnswersAreRefused) {
  for (const char* text : {"", "{}", "[1]", "[{}]", R"([{"id": "../x"}])", R"([{"id": "a\u001b[31m/b"}])",
                           R"([{"id": ["x"]}])", "<html>"}) {
    const Error error = base::error_of([&] { parse_hub_search(text, "the answer"); });
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << text;
    EXPECT_EQ(error.message().find('\x1b'), std::string::npos);
  }
  std::string many = R"([{"id": "a"})";
  for (int i = 0; i < 1000; ++i) many += R"(, {"id": "a"})";
  EXPECT_EQ(base::error_of([&] { parse_hub_search(many + "]", "the answer"); }).code(), ErrorCode::resource_exhausted);
  // Fields of other kinds are as if they were not there.
  const auto odd = parse_hub_search(
      R"([{"id": "a", "pipeline_tag": 5, "downloads": "x", "config": [], "safetensors": {"parameters": [], "total": -1},
           "library_name": {"a": 1}, "gated": true}])",
      "the answer");
  EXPECT_EQ(odd.at(0).task, "");
  EXPECT_EQ(odd.at(0).downloads, 0U);
  EXPECT_EQ(odd.at(0).parameters, 0U);
}

TEST_F(ModelSearch, OfflineAndErrors) {
  ModelSearchOptions offline = search();
  offline.offline = true;
  EXPECT_EQ(base::error_of([&] { search_models(offline); }).code(), ErrorCode::unavailable);
  EXPECT_EQ(server.requests().size(), 0U);
  server.change_answers([](const HubRequest&, HubAnswer& answer) { answer.status = 429; });
  EXPECT_EQ(base::error_of([&] { search_models(search()); }).code(), ErrorCode::unavailable);
}

}  // namespace
}  // namespace alate::hub
