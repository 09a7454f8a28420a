#include "server/clients/peer.h"

#include <gtest/gtest.h>

namespace alate::server {
namespace {

bool is_local(std::string peer, const char* header = nullptr) {
  Request request;
  request.peer = std::move(peer);
  if (header != nullptr) request.headers.add(header, "127.0.0.1");
  return is_on_this_machine(request);
}

TEST(Peer, IsOnThisMachineByLoopbackAddressOrUnixSocket) {
  for (const char* peer : {"127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", "unix"})
    EXPECT_TRUE(is_local(peer)) << peer;
  for (const char* peer : {"192.0.2.1", "10.0.0.1", "::2", "2001:db8::1", "::ffff:192.0.2.1", "0.0.0.0", "", "::ffff:"})
    EXPECT_FALSE(is_local(peer)) << peer;
}

// A proxy on this machine speaks for clients elsewhere.
TEST(Peer, IsNotOnThisMachineBehindAProxyThatSaysSo) {
  for (const char* header : {"Forwarded", "X-Forwarded-For", "x-real-ip"})
    EXPECT_FALSE(is_local("127.0.0.1", header)) << header;
}

}  // namespace
}  // namespace alate::server
