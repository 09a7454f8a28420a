# A module is a folder of src/: an object library of its own, so that it can be built and tested by itself.
set(ALATE_MODULES "" CACHE INTERNAL "")

# Modules whose tests take their time elsewhere: in other modules, files and connections. Sanitizers' builds, where
# optimizing takes half of the compiler's time, compile them at -O0.
set(ALATE_WAITING_MODULES machine array folders runtime pipelines search net hub server)

# Modules that wait for others or work once a start, not once a number or a request: release builds compile them at
# -O1, which takes a quarter less.
set(ALATE_COORDINATING_MODULES exchange machine folders models hub)

# Modules that work for a request, not for each byte, token or number of it: -O2, which takes an eighth less than -O3.
set(ALATE_SERVING_MODULES graph pipelines runtime net server)

# Removes the files of other operating systems from a list: NAME_linux.cpp and NAME_windows.cpp are for one each.
function(alate_keep_own_platform list)
  if(WIN32)
    list(FILTER ${list} EXCLUDE REGEX "_linux\\.cpp$")
  else()
    list(FILTER ${list} EXCLUDE REGEX "_windows\\.cpp$")
  endif()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()

# Adds src/NAME, or only its files whose path matches ONLY and not WITHOUT; a folder without sources adds nothing.
function(alate_module name)
  cmake_parse_arguments(ARG "" "ONLY;WITHOUT" "" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(ARG_ONLY)
    list(FILTER sources INCLUDE REGEX "${ARG_ONLY}")
  endif()
  if(ARG_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "${ARG_WITHOUT}")
  endif()
  alate_keep_own_platform(sources)
  alate_keep_own_processor(sources)
  if(NOT sources)
    return()
  endif()
  alate_set_instruction_set_flags(${sources})
  alate_unite(sources ${name})
  add_library(alate_${name} OBJECT ${sources})
  target_include_directories(alate_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(alate_${name} PRIVATE $<$<BOOL:${ALATE_UNITY}>:${PROJECT_SOURCE_DIR}>)
  target_link_libraries(alate_${name} PRIVATE alate_flags)
  if(ALATE_FUZZERS)
    target_compile_options(alate_${name} PRIVATE -fsanitize=fuzzer-no-link) # the code that fuzzing instruments
  endif()
  if(name IN_LIST ALATE_COORDINATING_MODULES)
    target_compile_options(alate_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  elseif(name IN_LIST ALATE_SERVING_MODULES)
    target_compile_options(alate_${name} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  if(ALATE_SANITIZE AND name IN_LIST ALATE_WAITING_MODULES)
    target_compile_options(alate_${name} PRIVATE -O0)
  endif()
  set(ALATE_MODULES ${ALATE_MODULES} ${name} CACHE INTERNAL "")
endfunction()

# An archive of modules as a target of its own, installed as alate::NAME.
function(alate_archive target)
  cmake_parse_arguments(ARG "" "NAME" "MODULES;LIBRARIES" ${ARGN})
  set(objects)
  foreach(module ${ARG_MODULES})
    list(APPEND objects $<TARGET_OBJECTS:alate_${module}>)
  endforeach()
  add_library(${target} STATIC ${objects})
  add_library(alate::${ARG_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME ${ARG_NAME})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} PUBLIC ${ARG_LIBRARIES})
endfunction()

# The whole library in two archives: tokenizers with what they use, which may be linked by itself, and all other modules.
function(alate_library)
  set(below base tensor formats tokenizers)
  set(others ${ALATE_MODULES})
  list(REMOVE_ITEM others ${below})
  alate_archive(alate_tokenizers_archive NAME tokenizers MODULES ${below} LIBRARIES ${ALATE_TOKENIZERS_DEPENDENCIES})
  set_target_properties(alate_tokenizers_archive PROPERTIES OUTPUT_NAME alate_tokenizers)
  alate_archive(alate NAME alate MODULES ${others} LIBRARIES alate_tokenizers_archive ${ALATE_DEPENDENCIES})
endfunction()

# An executable that sees the private headers of the named modules and links the ones that have sources. Each module is an
# archive of its own for it, so that a program has only what it uses: with all objects, the programs of the sanitizers took 9 GB.
function(alate_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;MODULES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  set(archives)
  foreach(module ${ARG_MODULES})
    if(TARGET alate_${module})
      if(NOT TARGET alate_${module}_objects)
        add_library(alate_${module}_objects STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:alate_${module}>)
        set_target_properties(alate_${module}_objects PROPERTIES LINKER_LANGUAGE CXX
                              ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/archives)
      endif()
      list(PREPEND archives alate_${module}_objects)
    endif()
  endforeach()
  target_link_libraries(${name} PRIVATE alate_flags ${archives} ${ALATE_DEPENDENCIES})
endfunction()

# What many programs of tests have in common, compiled once: where the sources are, and a folder for temporary files.
foreach(part source_folder temporary_root_linux)
  add_library(tests_${part} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/${part}.cpp)
  target_include_directories(tests_${part} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(tests_${part} PRIVATE alate_flags)
endforeach()
target_compile_definitions(tests_source_folder PRIVATE "ALATE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")

# A test executable for the named modules (and all that they use).
function(alate_test name)
  alate_executable(${name} ${ARGN})
  target_sources(${name} PRIVATE $<TARGET_OBJECTS:tests_source_folder>)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:tests_temporary_root_linux>)
  endif()
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
