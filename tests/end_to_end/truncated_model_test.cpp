// A model's file is truncated in place while the server uses it: its requests fail, and the server goes on.
#include <gtest/gtest.h>

#include "program.h"
#include "tests/load/client.h"
#include "tests/load/server_process.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;

TEST(TruncatedModel, FailsAndTheServerGoesOn) {
  const base::TemporaryFolder folder;
  fs::create_directory(folder.path() / "models");
  for (const char* name : {"broken", "whole"})
    fs::copy(tiny_model("st_mean"), folder.path() / "models" / name, fs::copy_options::recursive);
  load::ServerProcess server(program_path(), {"--models-dir", (folder.path() / "models").string(), "--quiet"});
  load::Client client(server.port());
  int texts = 0;
  const auto embed = [&](const std::string& model) {
    // Another text each time: no answer is one that was kept.
    const std::string body = R"({"model": ")" + model + R"(", "input": "text )" + std::to_string(++texts) + R"("})";
    return client.exchange(load::Client::request("POST", "/v1/embeddings", body));
  };
  EXPECT_EQ(embed("broken").status, 200);
  EXPECT_EQ(embed("whole").status, 200);
  fs::resize_file(folder.path() / "models" / "broken" / "model.safetensors", 0);
  const load::Answer failed = embed("broken");
  EXPECT_EQ(failed.status, 500) << failed.body;
  EXPECT_EQ(failed.body.find(folder.path().string()), std::string::npos) << "paths stay here: " << failed.body;
  EXPECT_EQ(embed("whole").status, 200);
  EXPECT_EQ(embed("broken").status, 500);
  client.close();
  EXPECT_EQ(server.stop(), 0);
}

}  // namespace
}  // namespace alate::tests
