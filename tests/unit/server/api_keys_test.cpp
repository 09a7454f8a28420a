#include "server/clients/api_keys.h"

#include <gtest/gtest.h>

#include "alate/error.h"

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

TEST(ApiKeys, HaveARole) {
  const ApiKeys keys({"plain", "metrics scrape", "admin root:1", "use also"});
  EXPECT_EQ(keys.role(check(keys, "api-key", "plain").value()), KeyRole::use);
  EXPECT_EQ(keys.role(check(keys, "api-key", "scrape").value()), KeyRole::metrics);
  EXPECT_EQ(keys.role(check(keys, "api-key", "root:1").value()), KeyRole::admin);
  EXPECT_EQ(keys.role(check(keys, "api-key", "also").value()), KeyRole::use);
  EXPECT_EQ(check(keys, "api-key", "admin root:1"), std::nullopt);
  EXPECT_EQ(check(keys, "api-key", "admin"), std::nullopt);
  EXPECT_THROW(ApiKeys({"same", "admin same"}), Error);
  EXPECT_THROW(ApiKeys({"root s3cret"}), Error);
}

TEST(ApiKeys, OpenWhatTheirRoleIsFor) {
  EXPECT_TRUE(may(KeyRole::use, Access::keyed));
  EXPECT_TRUE(may(KeyRole::use, Access::metrics));
  EXPECT_FALSE(may(KeyRole::use, Access::admin));
  EXPECT_FALSE(may(KeyRole::metrics, Access::keyed));
  EXPECT_TRUE(may(KeyRole::metrics, Access::metrics));
  EXPECT_FALSE(may(KeyRole::metrics, Access::admin));
  for (const Access access : {Access::keyed, Access::open, Access::metrics, Access::admin})
    EXPECT_TRUE(may(KeyRole::admin, access));
}

TEST(ApiKeys, MayBeNone) {
  const ApiKeys none({});
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(check(none, "X-API-Key", "x"), std::nullopt);
  EXPECT_FALSE(ApiKeys({"x"}).empty());
}

}  // namespace
}  // namespace alate::server
