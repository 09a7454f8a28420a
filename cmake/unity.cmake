# Several files compiled as one share the parsing of headers and the instantiation of templates: a quarter of the time. All
# builds here do so; tools/check_alone finds includes that a file forgot. A "redefinition" after an edit says that
# two files of a group now share a name: configure again, and the groups tell them apart.
option(ALATE_UNITY "Compile several files as one (needs Python)" OFF)
set(ALATE_UNITY_SIZE 24)
if(ALATE_UNITY)
  # File-local names are now visible to the other files of a group; tools/check_alone has these warnings.
  target_compile_options(alate_flags INTERFACE -Wno-shadow $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()

# Replaces the files of a list, where they can be combined, by files that include them. Files with options of
# their own, and the kernels, which are large enough, stay separate.
function(alate_unite list name)
  if(NOT ALATE_UNITY)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(together ${${list}})
  list(FILTER together EXCLUDE REGEX "(/(main|version|built_instruction_sets|program_version|source_folder)\\.cpp|_(scalar|(avx|amx|neon)[0-9a-z_]*)\\.cpp|\\.c)$")
  list(FILTER together INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/")
  list(TRANSFORM together REPLACE "^${PROJECT_SOURCE_DIR}/" "")
  set(prefix ${PROJECT_BINARY_DIR}/unity/${name})
  execute_process(
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/unity_groups ${ALATE_UNITY_SIZE} ${prefix} ${together}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT lines)
    return()
  endif()
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line ${lines})
    string(REGEX MATCH "^([0-9]+)\t(.*)$" _ "${line}")
    list(REMOVE_ITEM ${list} ${PROJECT_SOURCE_DIR}/${CMAKE_MATCH_2})
    list(APPEND ${list} ${prefix}_${CMAKE_MATCH_1}.cpp)
  endforeach()
  list(REMOVE_DUPLICATES ${list})
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()
