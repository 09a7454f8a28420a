# Installs the program, the library and the files that `find_package(alate)` reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/alate)
set(models_folder ${CMAKE_INSTALL_DATADIR}/alate/models) # where the program and the library look for builtin:NAME

install(TARGETS alate EXPORT alateTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/alate DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT alateTargets NAMESPACE alate:: DESTINATION ${package_folder})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/alateConfig.cmake.in ${PROJECT_BINARY_DIR}/alateConfig.cmake
                              INSTALL_DESTINATION ${package_folder} PATH_VARS models_folder)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/alateConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/alateConfig.cmake ${PROJECT_BINARY_DIR}/alateConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake DESTINATION ${package_folder})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${models_folder})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET alate_program)
  install(TARGETS alate_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
