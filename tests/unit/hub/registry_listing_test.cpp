// What a registry says, honest and hostile.
#include "hub/registry/registry_listing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hub/registry/registry_reference.h"
#include "tests/unit/base/expect_error.h"

namespace alate::hub {
namespace {

using Names = std::vector<std::string>;

const std::string kDigest = "sha256:" + std::string(64, 'a'), kOther = "sha256:" + std::string(64, 'b');

// An entry of "files".
std::string file(const std::string& name, const std::string& digest = kDigest, const std::string& size = "5") {
  return R"({"name": ")" + name + R"(", "digest": ")" + digest + R"(", "size": )" + size + "}";
}

std::string manifest(const std::string& files, const std::string& more = "") {
  return R"({"schemaVersion": 2, "name": "small", "owner": "acme", "type": "embedder", "files": [)" + files + "]" +
         more + "}";
}

Error refused_manifest(const std::string& text, const std::string& id = "acme/small") {
  return base::error_of([&] { parse_registry_manifest(text, id, "the manifest"); });
}

Names chosen(const std::string& text, const RegistryChoice& choice) {
  Names names;
  for (const folders::ManifestFile& each :
       choose_registry_files(parse_registry_manifest(text, "acme/small", "the manifest"), choice, "the manifest"))
    names.push_back(each.name);
  return names;
}

TEST(RegistryIndex, HasModelsWithTheirTypesAndVariants) {
  const auto entries = parse_registry_index(
      R"({"schemaVersion": 2, "models": [
        {"name": "bge-small-en-v1.5", "owner": "BAAI", "type": "embedder", "description": "", "size": 133987476,
         "source": "BAAI/bge-small-en-v1.5", "variants": ["f16", "i8"], "unknown": {"kept": 1}},
        {"name": "legacy", "type": "chunker", "size": 0, "capabilities": ["a"], "backends": ["onnx"]}]})",
      "index");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].id, "BAAI/bge-small-en-v1.5");
  EXPECT_EQ(entries[0].type, "embedder");
  EXPECT_EQ(entries[0].bytes, 133987476U);
  EXPECT_EQ(entries[0].variants, (Names{"f16", "i8"}));
  EXPECT_EQ(entries[1].id, "legacy");
  EXPECT_FALSE(entries[1].bytes);
  EXPECT_EQ(entries[1].backends, (Names{"onnx"}));
  EXPECT_TRUE(parse_registry_index(R"({"schemaVersion": 1, "models": []})", "index").empty());
}

TEST(RegistryIndex, HostileOnesAreRefused) {
  const auto refused = [](const std::string& text) {
    return base::error_of([&] { parse_registry_index(text, "the index"); });
  };
  const auto of_model = [&](const std::string& members) {
    return refused(R"({"schemaVersion": 2, "models": [{)" + members + "}]}");
  };
  for (const char* name : {"..", "../x", "/etc/passwd", "a/b", "CON:", "a\\\\b", "a\\u0000b", "\\u001b[31m", "", "a b",
                           "\\u202ea", "caf\\u00e9"}) {
    const Error error = of_model(R"("owner": "acme", "name": ")" + std::string(name) + "\"");
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << name;
    EXPECT_EQ(error.message().find('\x1b'), std::string::npos) << error.message();
  }
  EXPECT_EQ(of_model(R"("owner": "..", "name": "x")").code(), ErrorCode::corrupt);
  EXPECT_EQ(of_model(R"("name": 5)").code(), ErrorCode::corrupt);
  EXPECT_EQ(of_model(R"("name": "x", "size": -1)").code(), ErrorCode::corrupt);
  EXPECT_EQ(of_model(R"("name": "x", "variants": "i8")").code(), ErrorCode::corrupt);
  EXPECT_EQ(of_model(R"("name": "x", "type": ")" + std::string(300, 'x') + "\"").code(), ErrorCode::corrupt);
  for (const char* text : {"", "[]", "{}", "<html>", R"({"models": {}})", R"({"models": [1]})",
                           R"({"schemaVersion": 0, "models": []})", R"({"schemaVersion": "two", "models": []})"})
    EXPECT_EQ(refused(text).code(), ErrorCode::corrupt) << text;
  EXPECT_EQ(refused(R"({"schemaVersion": 3, "models": []})").code(), ErrorCode::unsupported);
  const Error twice = refused(R"({"models": [{"name": "Same"}, {"name": "other"}, {"name": "same"}]})");
  EXPECT_EQ(twice.code(), ErrorCode::corrupt);
  EXPECT_NE(twice.message().find("Same and same"), std::string::npos) << twice.message();
  std::string many = R"({"models": [)";
  for (int i = 0; i < 20'001; ++i) many += (i > 0 ? ",{\"name\":\"m" : "{\"name\":\"m") + std::to_string(i) + "\"}";
  EXPECT_EQ(refused(many + "]}").code(), ErrorCode::resource_exhausted);
  std::string millions = R"({"models": [0)";
  for (int i = 0; i < 7'000'000; ++i) millions += ",0";
  EXPECT_EQ(refused(millions + "]}").code(), ErrorCode::resource_exhausted);
}

TEST(RegistryManifest, HostileOnesAreRefused) {
  for (const char* name : {"../x", "/etc/passwd", "a/../../b", "a\\\\b", "C:x", "", ".", "a//b", "a\\u0000b", "x\\n"})
    EXPECT_EQ(refused_manifest(manifest(file(name))).code(), ErrorCode::corrupt) << name;
  for (const char* digest : {"", "sha256:", "md5:aaaa", "sha256:zz", "sha256:../../../etc/passwd"})
    EXPECT_EQ(refused_manifest(manifest(file("a", digest))).code(), ErrorCode::corrupt) << digest;
  EXPECT_EQ(refused_manifest(manifest(R"({"name": "a", "size": 3})")).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused_manifest(manifest(file("a", kDigest, "-1"))).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused_manifest(manifest(file("a", kDigest, "9223372036854775807"))).code(),
            ErrorCode::resource_exhausted);
  EXPECT_EQ(refused_manifest(manifest(file("a") + "," + file("a", kOther))).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused_manifest(manifest(file("a"), R"(, "variants": {"i8": [)" + file("a", kOther) + "]}")).code(),
            ErrorCode::corrupt);
  EXPECT_EQ(refused_manifest(manifest(file("Model_Manifest.json"))).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused_manifest(manifest(file("a"), R"(, "variants": {"../i8": [)" + file("b") + "]}")).code(),
            ErrorCode::corrupt);
  EXPECT_EQ(refused_manifest(manifest(file("a"), R"(, "session_options": {"rm": "-rf"})")).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused_manifest(manifest(file("a")), "acme/other").code(), ErrorCode::corrupt);  // another model's place
  EXPECT_EQ(refused_manifest(manifest("")).code(), ErrorCode::not_found);
  EXPECT_EQ(refused_manifest(R"({"schemaVersion": 9, "name": "small", "owner": "acme", "files": []})").code(),
            ErrorCode::unsupported);
  std::string many = file("f0");
  for (int i = 1; i < 5000; ++i) many += "," + file("f" + std::to_string(i));
  EXPECT_EQ(refused_manifest(manifest(many)).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused_manifest(std::string(std::size_t{5} << 20, ' ') + manifest(file("a"))).code(),
            ErrorCode::resource_exhausted);
}

TEST(RegistryManifest, NamesThatSomeSystemsTakeForOneAreRefused) {
  for (const char* names : {"vocab.txt,Vocab.txt", "caf\\u00e9,cafe\\u0301", "a,a/b", "nul.json,b", "aux,b", "a.,b"}) {
    const std::string text(names);
    const std::size_t comma = text.find(',');
    const Error error =
        base::error_of([&] { chosen(manifest(file(text.substr(0, comma)) + "," + file(text.substr(comma + 1))), {}); });
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << names;
  }
}

TEST(RegistryManifest, ChoosesTheFilesOfVariants) {
  const std::string text =
      manifest(file("model.onnx") + "," + file("model.onnx.data", kOther) + "," + file("tokenizer.json") + "," +
                   file("2_Dense/model.safetensors") + "," + file("config.json"),
               R"(, "variants": {"i8": {"files": [)" + file("model_i8.onnx", kOther) + R"(]}, "f16": )" +
                   file("model_f16.onnx", kOther) + R"(, "split": [)" + file("a.onnx") + "," + file("b.onnx") + "]}");
  const Names usual = {"model.onnx", "model.onnx.data", "tokenizer.json", "2_Dense/model.safetensors", "config.json"};
  const Names others = {"tokenizer.json", "2_Dense/model.safetensors", "config.json"};
  const auto with = [&](Names first) {
    first.insert(first.end(), others.begin(), others.end());
    return first;
  };
  EXPECT_EQ(chosen(text, {}), usual);
  EXPECT_EQ(chosen(text, {.variants = {"f32"}}), usual);
  EXPECT_EQ(chosen(text, {.variants = {"I8"}}), with({"model_i8.onnx"}));
  EXPECT_EQ(chosen(text, {.variants = {"f16"}}), with({"model_f16.onnx"}));
  EXPECT_EQ(chosen(text, {.variants = {"split"}}), with({"a.onnx", "b.onnx"}));
  EXPECT_EQ(chosen(text, {.variants = {"i8", "f32"}}).size(), 6U);
  EXPECT_EQ(chosen(text, {.all = true}).size(), 9U);
  EXPECT_EQ(chosen(text, {.include = {"*.onnx"}, .exclude = {"?.onnx"}}),
            (Names{"model.onnx", "model_i8.onnx", "model_f16.onnx"}));
  const Error unknown = base::error_of([&] { chosen(text, {.variants = {"q4"}}); });
  EXPECT_EQ(unknown.code(), ErrorCode::not_found);
  EXPECT_NE(unknown.message().find(R"(f32, "i8", "f16", "split")"), std::string::npos) << unknown.message();
  EXPECT_EQ(base::error_of([&] { chosen(text, {.exclude = {"*"}}); }).code(), ErrorCode::not_found);
}

TEST(RegistryReference, FindsRegistryNameAndVariant) {
  const auto shown = [](const std::string& text, const std::string& registry = "") {
    const RegistryReference found = parse_registry_reference(text, registry);
    return found.registry + " " + found.id + " " + found.variant;
  };
  EXPECT_EQ(shown("registry:acme/small"), "https://registry.antfly.io/v1 acme/small ");
  EXPECT_EQ(shown("acme/small:i8-st", "http://h:81/v1/"), "http://h:81/v1 acme/small i8-st");
  EXPECT_EQ(shown("small", "https://h"), "https://h/v1 small ");
  EXPECT_EQ(shown("https://h/x/v1/manifests/acme/small.json", "https://other"), "https://h/x/v1 acme/small ");
  EXPECT_EQ(shown("https://h/v1/manifests/acme/small.json:f16"), "https://h/v1 acme/small f16");
  ::setenv("ANTFLY_REGISTRY_URL", "https://mine/v1", 1);
  EXPECT_EQ(shown("registry:small"), "https://mine/v1 small ");
  ::unsetenv("ANTFLY_REGISTRY_URL");
  for (const char* text : {"registry:", "registry:../x", "a/b/c", "a/b@v1", "a/b:", "a/b:x/y", "registry:/etc/passwd"})
    EXPECT_EQ(base::error_of([&] { parse_registry_reference(text, "https://h"); }).code(), ErrorCode::invalid_argument)
        << text;
  EXPECT_EQ(base::error_of([&] { parse_registry_reference("a/b", "ftp://h"); }).code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(is_registry_reference("a/b", "https://h"));
  EXPECT_FALSE(is_registry_reference("a/b", ""));
  EXPECT_FALSE(is_registry_reference("hf:a/b", "https://h"));
  EXPECT_FALSE(is_registry_reference("https://huggingface.co/a/b", "https://h"));
  EXPECT_TRUE(is_registry_reference("registry:a/b", ""));
}

}  // namespace
}  // namespace alate::hub
