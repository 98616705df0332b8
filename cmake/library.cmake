# The layers below mcp/ and cli/ as one static library, and the headers that are its API (docs/api.md).
# In the sources headers include each other from the root of the project; whoever uses the library
# writes <strongroom/service/memory_service.h>, so that "base/time.h" of his own is never ours.

set(STRONGROOM_PUBLIC_HEADERS
  base/error.h
  base/time.h
  base/wipe.h
  service/consolidation.h
  service/key_source.h
  service/memories.h
  service/memory_service.h
  service/project.h
  service/vault_admin.h)

get_property(layers GLOBAL PROPERTY STRONGROOM_LAYERS)
list(REMOVE_ITEM layers mcp)
add_library(strongroom_library STATIC)
add_library(strongroom::strongroom ALIAS strongroom_library)
set_target_properties(strongroom_library PROPERTIES
  OUTPUT_NAME strongroom EXPORT_NAME strongroom LINKER_LANGUAGE CXX)
foreach(layer IN LISTS layers)
  target_sources(strongroom_library PRIVATE $<TARGET_OBJECTS:strongroom_${layer}>)
endforeach()

set(public_folder ${PROJECT_BINARY_DIR}/public)
list(TRANSFORM STRONGROOM_PUBLIC_HEADERS PREPEND ${public_folder}/strongroom/ OUTPUT_VARIABLE made)
list(TRANSFORM STRONGROOM_PUBLIC_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE from)
list(JOIN STRONGROOM_PUBLIC_HEADERS "," names)
add_custom_command(OUTPUT ${made} DEPENDS ${from} ${PROJECT_SOURCE_DIR}/cmake/public_headers.cmake
  COMMAND ${CMAKE_COMMAND} -DHEADERS=${names} -DFROM=${PROJECT_SOURCE_DIR}
    -DTO=${public_folder}/strongroom -P ${PROJECT_SOURCE_DIR}/cmake/public_headers.cmake
  COMMENT "Writing the public headers" VERBATIM)
add_custom_target(strongroom_public_headers ALL DEPENDS ${made})
add_dependencies(strongroom_library strongroom_public_headers)

target_compile_features(strongroom_library INTERFACE cxx_std_20)
target_include_directories(strongroom_library INTERFACE
  $<BUILD_INTERFACE:${public_folder}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

find_package(ZLIB REQUIRED)
# A static library brings what it needs to the link. strongroomConfig.cmake finds the same libraries
# where it is installed.
set(known PkgConfig::SODIUM PkgConfig::LMDB PkgConfig::UTF8PROC Stemmer::stemmer ZLIB::ZLIB
  Threads::Threads ${CMAKE_DL_LIBS}
  Curl::headers)  # nothing to link with
get_property(packages GLOBAL PROPERTY STRONGROOM_PACKAGES)
list(REMOVE_DUPLICATES packages)
foreach(package IN LISTS packages)
  if(NOT package IN_LIST known)
    message(FATAL_ERROR "${package} is new: cmake/strongroomConfig.cmake.in must find it as well, "
      "then name it in cmake/library.cmake and its package in cmake/package.cmake")
  endif()
endforeach()
target_link_libraries(strongroom_library INTERFACE Threads::Threads ZLIB::ZLIB ${CMAKE_DL_LIBS}
  $<BUILD_INTERFACE:PkgConfig::SODIUM> $<INSTALL_INTERFACE:strongroom::sodium>
  $<BUILD_INTERFACE:PkgConfig::LMDB> $<INSTALL_INTERFACE:strongroom::lmdb>
  $<BUILD_INTERFACE:PkgConfig::UTF8PROC> $<INSTALL_INTERFACE:strongroom::utf8proc>
  $<BUILD_INTERFACE:Stemmer::stemmer> $<INSTALL_INTERFACE:strongroom::stemmer>)
