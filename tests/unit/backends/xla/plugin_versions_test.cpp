// Plugins older or newer than the supported version, simulated by a fake one.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "alate/error.h"
#include "backends/xla/device_listing.h"
#include "backends/xla/program_source.h"
#include "base/libraries/shared_library.h"
#include "tests/tools/fake_pjrt_plugin.h"

namespace alate::xla {
namespace {

const char* const kPath = ALATE_FAKE_PJRT_PLUGIN;

class FakePluginTest : public ::testing::Test {
 protected:
  FakePluginTest() : fake(*base::SharedLibrary::open(kPath).function<GetFakePlugin>("alate_fake_plugin")()) {
    fake = FakePlugin();
  }

  template <typename Function>
  ErrorCode code_of(const Function& function) {
    try {
      function();
    } catch (const Error& error) {
      message = error.message();
      return error.code();
    }
    ADD_FAILURE() << "nothing was thrown";
    return ErrorCode::internal;
  }

  FakePlugin& fake;
  std::string message;
};

// How much of the table a plugin has.
struct Row {
  const char* name;
  std::size_t size;
  int major, minor;
  const char* refusal;  // part of the message; null: it opens
};

template <typename Function>
std::size_t offset_of(Function abi::Api::*function) {
  const abi::Api api{};
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&(api.*function)) -
                                  reinterpret_cast<const std::byte*>(&api));
}

class PluginVersions : public FakePluginTest, public ::testing::WithParamInterface<Row> {};

TEST_P(PluginVersions, AreTakenOrRefused) {
  const Row& row = GetParam();
  fake.api_size = row.size;
  fake.major = row.major;
  fake.minor = row.minor;
  if (row.refusal == nullptr) {
    const auto plugin = Plugin::open(kPath);
    EXPECT_EQ(plugin->version().minor, row.minor);
    EXPECT_TRUE(plugin->has(&abi::Api::buffer_to_host));
    return;
  }
  EXPECT_EQ(code_of([] { Plugin::open(kPath); }), ErrorCode::unavailable);
  EXPECT_NE(message.find(row.refusal), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, PluginVersions,
    ::testing::Values(Row{"AsDeclared", sizeof(abi::Api), 0, 83, nullptr},
                      Row{"Newer", sizeof(abi::Api) + 64 * sizeof(void*), 0, 140, nullptr},
                      Row{"OnePointerShort", offset_of(&abi::Api::buffer_to_host), 0, 20, "too old"},
                      Row{"OnlyErrors", offset_of(&abi::Api::client_create), 0, 1, "too old"},
                      Row{"NothingButAVersion", offset_of(&abi::Api::error_destroy), 0, 1, "too old"},
                      Row{"LessThanAVersion", sizeof(std::size_t), 0, 1, "gives no PJRT functions"},
                      Row{"AnotherMajor", sizeof(abi::Api), 1, 0, "speaks PJRT 1.0"}),
    [](const auto& row) { return row.param.name; });

TEST_F(FakePluginTest, UnknownCreateOptionsAreLeftOut) {
  fake.knows_options = false;
  const auto client = Client::create(Plugin::open(kPath));
  EXPECT_EQ(fake.created, 2);
  EXPECT_EQ(client->platform(), "Imaginary");
}

TEST_F(FakePluginTest, ListsItsDevices) {
  fake.devices = 3;
  fake.has_memory_stats = true;
  const auto devices = list_devices(*Client::create(Plugin::open(kPath)));
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[2].index, 2);
  EXPECT_EQ(devices[2].name, "imaginary");
  EXPECT_EQ(devices[2].kind, backends::DeviceKind::accelerator);
  EXPECT_EQ(devices[2].compute_capability, "9.9");
  EXPECT_EQ(devices[2].driver, "driver 7");
  EXPECT_EQ(devices[2].library, kPath);
  EXPECT_EQ(devices[2].version, "PJRT 0.115, StableHLO 1.2.3");
  EXPECT_EQ(devices[2].total_bytes, 5000U);
  EXPECT_EQ(devices[2].free_bytes, 4000U);
  EXPECT_FALSE(devices[2].unified_memory);
}

TEST_F(FakePluginTest, MemoryThatItDoesNotCountIsUnknown) {
  const auto client = Client::create(Plugin::open(kPath));
  EXPECT_FALSE(client->memory(0).has_value());
  EXPECT_EQ(list_devices(*client).at(0).total_bytes, 0U);
}

TEST_F(FakePluginTest, WithoutDevicesItIsOfNoUse) {
  fake.devices = 0;
  EXPECT_EQ(code_of([] { Client::create(Plugin::open(kPath)); }), ErrorCode::unavailable);
  EXPECT_NE(message.find("finds no device"), std::string::npos) << message;
}

TEST_F(FakePluginTest, FindsDevicesByNameAndIndex) {
  fake.devices = 2;
  const auto client = Client::create(Plugin::open(kPath));
  EXPECT_EQ(find_device(*client, ""), 0U);
  EXPECT_EQ(find_device(*client, "imaginary"), 0U);
  EXPECT_EQ(find_device(*client, "1"), 1U);
  for (const char* wrong : {"2", "cuda", "gpu", "1x", "-1"}) {
    EXPECT_EQ(code_of([&] { find_device(*client, wrong); }), ErrorCode::unavailable) << wrong;
    EXPECT_NE(message.find("'imaginary'"), std::string::npos) << message;
  }
}

TEST_F(FakePluginTest, ErrorsKeepTheirKindAndFitOnALine) {
  const auto client = Client::create(Plugin::open(kPath));
  const struct {
    int code;
    ErrorCode expected;
  } kRows[] = {{8, ErrorCode::resource_exhausted}, {12, ErrorCode::unsupported},      {14, ErrorCode::unavailable},
               {1, ErrorCode::cancelled},          {4, ErrorCode::deadline_exceeded}, {13, ErrorCode::internal}};
  for (const auto& row : kRows) {
    fake.compile_error = row.code;
    EXPECT_EQ(code_of([&] { client->compile("module", ""); }), row.expected) << row.code;
    EXPECT_EQ(message, "compiling for xla: XLA says: there is no room");
  }
}

TEST_F(FakePluginTest, FunctionsThatItLacksAreNotCalled) {
  fake.api_size = offset_of(&abi::Api::buffer_to_host) + sizeof(void*);
  const auto client = Client::create(Plugin::open(kPath));
  const Program program = client->compile("module", "");
  EXPECT_FALSE(client->serialize(program).has_value());  // it cannot
  EXPECT_FALSE(client->plugin().has(&abi::Api::buffer_destroy));
  abi::BufferCall call;
  EXPECT_EQ(code_of([&] { client->plugin().call(&abi::Api::buffer_destroy, call, "freeing"); }),
            ErrorCode::unavailable);
  EXPECT_NE(message.find("has no function for it"), std::string::npos) << message;
}

}  // namespace
}  // namespace alate::xla
