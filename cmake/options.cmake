option(ALATE_TESTS "Build the tests" ON)
option(ALATE_BENCHMARKS "Build the benchmarks" ON)
option(ALATE_SERVER "Build the HTTP server and the commands that need it; off in builds for Windows" ON)
option(ALATE_FUZZERS "Build the fuzz targets (Clang only)" OFF)
set(ALATE_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize takes them")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(ALATE_CCACHE ccache)
if(ALATE_CCACHE)
  # Paths relative to the source folder, so that what one clone compiled serves another.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${ALATE_CCACHE})
endif()
find_program(ALATE_MOLD mold)
if(ALATE_MOLD AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

# What every file of the project is compiled with; installed users of the library see none of it.
add_library(alate_flags INTERFACE)
target_compile_options(alate_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror
                                             -fno-math-errno -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns wrongly about std::string's own concatenation: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
  target_compile_options(alate_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(alate_flags INTERFACE -march=x86-64-v2)
endif()
if(WIN32)
  # Windows 10; its headers without macros min and max; utf8proc linked in, not from a library of its own.
  target_compile_definitions(alate_flags INTERFACE _WIN32_WINNT=0x0A00 NOMINMAX WIN32_LEAN_AND_MEAN UNICODE UTF8PROC_STATIC)
endif()
if(ALATE_SANITIZE)
  add_compile_options(-fsanitize=${ALATE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ALATE_SANITIZE})
endif()
