# Installs the program, the library and the files that `find_package(alate)` reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The libraries that the archive is linked with, as pkg-config names them: each before the ones that it needs.
function(alate_pkgconfig_libraries out)
  set(flags)
  set(pending ${ARGN})
  while(pending)
    list(POP_FRONT pending library)
    if(library MATCHES "^alate_dependency::")
      get_target_property(archive ${library} IMPORTED_LOCATION)
      cmake_path(GET archive PARENT_PATH folder)
      cmake_path(GET archive FILENAME name)
      if(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
        list(APPEND flags "-L${folder}")
      endif()
      list(APPEND flags "-l:${name}")
      get_target_property(needed ${library} INTERFACE_LINK_LIBRARIES)
      if(needed)
        list(PREPEND pending ${needed})
      endif()
    elseif(library STREQUAL "Threads::Threads")
      list(APPEND flags "-pthread")
    else()
      list(APPEND flags "-l${library}")
    endif()
  endwhile()
  list(JOIN flags " " flags)
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/alate)
set(models_folder ${CMAKE_INSTALL_DATADIR}/alate/models) # where the program and the library look for builtin:NAME

install(TARGETS alate alate_tokenizers_archive EXPORT alateTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/alate DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT alateTargets NAMESPACE alate:: DESTINATION ${package_folder})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/alateConfig.cmake.in ${PROJECT_BINARY_DIR}/alateConfig.cmake
                              INSTALL_DESTINATION ${package_folder} PATH_VARS models_folder CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/alateConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/alateConfig.cmake ${PROJECT_BINARY_DIR}/alateConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake DESTINATION ${package_folder})

# The same for pkg-config.
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH prefix_from_package /${pkgconfig_folder} /)
string(REGEX REPLACE "/$" "" prefix_from_package "${prefix_from_package}")
function(alate_pkgconfig_file package archives description)
  list(TRANSFORM archives PREPEND "-l")
  list(JOIN archives " " package_archives)
  set(package_name ${package})
  set(package_description ${description})
  alate_pkgconfig_libraries(package_libraries ${ARGN})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/alate.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${pkgconfig_folder})
endfunction()
alate_pkgconfig_file(alate "alate;alate_tokenizers" "Runs open models on a plain CPU" ${ALATE_DEPENDENCIES})
alate_pkgconfig_file(alate_tokenizers "alate_tokenizers" "Hugging Face's tokenizers in C++" ${ALATE_TOKENIZERS_DEPENDENCIES})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${models_folder})
# Folders as in the repository, so that the pages' links lead somewhere.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/deploy/README.md ${PROJECT_SOURCE_DIR}/deploy/alate.service
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/deploy)
if(TARGET alate_program)
  install(TARGETS alate_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
