#include "base/os/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/base/expect_error.h"

namespace alate::base {
namespace {

// Each test begins with none of the variables set; all are as before afterwards.
class Environment : public testing::Test {
 protected:
  Environment() {
    for (const char* name : {"ALATE_HOME", "XDG_CACHE_HOME", "HOME"}) {
      before_[name] = environment(name);
      ::unsetenv(name);
    }
  }
  ~Environment() override {
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(Environment, DefaultsAreForVariablesWithoutValue) {
  set_environment_default("HOME", "/first");
  EXPECT_EQ(environment("HOME"), "/first");
  set_environment_default("HOME", "/second");
  EXPECT_EQ(environment("HOME"), "/first");
  ::setenv("HOME", "", 1);
  set_environment_default("HOME", "/third");
  EXPECT_EQ(environment("HOME"), "/third");
}

TEST_F(Environment, AnEmptyVariableCountsAsUnset) {
  EXPECT_FALSE(environment("ALATE_HOME"));
  ::setenv("ALATE_HOME", "", 1);
  EXPECT_FALSE(environment("ALATE_HOME"));
  ::setenv("ALATE_HOME", "x", 1);
  EXPECT_EQ(environment("ALATE_HOME"), "x");
}

TEST_F(Environment, TheCacheFolderIsTheFirstOfThreeThatIsSet) {
  EXPECT_EQ(error_of([] { cache_directory(); }).code(), ErrorCode::not_found);
  ::setenv("HOME", "/home/a", 1);
  EXPECT_EQ(cache_directory(), "/home/a/.cache/alate");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_directory(), "/home/a/.cache/alate");
  ::setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(cache_directory(), "/cache/alate");
  ::setenv("ALATE_HOME", "/alate", 1);
  EXPECT_EQ(cache_directory(), "/alate");
}

TEST_F(Environment, NamesAreListedByTheirStart) {
  ::setenv("ALATE_HOME", "/alate=1", 1);
  ::setenv("XDG_CACHE_HOME", "/cache", 1);
  std::vector<std::string> names = environment_names("ALATE_HO");
  EXPECT_EQ(names, std::vector<std::string>{"ALATE_HOME"});
  ::setenv("ALATE_HOME", "", 1);
  EXPECT_TRUE(environment_names("ALATE_HO").empty());
  names = environment_names("");
  EXPECT_NE(std::ranges::find(names, "XDG_CACHE_HOME"), names.end());
}

}  // namespace
}  // namespace alate::base
