// alate list and show: models on disk, in the models directory, with the program and in huggingface_hub's cache.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "program.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/folders/hub_cache.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;
using formats::Json;

const std::string kCommit(40, '1');

class CliStore : public testing::Test {
 protected:
  CliStore() {
    fs::create_directories(models());
    fs::create_directories(folder.path() / "builtin");
  }

  fs::path models() const { return folder.path() / "models"; }
  fs::path cache() const { return folder.path() / "hub"; }
  fs::path golden(const std::string& name) const { return source_folder() / "tests/golden/models" / name; }
  fs::path add(const std::string& name, const std::string& from) const {
    fs::create_directories((models() / name).parent_path());
    fs::copy(golden(from), models() / name, fs::copy_options::recursive);
    return models() / name;
  }
  ProgramRun run(const std::vector<std::string>& arguments) const {
    return run_program(arguments, {.environment = {{"HF_HUB_CACHE", cache().string()},
                                                   {"ALATE_BUILTIN_MODELS", (folder.path() / "builtin").string()},
                                                   {"ALATE_HOME", (folder.path() / "home").string()},
                                                   {"ALATE_MODELS_DIR", models().string()}}});
  }
  Json json(const std::vector<std::string>& arguments) const {
    const ProgramRun ran = run(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.error;
    return formats::parse_json(ran.out, "standard output");
  }
  std::string vectors(const std::string& model) const {
    return formats::to_json_text(*json({"embed", model, "the cat", "--output", "json"}).find("embeddings"));
  }

  base::TemporaryFolder folder;
};

TEST_F(CliStore, ListsWhatIsInEachPlace) {
  EXPECT_EQ(run({"list"}).out, "NAME  TYPE  ARCHITECTURE  DTYPE  SIZE  PLACE\n");
  add("acme/mean", "st_mean");
  add_to_hub_cache(cache(), "acme/mean", kCommit, "main", golden("st_mean"));  // hidden by the one above
  add_to_hub_cache(cache(), "hub/f16", kCommit, "main", golden("stored_f16"));
  add_to_hub_cache(cache(), "hub/flat", kCommit, "main", golden("st_cls"), CacheLinks::none);
  fs::copy(golden("st_mean"), folder.path() / "builtin/tiny", fs::copy_options::recursive);
  folder.write("models/odd\x1b[31m/config.json", "{}");
  folder.write("models/broken/config.json", "{");
  const Json listed = json({"list", "--output", "json"});
  std::string shown;
  for (const Json& model : listed.find("models")->as_array("models"))
    shown += model.get_string("name", "") + " " + model.get_string("type", "") + " " +
             model.get_string("architecture", "") + " " + model.get_string("dtype", "") + " " +
             model.get_string("place", "") + "\n";
  EXPECT_EQ(shown,
            "builtin:tiny embedder bert F32 builtin\n"
            "acme/mean embedder bert F32 models directory\n"
            "broken    models directory\n"
            "hub/f16 embedder bert F16 hub cache\n"
            "hub/flat embedder bert F32 hub cache\n");
  EXPECT_EQ(lines_of(run({"list", "--output", "jsonl"}).out).size(), 5u);
  const std::vector<std::string> csv = lines_of(run({"list", "--output", "csv"}).out);
  ASSERT_EQ(csv.size(), 6u);
  EXPECT_TRUE(csv[2].starts_with("acme/mean,embedder,bert,F32,")) << csv[2];
  const std::string text = run({"list"}).out;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("broken        -         -             -"), std::string::npos) << text;
}

TEST_F(CliStore, ModelsOfTheCacheRunWhereTheyAre) {
  const fs::path snapshot = add_to_hub_cache(cache(), "acme/mean", kCommit, "main", golden("st_mean"));
  add_to_hub_cache(cache(), "acme/flat", kCommit, "main", golden("st_mean"), CacheLinks::none);
  const std::string wanted = vectors(golden("st_mean").string());
  for (const std::string& model :
       {std::string("acme/mean"), std::string("mean"), std::string("hf:acme/mean"), "acme/mean@" + kCommit,
        std::string("hf:acme/mean@main"), snapshot.string(), std::string("acme/flat")})
    EXPECT_EQ(vectors(model), wanted) << model;
  const ProgramRun absent = run({"embed", "acme/other", "x"});
  EXPECT_EQ(absent.exit_code, 4);
  EXPECT_NE(absent.error.find("`alate pull hf:acme/other` fetches it"), std::string::npos) << absent.error;
}

TEST_F(CliStore, ShowSaysWhatThereIsToKnow) {
  const fs::path model = add("acme/mean", "st_mean");
  folder.write("models/acme/mean/README.md", "---\nlicense: apache-2.0\ntags:\n- x\n---\n# Title\nlicense: no\n");
  folder.write("models/acme/mean/model-Q4_K_M.gguf", "GGUF");
  folder.write("models/acme/mean/model_manifest.json",
               R"({"description": "a\u001b[31m red one", "variants": {"gone": "gone.safetensors"}})");
  fs::copy_file(model / "model.safetensors", model / "model.copy.safetensors");
  const Json shown = json({"show", "acme/mean", "--output", "json"});
  EXPECT_EQ(shown.get_string("name", ""), "acme/mean");
  EXPECT_EQ(shown.get_string("place", ""), "models directory");
  EXPECT_EQ(shown.get_string("type", ""), "embedder");
  EXPECT_EQ(shown.get_string("architecture", "") + " " + shown.get_string("class", ""), "bert BertModel");
  EXPECT_TRUE(shown.get_bool("runs", false));
  EXPECT_EQ(shown.get_string("dtype", ""), "F32");
  EXPECT_EQ(shown.get_string("licence", ""), "apache-2.0");
  EXPECT_NE(shown.find("selection")->get_string("backend", ""), "");
  EXPECT_NE(shown.find("selection")->get_string("reason", ""), "");
  EXPECT_GT(shown.find("memory")->get_int("bytes", 0), shown.find("memory")->get_int("weights", 0));
  const auto refusal_of = [](const Json& variant) {
    const std::string refusal = variant.get_string("refusal", ""), cut = "its header ends beyond the file";
    return refusal.find(cut) == std::string::npos ? refusal.substr(0, 16) : cut;
  };
  std::string variants;
  for (const Json& each : shown.find("variants")->as_array("variants"))
    variants += each.get_string("name", "") + "=" + each.get_string("file", "") + " " +
                std::to_string(each.get_int("bytes", 0)) + " " + refusal_of(each) + "\n";
  const std::string size = std::to_string(fs::file_size(model / "model.safetensors"));
  EXPECT_EQ(variants, "=model.safetensors " + size +
                          " \ngone=gone.safetensors 0 the variant \"gon\ncopy=model.copy.safetensors " + size +
                          " \nQ4_K_M=model-Q4_K_M.gguf 4 its header ends beyond the file\n");
  const std::string text = run({"show", "acme/mean"}).out;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_NE(text.find("runs here     yes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("licence       apache-2.0\n"), std::string::npos) << text;
  EXPECT_EQ(json({"show", "acme/mean:copy", "--output", "json"}).get_string("dtype", ""), "F32");
}

TEST_F(CliStore, ShowSaysWhyAModelDoesNotRun) {
  folder.write("models/new/config.json",
               R"({"model_type": "unheard_of", "architectures": ["UnheardOfModel"],
                   "auto_map": {"AutoModel": "modeling_unheard.UnheardOfModel"}})");
  folder.write("models/new/model.safetensors", "");
  const Json shown = json({"show", "new", "--output", "json"});
  EXPECT_FALSE(shown.get_bool("runs", true));
  EXPECT_NE(shown.find("error")->get_string("message", "").find("unheard_of"), std::string::npos);
  const Json::Array& refused = shown.find("refused")->as_array("refused");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_NE(refused[0].as_string("refused").find("modeling_unheard.UnheardOfModel) is not run"), std::string::npos);

  add("bad", "st_mean");
  folder.write("models/bad/model_manifest.json", R"({"backends": "cpu"})");
  const Json bad = json({"show", "bad", "--output", "json"});
  EXPECT_FALSE(bad.get_bool("runs", true));
  EXPECT_NE(bad.find("error")->get_string("message", "").find("model_manifest.json"), std::string::npos);
  EXPECT_EQ(run({"show", "nothing"}).exit_code, 4);
}

// Neither verb may hang on a pipe, follow a link elsewhere or go round in one.
TEST_F(CliStore, HostileFoldersAreListedAndShown) {
  const fs::path model = add("evil", "st_mean");
  folder.write("secret", std::string(1 << 20, 'x'));
  ASSERT_EQ(::mkfifo((model / "pipe").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((model / "README.md").c_str(), 0600), 0);
  fs::create_symlink("loop", model / "loop");
  fs::create_directory_symlink(model, model / "again");
  fs::create_symlink("/dev/zero", model / "model.zero.safetensors");
  fs::create_symlink(folder.path() / "secret", model / "model.out.safetensors");
  const Json shown = json({"show", "evil", "--output", "json"});
  EXPECT_EQ(shown.get_string("licence", "?"), "");
  for (const Json& each : shown.find("variants")->as_array("variants")) {
    const std::string name = each.get_string("name", "");
    EXPECT_EQ(each.get_string("refusal", "").empty(), name.empty()) << name;
  }
  EXPECT_EQ(run({"list"}).exit_code, 0);
  folder.write("models/evil/model_manifest.json", "{\"description\": \"" + std::string(5 << 20, 'x') + "\"}");
  const Json huge = json({"show", "evil", "--output", "json"});
  EXPECT_FALSE(huge.get_bool("runs", true));
}

TEST_F(CliStore, VerifyFindsTheFlippedFile) {
  const fs::path snapshot = add_to_hub_cache(cache(), "acme/mean", kCommit, "main", golden("st_mean"));
  const ProgramRun good = run({"verify", "acme/mean"});
  EXPECT_EQ(good.exit_code, 0) << good.error;
  EXPECT_NE(good.out.find("good        model.safetensors"), std::string::npos) << good.out;
  std::string weights = base::read_text_file(snapshot / "model.safetensors");
  weights[weights.size() / 2] = static_cast<char>(weights[weights.size() / 2] ^ 4);
  std::ofstream(fs::canonical(snapshot / "model.safetensors"), std::ios::binary) << weights;
  const ProgramRun bad = run({"verify", "acme/mean", "--output", "json"});
  EXPECT_EQ(bad.exit_code, 7);
  EXPECT_NE(bad.error.find("1 of 10 files of \"acme/mean\" are not as published: \"model.safetensors\" (flipped)"),
            std::string::npos)
      << bad.error;
  EXPECT_FALSE(formats::parse_json(bad.out, "standard output").get_bool("good", true));
  add("plain", "st_mean");
  EXPECT_EQ(run({"verify", "plain"}).exit_code, 4);
}

TEST_F(CliStore, VerifySaysHowManyFilesItCompared) {
  const fs::path model = add("acme/mean", "st_mean");
  const std::string config = std::to_string(fs::file_size(model / "config.json"));
  folder.write("models/acme/mean/model_manifest.json",
               R"({"files": [{"name": "config.json", "size": )" + config + "}]}");
  const ProgramRun some = run({"verify", "acme/mean"});
  EXPECT_EQ(some.exit_code, 0) << some.error;
  const std::string last = lines_of(some.out).back();
  EXPECT_TRUE(last.starts_with("1 of ")) << last;
  EXPECT_NE(last.find("without a digest"), std::string::npos) << last;
  const Json counted = json({"verify", "acme/mean", "--output", "json"});
  EXPECT_EQ(counted.get_int("verified", 0), 1);
  EXPECT_GT(counted.get_int("without_digest", 0), 1);
}

TEST(BuiltinStore, HasADigestForEachFile) {
  for (const char* model : {"builtin:minilm", "builtin:pii"}) {
    const ProgramRun run = run_program({"verify", model});
    EXPECT_EQ(run.exit_code, 0) << run.error;
    EXPECT_EQ(run.out.find("no digest"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find(" files were compared\n"), std::string::npos) << run.out;
  }
}

TEST(BuiltinStore, NumbersInPackedWeightsAreCounted) {
  const Json shown = formats::parse_json(run_program({"show", "builtin:pii", "--output", "json"}).out, "show");
  // Tables of 19730, 512 and 2 rows, 6 layers of 4 squares and 2 matrices to 4 times the width, a head of 35 labels.
  const std::int64_t width = 384, weights = (19730 + 512 + 2) * width + 6 * 12 * width * width + 35 * width;
  EXPECT_GE(shown.get_int("parameters", 0), weights);
  EXPECT_LT(shown.get_int("parameters", 0), weights + 100'000);  // biases and norms
  EXPECT_EQ(shown.get_string("dtype", ""), "U4");
  EXPECT_EQ(shown.get_string("type", ""), "recognizer");
}

TEST_F(CliStore, TypesAreThoseOfTheModels) {
  folder.write("models/llama/config.json",
               R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 8})");
  folder.write("models/llama/model.safetensors", "");
  folder.write("models/mamba/config.json", R"({"model_type": "mamba", "architectures": ["MambaModel"]})");
  add("classifier", "sequence_classification");
  add("stated", "st_mean");
  folder.write("models/stated/model_manifest.json", R"({"type": "chunker"})");
  std::string types;
  const Json listed = json({"list", "--output", "json"});
  for (const Json& model : listed.find("models")->as_array("models"))
    types += model.get_string("name", "") + "=" + model.get_string("type", "") + " ";
  EXPECT_EQ(types, "classifier=classifier llama=generator mamba= stated=chunker ");
  EXPECT_NE(run({"show", "llama"}).out.find("generator, writes text"), std::string::npos);
}

TEST_F(CliStore, RmTakesModelsOfBothPlacesAndNothingElse) {
  add("acme/mean", "st_mean");
  add_to_hub_cache(cache(), "hub/mean", kCommit, "main", golden("st_mean"));
  add_to_hub_cache(cache(), "hub/mean", std::string(40, '2'), "v2", golden("st_cls"));
  fs::copy(golden("st_mean"), folder.path() / "builtin/tiny", fs::copy_options::recursive);
  fs::copy(golden("st_mean"), folder.path() / "elsewhere", fs::copy_options::recursive);
  for (const std::string& refused : {std::string("builtin:tiny"), (folder.path() / "elsewhere").string(),
                                     models().string(), (models() / "acme").string()})
    EXPECT_EQ(run({"rm", refused}).exit_code, 2) << refused << run({"rm", refused}).error;
  EXPECT_EQ(run({"rm", "nothing"}).exit_code, 4);
  EXPECT_EQ(run({"rm", "acme/mean", "--dry-run"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(models() / "acme/mean/config.json"));
  const ProgramRun removed = run({"rm", "acme/mean"});
  EXPECT_EQ(removed.exit_code, 0) << removed.error;
  EXPECT_TRUE(removed.out.starts_with("removed acme/mean: ")) << removed.out;
  EXPECT_FALSE(fs::exists(models() / "acme/mean"));
  EXPECT_EQ(run({"rm", "hub/mean@v2"}).exit_code, 0);
  EXPECT_EQ(run({"verify", "hub/mean"}).exit_code, 0);
  EXPECT_EQ(run({"rm", "hub/mean"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(cache() / "models--hub--mean"));
  EXPECT_TRUE(fs::exists(folder.path() / "builtin/tiny/config.json"));
  EXPECT_TRUE(fs::exists(folder.path() / "elsewhere/config.json"));
}

TEST_F(CliStore, GcSaysWhatItFreed) {
  const fs::path snapshot = add_to_hub_cache(cache(), "acme/mean", kCommit, "main", golden("st_mean"));
  const fs::path part = folder.write("hub/models--acme--mean/blobs/" + std::string(64, 'b') + ".incomplete", "12345");
  fs::last_write_time(part, fs::file_time_type::clock::now() - std::chrono::hours(48));
  EXPECT_EQ(run({"gc", "--older-than", "3d"}).out, "freed 0 bytes\n");
  const std::string freed = run({"gc", "--dry-run"}).out;
  EXPECT_NE(freed.find("acme/mean  incomplete download  "), std::string::npos) << freed;
  EXPECT_TRUE(freed.ends_with("would free 5 bytes\n")) << freed;
  EXPECT_TRUE(fs::exists(part));
  EXPECT_TRUE(run({"gc"}).out.ends_with("\nfreed 5 bytes\n"));
  EXPECT_FALSE(fs::exists(part));
  EXPECT_TRUE(fs::exists(snapshot / "model.safetensors"));
  EXPECT_EQ(json({"gc", "--max-size", "1kB", "--output", "json"}).find("items")->as_array("items").size(), 1u);
  EXPECT_FALSE(fs::exists(snapshot));
  for (const char* size : {"x", "-1", "1e99", "5XB", "nan"})
    EXPECT_EQ(run({"gc", "--max-size", size}).exit_code, 2) << size;
  for (const char* age : {"x", "-1h", "99999999d", "d"})
    EXPECT_EQ(run({"gc", "--older-than", age}).exit_code, 2) << age;
}

}  // namespace
}  // namespace alate::tests
