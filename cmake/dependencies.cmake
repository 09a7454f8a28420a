# The libraries that Alate links beside the C and C++ run time: static archives of the system, so that a program needs
# none of them at run time. Read by this project and, once installed, by users of the library.
include_guard(GLOBAL)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

function(alate_static_dependency name archive)
  find_library(ALATE_ARCHIVE_${name} NAMES ${archive} NO_CACHE)
  if(NOT ALATE_ARCHIVE_${name})
    message(FATAL_ERROR "alate needs the static archive ${archive}; on Debian 12, tools/setup installs its package")
  endif()
  add_library(alate_dependency::${name} STATIC IMPORTED GLOBAL)
  set_target_properties(alate_dependency::${name} PROPERTIES IMPORTED_LOCATION ${ALATE_ARCHIVE_${name}})
endfunction()

alate_static_dependency(boost_json libboost_json.a)
if(NOT WIN32)
  alate_static_dependency(boost_container libboost_container.a)
  target_link_libraries(alate_dependency::boost_json INTERFACE alate_dependency::boost_container)
endif()
if(ALATE_SERVER)
  alate_static_dependency(boost_url libboost_url.a)
endif()
if(ALATE_DOWNLOADS OR ALATE_SERVER) # TLS of both, and digests in the server
  alate_static_dependency(crypto libcrypto.a)
  alate_static_dependency(ssl libssl.a)
  target_link_libraries(alate_dependency::ssl INTERFACE alate_dependency::crypto)
endif()
alate_static_dependency(pcre2 libpcre2-8.a)
alate_static_dependency(utf8proc libutf8proc.a)
alate_static_dependency(yaml libyaml-cpp.a)
alate_static_dependency(zlib libz.a)

# What alate::tokenizers needs, and what the whole library needs.
set(ALATE_TOKENIZERS_DEPENDENCIES alate_dependency::boost_json alate_dependency::pcre2 alate_dependency::utf8proc
                                  alate_dependency::zlib Threads::Threads
                                  ${CMAKE_DL_LIBS})
set(ALATE_DEPENDENCIES alate_dependency::boost_json)
if(ALATE_SERVER)
  list(APPEND ALATE_DEPENDENCIES alate_dependency::boost_url)
endif()
if(ALATE_DOWNLOADS OR ALATE_SERVER)
  list(APPEND ALATE_DEPENDENCIES alate_dependency::ssl)
endif()
list(APPEND ALATE_DEPENDENCIES
    alate_dependency::pcre2
    alate_dependency::utf8proc
    alate_dependency::yaml
    alate_dependency::zlib
    Threads::Threads
    ${CMAKE_DL_LIBS})
