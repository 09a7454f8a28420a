// Resolution of model names in requests, and the listing of models.
#include "server/models/model_names.h"

#include <fstream>
#include <set>

#include "model_host_testing.h"
#include "tests/golden/tiny_gliner.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/folders/hub_cache.h"

namespace alate::server {
namespace {

using ModelNaming = ModelHostTest;

TEST_F(ModelNaming, ANameIsOneForEachFolder) {
  add("acme/mean");
  add("flat");
  const ModelNames names(settings);
  for (const char* name : {"acme/mean", "mean", "acme/mean:latest", "mean:latest"}) {
    const NamedFolder found = names.resolve(name);
    EXPECT_EQ(found.name, "acme/mean") << name;
    EXPECT_EQ(found.folder, settings.models_dir / "acme/mean") << name;
  }
  EXPECT_EQ(names.resolve("flat").name, "flat");
}

TEST_F(ModelNaming, WhatIsNoNameIsRefusedWithoutSayingWhereTheModelsAre) {
  add("acme/mean");
  add("other/mean");
  add("flat");
  copy_to(folder.path() / "outside");
  const ModelNames names(settings);
  const std::vector<std::pair<std::string, ErrorCode>> cases = {
      {"nothing", ErrorCode::not_found},
      {"acme/nothing", ErrorCode::not_found},
      {"nothing:latest", ErrorCode::not_found},
      {"nothing:int8", ErrorCode::not_found},
      {"flat:int3", ErrorCode::invalid_argument},
      {"flat:latest:latest", ErrorCode::invalid_argument},
      {"builtin:mean", ErrorCode::not_found},
      {"hf:acme/mean", ErrorCode::not_found},
      {"mean", ErrorCode::invalid_argument},
      {"../outside", ErrorCode::not_found},
      {"acme/../../outside", ErrorCode::not_found},
      {(folder.path() / "outside").string(), ErrorCode::not_found},
      {"./flat", ErrorCode::not_found},
      {"a/b/c", ErrorCode::not_found},
      {":latest", ErrorCode::not_found},
      {std::string("flat\0", 5), ErrorCode::not_found},
  };
  for (const auto& [name, code] : cases) {
    const Error error = base::error_of([&] { names.resolve(name); });
    EXPECT_EQ(error.code(), code) << name << ": " << error.what();
    EXPECT_EQ(error.message().find(settings.models_dir.string()), std::string::npos) << error.what();
  }
  const Error several = base::error_of([&] { names.resolve("mean"); });
  EXPECT_NE(several.message().find("acme/mean, other/mean"), std::string::npos) << several.what();
  EXPECT_NE(base::error_of([&] { names.resolve("nothing"); }).message().find("GET /api/models"), std::string::npos);
  // A request never fetches it; whoever runs the server may.
  const Error unfetched = base::error_of([&] { names.resolve("gemma3-270m"); });
  EXPECT_EQ(unfetched.code(), ErrorCode::not_found);
  EXPECT_NE(unfetched.message().find("`alate pull gemma3-270m`"), std::string::npos) << unfetched.what();
}

TEST_F(ModelNaming, TheOnlyModelIsTheDefault) {
  const ModelNames names(settings);
  EXPECT_EQ(base::error_of([&] { names.resolve(""); }).code(), ErrorCode::not_found);
  add("acme/mean");
  EXPECT_EQ(names.default_name(), "acme/mean");
  EXPECT_EQ(names.resolve("").name, "acme/mean");
  add("flat");
  const Error error = base::error_of([&] { names.resolve(""); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("acme/mean, flat"), std::string::npos) << error.what();
}

TEST_F(ModelNaming, TheDefaultMayBeSetByName) {
  add("acme/mean");
  add("flat");
  settings.default_model = "mean";
  const ModelNames names(settings);
  EXPECT_EQ(names.default_name(), "acme/mean");
  EXPECT_EQ(names.resolve("").folder, settings.models_dir / "acme/mean");
  settings.default_model = "nothing";
  EXPECT_EQ(base::error_of([&] { ModelNames{settings}; }).code(), ErrorCode::not_found);
}

TEST_F(ModelNaming, TheDefaultMayBeAPath) {
  add("acme/mean");
  add("elsewhere", "st_cls");
  copy_to(folder.path() / "far/elsewhere");
  settings.default_model = (folder.path() / "far/elsewhere/").string();
  const ModelNames names(settings);
  EXPECT_EQ(names.default_name(), "elsewhere");
  for (const char* name : {"", "elsewhere", "elsewhere:latest"})
    EXPECT_EQ(std::filesystem::canonical(names.resolve(name).folder), folder.path() / "far/elsewhere") << name;
  EXPECT_EQ(names.resolve("mean").name, "acme/mean");
  EXPECT_EQ(names.all().size(), 2u);  // not the other one of its name

  settings.default_model = (settings.models_dir / "acme/../acme/mean").string();
  const ModelNames inside(settings);
  EXPECT_EQ(inside.default_name(), "acme/mean");
  EXPECT_EQ(inside.all().size(), 2u);

  settings.default_model = (settings.models_dir / "acme/mean/config.json").string();
  EXPECT_EQ(base::error_of([&] { ModelNames{settings}; }).code(), ErrorCode::invalid_argument);
}

TEST_F(ModelNaming, ModelsThatCameWithTheProgramAreNamedSo) {
  copy_to(folder.path() / "builtin/small");
  add("flat");
  const ModelNames names(settings);
  for (const char* name : {"builtin:small", "builtin:small:latest"}) {
    EXPECT_EQ(names.resolve(name).name, "builtin:small") << name;
    EXPECT_EQ(names.resolve(name).folder, folder.path() / "builtin/small") << name;
  }
  EXPECT_EQ(names.default_name(), "flat");
  std::vector<std::string> all;
  for (const NamedFolder& each : names.all()) all.push_back(each.name);
  EXPECT_EQ(all, (std::vector<std::string>{"flat", "builtin:small"}));
  for (const char* name : {"small", "builtin:", "builtin:other", "builtin:../builtin/small", "builtin:/etc"}) {
    const Error error = base::error_of([&] { names.resolve(name); });
    EXPECT_EQ(error.code(), ErrorCode::not_found) << name;
    EXPECT_EQ(error.message().find(folder.path().string()), std::string::npos) << error.what();
  }
  EXPECT_EQ(base::error_of([&] { names.resolve("builtin:small:int8"); }).code(), ErrorCode::invalid_argument);
}

TEST_F(ModelNaming, WhereNoOthersAreTheOneOfTheProgramIsTheDefault) {
  copy_to(folder.path() / "builtin/small");
  const ModelNames silent(settings);
  EXPECT_EQ(silent.default_name(), "builtin:small");
  EXPECT_EQ(silent.resolve("").folder, folder.path() / "builtin/small");
  add("flat");
  add("other");
  settings.default_model = "builtin:small";
  const ModelNames names(settings);
  EXPECT_EQ(names.default_name(), "builtin:small");
  EXPECT_EQ(names.resolve("").name, "builtin:small");
  EXPECT_EQ(names.all().size(), 3U);
}

TEST_F(ModelNaming, OfSeveralModelsTheOneOfTheProgramIsTheDefault) {
  copy_to(folder.path() / "builtin/minilm");
  copy_to(folder.path() / "builtin/other");
  add("flat");
  const ModelNames names(settings);
  EXPECT_EQ(names.default_name(), "flat");
  add("acme/mean");
  EXPECT_EQ(names.default_name(), "builtin:minilm");
  EXPECT_EQ(names.resolve("").folder, folder.path() / "builtin/minilm");
}

TEST_F(ModelNaming, AnAliasStandsForItsModel) {
  copy_to(folder.path() / "builtin/small");
  add("acme/mean");
  settings.aliases = {{"text-embedding-3-small", "mean"}, {"nomic-embed-text:v1.5", "builtin:small"}};
  const ModelNames names(settings);
  for (const char* name : {"text-embedding-3-small", "text-embedding-3-small:latest"})
    EXPECT_EQ(names.resolve(name).name, "acme/mean") << name;
  EXPECT_EQ(names.resolve("nomic-embed-text:v1.5").name, "builtin:small");
  ASSERT_TRUE(names.find_in_memory("text-embedding-3-small"));
  EXPECT_EQ(base::error_of([&] { names.resolve("text-embedding-3-large"); }).code(), ErrorCode::not_found);
  EXPECT_EQ(base::error_of([&] { names.resolve("text-embedding-3-small:int3"); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(host().describe("text-embedding-3-small").name, "acme/mean");
  EXPECT_EQ(acquire("text-embedding-3-small").model(), acquire("acme/mean").model());
}

TEST_F(ModelNaming, AVariantIsAFileOfItsFolder) {
  add("acme/mean");
  folder.write("models/acme/mean/model.int8.safetensors", "weights");
  folder.write("models/acme/mean/onnx/model_q4.onnx", "graph");
  std::filesystem::create_symlink(folder.path() / "models", settings.models_dir / "acme/mean/model.out.safetensors");
  settings.aliases = {{"small", "mean:int8"}, {"plain", "acme/mean"}};
  const ModelNames names(settings);
  for (const char* name : {"acme/mean:int8", "mean:INT8", "small", "small:latest", "plain:int8", "mean:int8:latest"}) {
    const NamedFolder found = names.resolve(name);
    EXPECT_EQ(found.name, "acme/mean:int8") << name;
    EXPECT_EQ(found.folder, settings.models_dir / "acme/mean") << name;
    EXPECT_EQ(found.path(), settings.models_dir / "acme/mean/model.int8.safetensors") << name;
  }
  EXPECT_EQ(names.resolve("mean:q4").path(), settings.models_dir / "acme/mean/onnx/model_q4.onnx");
  EXPECT_EQ(names.resolve("mean").path(), settings.models_dir / "acme/mean");
  const Error error = base::error_of([&] { names.resolve("mean:int3"); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find(R"(there is "int8", "q4")"), std::string::npos) << error.what();
  EXPECT_EQ(base::error_of([&] { names.resolve("mean:out"); }).code(), ErrorCode::invalid_argument);

  settings.default_model = "mean:int8";
  const ModelNames with_default(settings);
  EXPECT_EQ(with_default.default_name(), "acme/mean:int8");
  EXPECT_EQ(with_default.resolve("").path(), settings.models_dir / "acme/mean/model.int8.safetensors");
}

TEST_F(ModelNaming, TheCacheOfHuggingfaceHubIsOfferedOnlyWhereASettingSaysSo) {
  const std::string commit(40, '1');
  const std::filesystem::path cache = folder.path() / "hub", golden = source_folder() / "tests/golden/models";
  ::setenv("HF_HUB_CACHE", cache.c_str(), 1);
  const auto tiny = tests::add_to_hub_cache(cache, "hub/tiny", commit, "main", golden / "st_mean");
  tests::add_to_hub_cache(cache, "acme/mean", commit, "main", golden / "st_cls");
  add("acme/mean");
  EXPECT_EQ(base::error_of([&] { ModelNames(settings).resolve("hub/tiny"); }).code(), ErrorCode::not_found);
  EXPECT_EQ(ModelNames(settings).default_name(), "acme/mean");

  // Whoever starts the server may name one of them.
  settings.default_model = "hub/tiny@main";
  EXPECT_EQ(ModelNames(settings).resolve("").name, "hub/tiny");
  EXPECT_EQ(ModelNames(settings).resolve("hub/tiny").folder, tiny);

  settings.default_model.clear();
  settings.hub_cache = true;
  const ModelNames names(settings);
  EXPECT_EQ(names.resolve("tiny").folder, tiny);
  EXPECT_EQ(names.resolve("acme/mean").folder, settings.models_dir / "acme/mean") << "the models directory comes first";
  EXPECT_EQ(names.all().size(), 2U);
  for (const char* name : {"hub/tiny@main", "hf:hub/tiny", "hub/other"})
    EXPECT_EQ(base::error_of([&] { names.resolve(name); }).code(), ErrorCode::not_found) << name;
  EXPECT_EQ(acquire("hub/tiny").model()->name, "hub/tiny");
  // The file that cannot be read is a link's target, whose path stays here.
  std::ofstream(std::filesystem::canonical(tiny / "model.safetensors"), std::ios::binary) << "no weights";
  end_host();
  const Error error = acquire("hub/tiny").error();
  EXPECT_EQ(error.message().find(folder.path().string()), std::string::npos) << error.what();
  ::unsetenv("HF_HUB_CACHE");
}

TEST_F(ModelNaming, AnAliasOfNoModelOrWithTheNameOfOneIsRefusedAtTheStart) {
  add("acme/mean");
  add("other/mean");
  add("flat");
  const std::vector<std::tuple<std::string, std::string, ErrorCode>> cases = {
      {"a", "nothing", ErrorCode::not_found},
      {"a", "builtin:nothing", ErrorCode::not_found},
      {"a", "../outside", ErrorCode::not_found},
      {"a", "hf:acme/mean", ErrorCode::not_found},
      {"a", "flat:int8", ErrorCode::invalid_argument},
      {"a", "mean", ErrorCode::invalid_argument},
      {"flat", "acme/mean", ErrorCode::invalid_argument},
      {"mean", "acme/mean", ErrorCode::invalid_argument},
      {"acme/mean", "flat", ErrorCode::invalid_argument}};
  for (const auto& [alias, model, code] : cases) {
    settings.aliases = {{alias, model}};
    const Error error = base::error_of([&] { ModelNames{settings}; });
    EXPECT_EQ(error.code(), code) << alias << " " << model << ": " << error.what();
    EXPECT_NE(error.message().find("aliases: "), std::string::npos) << error.what();
    EXPECT_NE(error.message().find("\"" + alias + "\""), std::string::npos) << error.what();
  }
}

TEST_F(ModelNaming, ListsWhatTheFilesSay) {
  add("acme/mean");
  add("flat", "stored_f16");
  const auto all = host().listed();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "acme/mean");
  EXPECT_EQ(all[0].architecture, "bert");
  EXPECT_EQ(all[0].tasks, std::vector{pipelines::Task::embed});
  EXPECT_EQ(all[0].dtype, "F32");
  EXPECT_EQ(all[0].dimensions, 16u);
  EXPECT_EQ(all[0].max_length, acquire("acme/mean").model()->pipelines.max_length());
  // Embeddings of 88 words, 40 places and 2 types and their norm; a layer with 20 between; and a pooler or none.
  constexpr std::size_t kEncoder =
      (88 + 40 + 2) * 16 + 2 * 16 + 4 * (16 * 16 + 16) + 2 * (2 * 16) + 2 * (16 * 20) + 20 + 16;
  constexpr std::size_t kPooler = 16 * 16 + 16;
  EXPECT_TRUE(all[0].parameters == kEncoder || all[0].parameters == kEncoder + kPooler) << all[0].parameters;
  EXPECT_GT(all[0].bytes, all[0].parameters * 4);
  EXPECT_LT(std::chrono::abs(std::chrono::system_clock::now() - all[0].modified), std::chrono::hours(24 * 366 * 50));
  EXPECT_EQ(all[1].dtype, "F16");
}

// Whichever file says it, listings and loaded models have the same.
TEST_F(ModelNaming, TheLengthIsTheOneThatApplies) {
  for (const char* golden :
       {"st_max_seq_length_shorter", "st_max_seq_length_longer", "st_model_max_length", "st_no_lengths"})
    add("acme/" + std::string(golden), golden);
  tests::write_tiny_reranker(settings.models_dir / "acme/roberta", "roberta");  // whose positions begin past padding
  tests::write_tiny_gliner(settings.models_dir / "acme/gliner", "spans");
  std::set<std::size_t> lengths;
  for (const ModelListing& listing : host().listed()) {
    EXPECT_EQ(listing.max_length, acquire(listing.name).model()->pipelines.max_length()) << listing.name;
    lengths.insert(listing.max_length);
  }
  EXPECT_GT(lengths.size(), 2u);
}

TEST_F(ModelNaming, ABrokenFolderIsListedWithoutFacts) {
  folder.write("models/broken/config.json", "{");
  folder.write("models/broken/model.safetensors", "not at all");
  folder.write("models/odd/config.json", R"({"model_type": 7, "hidden_size": -3, "max_position_embeddings": "x"})");
  const auto all = host().listed();
  ASSERT_EQ(all.size(), 2u);
  for (const ModelListing& listing : all) {
    EXPECT_EQ(listing.architecture, "");
    EXPECT_EQ(listing.dtype, "");
    EXPECT_EQ(listing.parameters + listing.dimensions + listing.max_length, 0u);
    EXPECT_GT(listing.bytes, 0u);
  }
}

TEST_F(ModelNaming, TheDigestChangesWithTheFiles) {
  add("flat");
  const std::string before = host().describe("flat").digest;
  EXPECT_EQ(before.size(), std::string_view("sha256:").size() + 64);
  EXPECT_EQ(host().describe("flat").digest, before);
  folder.write("models/flat/config.json", R"({"model_type": "bert", "hidden_size": 5})");
  const ModelListing after = host().describe("flat:latest");
  EXPECT_NE(after.digest, before);
  EXPECT_EQ(after.dimensions, 5u);
  EXPECT_EQ(base::error_of([&] { host().describe("nothing"); }).code(), ErrorCode::not_found);
}

TEST_F(ModelNaming, NoModelsAreNoError) {
  EXPECT_TRUE(host().listed().empty());
  EXPECT_TRUE(host().loaded().empty());
}

}  // namespace
}  // namespace alate::server
