#include "base/os/usage_reports.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "base/libraries/shared_library.h"
#include "base/os/environment.h"

namespace alate::base {
namespace {

class UsageReports : public testing::Test {
 protected:
  UsageReports() : before_(environment("ORT_DISABLE_TELEMETRY")) { ::unsetenv("ORT_DISABLE_TELEMETRY"); }
  ~UsageReports() override {
    if (before_) {
      ::setenv("ORT_DISABLE_TELEMETRY", before_->c_str(), 1);
    } else {
      ::unsetenv("ORT_DISABLE_TELEMETRY");
    }
  }

 private:
  std::optional<std::string> before_;
};

// The C library's mathematics are on every machine.
TEST_F(UsageReports, AreForbiddenBeforeALibraryIsOpened) {
  (void)SharedLibrary::open("libm.so.6");
  EXPECT_EQ(environment("ORT_DISABLE_TELEMETRY"), "1");
}

TEST_F(UsageReports, AreForbiddenWhateverTheVariableHeld) {
  ::setenv("ORT_DISABLE_TELEMETRY", "0", 1);
  disable_telemetry();
  EXPECT_EQ(environment("ORT_DISABLE_TELEMETRY"), "1");
}

}  // namespace
}  // namespace alate::base
