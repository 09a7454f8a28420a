#include "server/api_keys.h"

#include <gtest/gtest.h>

namespace alate::server {
namespace {

std::optional<std::size_t> check(const ApiKeys& keys, std::string name, std::string value) {
  Headers headers;
  headers.add("Accept", "*/*");
  headers.add(std::move(name), std::move(value));
  return keys.check(headers);
}

TEST(ApiKeys, AreTakenFromThreeHeaders) {
  const ApiKeys keys({"first", "second"});
  EXPECT_EQ(check(keys, "Authorization", "Bearer first"), 0u);
  EXPECT_EQ(check(keys, "authorization", "bearer  second "), 1u);
  EXPECT_EQ(check(keys, "X-API-Key", "second"), 1u);
  EXPECT_EQ(check(keys, "api-key", " first"), 0u);
}

TEST(ApiKeys, AnythingElseShowsNone) {
  const ApiKeys keys({"first", "second"});
  EXPECT_EQ(check(keys, "Authorization", "Bearer firs"), std::nullopt);
  EXPECT_EQ(check(keys, "Authorization", "Bearer first second"), std::nullopt);
  EXPECT_EQ(check(keys, "Authorization", "Bearer firstx"), std::nullopt);
  EXPECT_EQ(check(keys, "Authorization", "Bearer FIRST"), std::nullopt);
  EXPECT_EQ(check(keys, "Authorization", "Basic first"), std::nullopt);
  EXPECT_EQ(check(keys, "Authorization", "first"), std::nullopt);
  EXPECT_EQ(check(keys, "Authorization", "Bearer"), std::nullopt);
  EXPECT_EQ(check(keys, "Authorization", ""), std::nullopt);
  EXPECT_EQ(check(keys, "X-API-Key", ""), std::nullopt);
  EXPECT_EQ(check(keys, "Cookie", "first"), std::nullopt);
  EXPECT_EQ(keys.check(Headers()), std::nullopt);
}

TEST(ApiKeys, AreFoundBesideAForeignOne) {
  Headers headers;
  headers.add("Authorization", "Bearer of-a-proxy");
  headers.add("X-API-Key", "first");
  EXPECT_EQ(ApiKeys({"first"}).check(headers), 0u);
}

TEST(ApiKeys, MayBeNone) {
  const ApiKeys none({});
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(check(none, "X-API-Key", "x"), std::nullopt);
  EXPECT_FALSE(ApiKeys({"x"}).empty());
}

}  // namespace
}  // namespace alate::server
