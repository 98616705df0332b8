# Debian packages: strongroom, and libstrongroom-dev. scripts/package builds them.
set(STRONGROOM_MAINTAINER "Strongroom maintainers <maintainers@strongroom.invalid>"
  CACHE STRING "Name and address in the packages")

set(CPACK_PACKAGE_NAME strongroom)
set(CPACK_PACKAGE_VENDOR Strongroom)
set(CPACK_PACKAGE_CONTACT "${STRONGROOM_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_layout.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
"Strongroom keeps named values and free-text memories of AI agents in one
directory of sealed files, search index included. Agents reach it over the
Model Context Protocol, people by a command line. It needs no server, no
account and no network.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME strongroom)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
# shlibdeps takes any libsodium with the right symbols; this one has the fix that we rely on.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libsodium23 (>= 1.0.18-1+deb12u1)")
# Not linked but loaded, for a model behind an endpoint or in a folder.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "libcurl4 | libcurl3-gnutls, libopenblas0 | libblas3")

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"This package has what C++ programs are built with: the static library of
Strongroom, its headers, and find_package(strongroom) for CMake.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libstrongroom-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libsodium-dev (>= 1.0.18-1+deb12u1), liblmdb-dev, libutf8proc-dev, libstemmer-dev, zlib1g-dev")

include(CPack)
