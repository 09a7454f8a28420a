// pull_model against a hub and a network that misbehave: the right file, or a clear error.
#include <atomic>
#include <mutex>
#include <set>

#include "tests/unit/hub/pull_testing.h"

namespace alate::hub {
namespace {

using std::chrono::milliseconds;

class PullMishaps : public PullTesting {
 protected:
  // Changes the first `times` answers to GETs of the large file.
  void change_storage(int times, const std::function<void(HubAnswer&)>& change) {
    auto left = std::make_shared<std::atomic<int>>(times);
    server.change_answers([=](const HubRequest& request, HubAnswer& answer) {
      if (request.is_storage && (*left)-- > 0) change(answer);
    });
  }
  // Changes all answers that pass `which`.
  void change_all(const std::function<bool(const HubRequest&)>& which, const std::function<void(HubAnswer&)>& change) {
    server.change_answers([=](const HubRequest& request, HubAnswer& answer) {
      if (which(request)) change(answer);
    });
  }
  static bool is_storage(const HubRequest& request) { return request.is_storage; }
  static bool is_listing(const HubRequest& request) { return request.path.starts_with("/api/"); }
  static bool is_head(const HubRequest& request) { return request.method == "HEAD"; }

  void expect_refused(ErrorCode code, const std::string& part) const {
    const Error error = refused();
    EXPECT_EQ(error.code(), code) << error.message();
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
    EXPECT_EQ(error.message().find("signature"), std::string::npos) << error.message();
    EXPECT_FALSE(std::filesystem::exists(repo().ref("main")));
  }
};

TEST_F(PullMishaps, DroppedConnectionsGoOnWhereTheyEnded) {
  change_storage(9, [](HubAnswer& answer) { answer.cut_at = std::min<std::size_t>(answer.body.size(), 3'000'000); });
  pull();
  expect_snapshot(files);
  // Each byte of the file was asked for once: 20 MiB in pieces of 3 MB, in 3 ranges.
  EXPECT_LE(server.count("GET", HubServer::sha256(large)), 12U);
}

TEST_F(PullMishaps, AServerThatAlwaysDropsIsGivenUp) {
  change_all(is_storage, [](HubAnswer& answer) { answer.cut_at = 0; });
  expect_refused(ErrorCode::unavailable, "closed before the end");
}

TEST_F(PullMishaps, AServerThatStallsIsLeft) {
  change_storage(1, [](HubAnswer& answer) {
    answer.cut_at = 100;
    answer.stall = milliseconds(60'000);
  });
  PullOptions impatient = options();
  impatient.timeout = milliseconds(1500);
  const auto start = std::chrono::steady_clock::now();
  pull_model(kId, impatient);
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(60'000));
  expect_snapshot(files);
}

TEST_F(PullMishaps, AServerThatDripsIsLeft) {
  PullOptions patient = options();
  patient.timeout = milliseconds(80);
  change_all(is_storage, [](HubAnswer& answer) {
    answer.piece = 1;
    answer.pause = milliseconds(10);
  });
  const Error error = base::error_of([&] { pull_model(kId, patient); });
  EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded) << error.message();
}

TEST_F(PullMishaps, BusyServersAreAskedAgain) {
  for (const int status : {408, 429, 500, 502, 503, 504}) {
    SCOPED_TRACE(status);
    std::filesystem::remove_all(cache);
    auto seen = std::make_shared<std::set<std::string>>();
    auto mutex = std::make_shared<std::mutex>();
    server.change_answers([=](const HubRequest& request, HubAnswer& answer) {
      const std::lock_guard lock(*mutex);
      if (!seen->insert(request.method + request.path).second) return;
      answer.status = status;
      answer.fields["Retry-After"] = "0";
      answer.body = "later";
    });
    pull();
    expect_snapshot(files);
  }
}

TEST_F(PullMishaps, ABusyServerIsGivenUp) {
  change_all(is_listing, [](HubAnswer& answer) { answer.status = 503; });
  expect_refused(ErrorCode::unavailable, "answers 503");
  EXPECT_EQ(server.requests().size(), 6U);
}

TEST_F(PullMishaps, RetryAfterIsObeyedWithinBounds) {
  auto first = std::make_shared<std::atomic<bool>>(true);
  server.change_answers([=](const HubRequest&, HubAnswer& answer) {
    if (!first->exchange(false)) return;
    answer.status = 429;
    answer.fields["Retry-After"] = "1";
  });
  const auto start = std::chrono::steady_clock::now();
  pull();
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(1000));
  change_all(is_listing, [](HubAnswer& answer) {
    answer.status = 429;
    answer.fields["Retry-After"] = "86400";
  });
  const Error error = refused();
  EXPECT_NE(error.message().find("come again in 86400 s"), std::string::npos) << error.message();
}

TEST_F(PullMishaps, MissingGatedAndPrivateModels) {
  EXPECT_EQ(refused("owner/nothing").code(), ErrorCode::not_found);
  EXPECT_NE(refused("owner/nothing").message().find("set HF_TOKEN"), std::string::npos);
  change_all(is_head, [](HubAnswer& answer) {
    answer.status = 403;
    answer.fields = {{"X-Error-Code", "GatedRepo"}};
  });
  expect_refused(ErrorCode::unauthenticated, "accept its licence at http://127.0.0.1");
  change_all(is_listing, [](HubAnswer& answer) { answer.status = 403; });
  expect_refused(ErrorCode::unauthenticated, "forbids owner/model");
  change_all(is_listing, [](HubAnswer& answer) { answer.status = 401; });
  PullOptions with_token = options();
  with_token.token = "hf_secret";
  const Error error = base::error_of([&] { pull_model(kId, with_token); });
  EXPECT_EQ(error.code(), ErrorCode::unauthenticated);
  EXPECT_NE(error.message().find("does not take the token"), std::string::npos) << error.message();
  EXPECT_EQ(error.message().find("hf_secret"), std::string::npos) << error.message();
}

TEST_F(PullMishaps, AFileThatIsListedAndMissing) {
  change_all(is_storage, [](HubAnswer& answer) { answer.status = 404; });
  expect_refused(ErrorCode::not_found, "does not have the file");
}

TEST_F(PullMishaps, WrongLengths) {
  for (const char* length : {"10", "999999999"}) {
    SCOPED_TRACE(length);
    change_all(is_storage, [=](HubAnswer& answer) { answer.fields["Content-Length"] = length; });
    expect_refused(ErrorCode::unavailable, "wrong length");
  }
  change_all(is_storage, [](HubAnswer& answer) {
    answer.fields.erase("Content-Range");
    answer.body += "more";
  });
  expect_refused(ErrorCode::unavailable, "wrong length");
  // Without Content-Length, too many and too few bytes show only when they are there.
  change_all(is_storage, [](HubAnswer& answer) {
    answer.fields["Transfer-Encoding"] = "chunked";
    answer.body = "3\r\nabc\r\n0\r\n\r\n";
  });
  expect_refused(ErrorCode::unavailable, "wrong length");
}

TEST_F(PullMishaps, WrongRanges) {
  change_all(is_storage, [](HubAnswer& answer) { answer.fields["Content-Range"] = "bytes 0-99/100"; });
  expect_refused(ErrorCode::unavailable, "wrong length");
}

TEST_F(PullMishaps, AServerWithoutRanges) {
  server.change_answers([&](const HubRequest& request, HubAnswer& answer) {
    if (!request.is_storage) return;
    answer.status = 200;
    answer.body = large;
    answer.fields.erase("Content-Range");
  });
  pull();
  expect_snapshot(files);
}

TEST_F(PullMishaps, AServerWithoutRangesThatDrops) {
  auto left = std::make_shared<std::atomic<int>>(3);
  server.change_answers([&, left](const HubRequest& request, HubAnswer& answer) {
    if (!request.is_storage) return;
    answer.status = 200;
    answer.body = large;
    answer.fields.erase("Content-Range");
    if (!request.fields.contains("range") && (*left)-- > 0) answer.cut_at = 9'000'000;
  });
  pull();
  expect_snapshot(files);
}

TEST_F(PullMishaps, DamagedBytesAreFetchedAgain) {
  change_storage(3, [](HubAnswer& answer) { answer.body[answer.body.size() / 2] ^= 1; });
  pull();
  expect_snapshot(files);
}

TEST_F(PullMishaps, AlwaysDamagedBytesAreRefused) {
  change_all(is_storage, [](HubAnswer& answer) { answer.body[0] ^= 1; });
  expect_refused(ErrorCode::corrupt, "and the hub states " + HubServer::sha256(large));
  EXPECT_FALSE(std::filesystem::exists(repo().blob(HubServer::sha256(large))));
  expect_nothing_temporary();
}

TEST_F(PullMishaps, ASmallFileThatIsDamaged) {
  change_all([](const HubRequest& each) { return each.path.ends_with("config.json"); },
             [](HubAnswer& answer) {
               if (!answer.body.empty()) answer.body[0] ^= 1;
             });
  expect_refused(ErrorCode::corrupt, "has the digest");
}

TEST_F(PullMishaps, AFileThatChangesInTheMiddle) {
  // The storage begins to have another version while the first is fetched, then is as it was.
  auto count = std::make_shared<std::atomic<int>>(0);
  server.change_answers([=](const HubRequest& request, HubAnswer& answer) {
    if (request.is_storage && (*count)++ == 1) answer.fields["ETag"] = "\"other\"";
  });
  pull();
  expect_snapshot(files);
  std::filesystem::remove_all(cache);
  auto each = std::make_shared<std::atomic<int>>(0);
  server.change_answers([=](const HubRequest& request, HubAnswer& answer) {
    if (request.is_storage) answer.fields["ETag"] = "\"" + std::to_string((*each)++) + "\"";
  });
  expect_refused(ErrorCode::unavailable, "was changed while it was fetched");
}

TEST_F(PullMishaps, ARangeThatIsNotThere) {
  change_storage(1, [](HubAnswer& answer) { answer.status = 416; });
  pull();
  expect_snapshot(files);
  std::filesystem::remove_all(cache);
  change_all(is_storage, [](HubAnswer& answer) { answer.status = 416; });
  expect_refused(ErrorCode::unavailable, "was changed");
}

TEST_F(PullMishaps, APermissionThatEnds) {
  change_storage(2, [](HubAnswer& answer) { answer.status = 403; });
  pull();
  expect_snapshot(files);
  std::filesystem::remove_all(cache);
  change_all(is_storage, [](HubAnswer& answer) { answer.status = 403; });
  expect_refused(ErrorCode::unavailable, "the permission to fetch");
}

TEST_F(PullMishaps, CodingsThatWereNotAskedFor) {
  change_all(is_storage, [](HubAnswer& answer) { answer.fields["Content-Encoding"] = "gzip"; });
  expect_refused(ErrorCode::unavailable, "coding that was not asked for: gzip");
  change_all(is_listing, [](HubAnswer& answer) { answer.fields["Content-Encoding"] = "br"; });
  expect_refused(ErrorCode::unavailable, "coding that was not asked for: br");
}

TEST_F(PullMishaps, RedirectsToOtherSchemes) {
  for (const char* place : {"file:///etc/passwd", "ftp://127.0.0.1/a", "javascript:alert(1)"}) {
    SCOPED_TRACE(place);
    change_all(is_head, [=](HubAnswer& answer) {
      answer.status = 302;
      answer.fields["Location"] = place;
    });
    expect_refused(ErrorCode::unavailable, "no web address");
  }
}

TEST_F(PullMishaps, RedirectsToOtherHostsGetNoToken) {
  PullOptions with_token = options();
  with_token.token = "hf_secret";
  // Also the list of files, and a storage that sends on to the hub's own host under another port.
  server.change_answers([&](const HubRequest& request, HubAnswer& answer) {
    if (!is_listing(request)) return;
    answer.status = 307;
    answer.fields["Location"] = server.storage_url() + "/elsewhere";
  });
  EXPECT_EQ(base::error_of([&] { pull_model(kId, with_token); }).code(), ErrorCode::not_found);
  bool was_elsewhere = false;
  for (const HubRequest& each : server.requests()) {
    was_elsewhere = was_elsewhere || each.path == "/elsewhere";
    if (each.is_storage) {
      EXPECT_EQ(each.head.find("hf_secret"), std::string::npos) << each.head;
    }
  }
  EXPECT_TRUE(was_elsewhere);
}

TEST_F(PullMishaps, RedirectsWithoutEnd) {
  change_all(is_listing, [&](HubAnswer& answer) {
    answer.status = 302;
    answer.fields["Location"] = "/api/models/owner/model/revision/main";
  });
  expect_refused(ErrorCode::unavailable, "without end");
}

TEST_F(PullMishaps, ARenamedModelIsFollowed) {
  server.change_answers([](const HubRequest& request, HubAnswer& answer) {
    if (!request.path.starts_with("/owner/old") && !request.path.starts_with("/api/models/owner/old")) return;
    answer = {.status = 307, .fields = {{"Location", request.path}}};
    answer.fields["Location"].replace(request.path.find("owner/old"), 9, "owner/model");
  });
  pull("owner/old");
  EXPECT_TRUE(std::filesystem::exists(cache / "models--owner--old" / "snapshots" / kCommit / "config.json"));
}

TEST_F(PullMishaps, ListsOfFilesThatAreNone) {
  for (const std::string& text :
       std::vector<std::string>{std::string(), std::string("{"), std::string("[]"), std::string("{\"sha\": 1}"),
                                "{\"sha\": \"" + kCommit + "\"}", "{\"sha\": \"" + kCommit + "\", \"siblings\": 7}",
                                "{\"sha\": \"" + kCommit + "\", \"siblings\": [1]}",
                                "{\"sha\": \"" + kCommit + "\", \"siblings\": [{\"rfilename\": \"a\", \"size\": -1}]}",
                                std::string("{\"sha\": \"main\", \"siblings\": []}")}) {
    server.put_listing(kId, text);
    expect_refused(ErrorCode::corrupt, "the list of files of owner/model");
  }
}

TEST_F(PullMishaps, TheHubContradictsItself) {
  change_all(is_head, [](HubAnswer& answer) {
    if (answer.status == 302) answer.fields["X-Linked-Size"] = "7";
  });
  expect_refused(ErrorCode::corrupt, "in the list of files");
  change_all(is_head, [](HubAnswer& answer) { answer.fields["X-Repo-Commit"] = std::string(40, 'b'); });
  expect_refused(ErrorCode::corrupt, "another commit");
  change_all(is_head, [](HubAnswer& answer) {
    if (answer.status == 302) answer.fields["X-Linked-Etag"] = "\"" + std::string(64, 'b') + "\"";
  });
  expect_refused(ErrorCode::corrupt, "not the digest");
  change_all(is_head, [](HubAnswer& answer) { answer.fields["ETag"] = "\"../../../evil\""; });
  pull();  // the list of files has the digests
  expect_snapshot(files);
}

TEST_F(PullMishaps, EtagsThatAreNoNames) {
  server.put_listing(kId, "{\"sha\": \"" + kCommit + "\", \"siblings\": [{\"rfilename\": \"config.json\"}, " +
                              "{\"rfilename\": \"model.safetensors\"}]}");
  change_all(is_head, [](HubAnswer& answer) {
    answer.fields["ETag"] = "\"../../evil\"";
    answer.fields.erase("X-Linked-Etag");
  });
  expect_refused(ErrorCode::unavailable, "states no ETag");
}

TEST_F(PullMishaps, FilesLargerThanAnyModels) {
  change_all(is_head, [](HubAnswer& answer) {
    if (answer.status == 302) answer.fields["X-Linked-Size"] = "4611686018427387904";
  });
  server.put_listing(kId, "{\"sha\": \"" + kCommit + "\", \"siblings\": [{\"rfilename\": \"model.safetensors\"}]}");
  expect_refused(ErrorCode::resource_exhausted, "more than any model's file");
  server.put_listing(kId,
                     "{\"sha\": \"" + kCommit +
                         "\", \"siblings\": [{\"rfilename\": \"model.safetensors\", \"size\": 4611686018427387904}]}");
  expect_refused(ErrorCode::resource_exhausted, "more than any model's file");
}

TEST_F(PullMishaps, ADiskWithoutRoom) {
  server.put_listing(kId, "{\"sha\": \"" + kCommit +
                              "\", \"siblings\": [{\"rfilename\": \"model.safetensors\", \"size\": 8796093022208, "
                              "\"blobId\": \"" +
                              std::string(40, 'c') + "\"}]}");
  expect_refused(ErrorCode::resource_exhausted, "needs 8.00 TiB");
}

}  // namespace
}  // namespace alate::hub
