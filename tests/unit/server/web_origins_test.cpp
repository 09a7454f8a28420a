#include "server/clients/web_origins.h"

#include <gtest/gtest.h>

namespace alate::server {
namespace {

Request request_of(std::initializer_list<Headers::Entry> headers) {
  Request request;
  request.method = Method::get;
  request.path = "/api/tags";
  request.headers.add("Host", "localhost:11433");
  for (const auto& [name, value] : headers) request.headers.add(name, value);
  return request;
}

const WebOrigins kLocal({.origins = {}, .hosts = {}, .checks_host = true, .allows_local_pages = true});
const WebOrigins kShared(
    {.origins = {"https://app.example"}, .hosts = {}, .checks_host = false, .allows_local_pages = false});
const WebOrigins kOpen({.origins = {"*"}, .hosts = {}, .checks_host = false, .allows_local_pages = false});

TEST(WebOrigins, RefusesWhatForeignPagesLoadWithoutOrigin) {
  const Request picture = request_of({{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "no-cors"}});
  EXPECT_TRUE(kLocal.objection(picture));
  EXPECT_TRUE(kShared.objection(picture));
  EXPECT_FALSE(kOpen.objection(picture));
  EXPECT_TRUE(kLocal.objection(picture, true));  // a frame or a picture of a page is no visit
  // Values that are not known are those of a foreign page too.
  EXPECT_TRUE(kLocal.objection(request_of({{"Sec-Fetch-Site", "elsewhere"}})));
  EXPECT_TRUE(kLocal.objection(request_of({{"sec-fetch-site", "Cross-Site"}})));
}

TEST(WebOrigins, TakesRequestsThatNoPageMadeAndThoseOfItsOwn) {
  EXPECT_FALSE(kLocal.objection(request_of({})));
  for (const char* site : {"same-origin", "none"}) {
    EXPECT_FALSE(kLocal.objection(request_of({{"Sec-Fetch-Site", site}}))) << site;
    EXPECT_FALSE(kShared.objection(request_of({{"Sec-Fetch-Site", site}}))) << site;
  }
}

TEST(WebOrigins, SitesOfOneMachineAreItsLocalPages) {
  const Request other_port = request_of({{"Sec-Fetch-Site", "same-site"}});
  EXPECT_FALSE(kLocal.objection(other_port));
  EXPECT_TRUE(kShared.objection(other_port));
  Request other_name = other_port;
  other_name.headers.set("Host", "api.example.org");
  EXPECT_TRUE(kLocal.objection(other_name));
}

TEST(WebOrigins, LinksLeadToPagesAndToNothingElse) {
  const Request link =
      request_of({{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "document"}});
  EXPECT_FALSE(kLocal.objection(link, true));
  EXPECT_TRUE(kLocal.objection(link, false));
  const Request frame =
      request_of({{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "iframe"}});
  EXPECT_TRUE(kLocal.objection(frame, true));
}

TEST(WebOrigins, TheOriginDecidesWhereThereIsOne) {
  EXPECT_FALSE(kShared.objection(request_of({{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://app.example"}})));
  EXPECT_TRUE(kShared.objection(request_of({{"Sec-Fetch-Site", "same-origin"}, {"Origin", "https://evil.example"}})));
  EXPECT_TRUE(kLocal.objection(request_of({{"Origin", "null"}})));
  EXPECT_FALSE(kLocal.objection(request_of({{"Origin", "http://localhost:3000"}})));
  EXPECT_TRUE(kLocal.objection(request_of({{"Origin", "http://localhost.evil.example"}})));
}

TEST(WebOrigins, OverTlsOnlyPagesThatCameOverTlsAreTheServersOwn) {
  Request request = request_of({{"Origin", "http://localhost:11433"}});
  EXPECT_FALSE(kShared.objection(request));
  request.secure = true;
  EXPECT_TRUE(kShared.objection(request));
  request.headers.set("Origin", "https://localhost:11433");
  EXPECT_FALSE(kShared.objection(request));
}

}  // namespace
}  // namespace alate::server
