# Builds for 64-bit Windows with mingw-w64 on another system. The compiler is the variant with POSIX threads, because only
# that has std::thread. Third-party libraries are looked up under ALATE_CROSS_PREFIX; tools/cross/windows makes that folder.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ALATE_CROSS_PREFIX)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32 ${ALATE_CROSS_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${ALATE_CROSS_PREFIX}/include)

# GCC aligns the stack to only 16 bytes here, yet moves vectors of 32 and 64 bytes to it as if aligned
# (https://gcc.gnu.org/bugzilla/show_bug.cgi?id=54412); the assembler makes those moves unaligned. Large objects:
# templates make more sections than COFF can count otherwise.
set(CMAKE_CXX_FLAGS_INIT "-Wa,-muse-unaligned-vector-move -Wa,-mbig-obj")
# The program needs only libraries of Windows.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
