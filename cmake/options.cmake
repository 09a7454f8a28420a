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
  # Paths relative to the source folder, so that another clone can use the compiler cache's results.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${ALATE_CCACHE})
endif()
find_program(ALATE_MOLD mold)
if(ALATE_MOLD AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

# Flags for every file of the project; users of the installed library see none of them.
add_library(alate_flags INTERFACE)
target_compile_options(alate_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror
                                             -fno-math-errno -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A false warning of GCC 12 about std::string's own concatenation: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
  target_compile_options(alate_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(alate_flags INTERFACE -march=x86-64-v2)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT ALATE_SANITIZE)
  # Hardening of release builds. Sanitizers check more, and do not work together with FORTIFY.
  set(hardening -fstack-protector-strong -fstack-clash-protection -D_GLIBCXX_ASSERTIONS)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    list(APPEND hardening -fcf-protection)
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    list(APPEND hardening -mbranch-protection=standard)
  endif()
  target_compile_options(alate_flags INTERFACE "$<$<CONFIG:Release>:${hardening}>"
    # FORTIFY needs an optimizing compiler; the tests that are compiled without (ALATE_UNOPTIMIZED) go without it.
    "$<$<AND:$<CONFIG:Release>,$<NOT:$<BOOL:$<TARGET_PROPERTY:ALATE_UNOPTIMIZED>>>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
  add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()
if(WIN32)
  # Windows 10; its headers without macros min and max; utf8proc and PCRE2 linked in, not from libraries of their own.
  target_compile_definitions(alate_flags INTERFACE _WIN32_WINNT=0x0A00 NOMINMAX WIN32_LEAN_AND_MEAN UNICODE UTF8PROC_STATIC PCRE2_STATIC)
endif()
if(ALATE_SANITIZE)
  add_compile_options(-fsanitize=${ALATE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ALATE_SANITIZE})
endif()
