# Debian's packages, found by pkg-config or find_package; nothing is fetched.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium>=1.0.18)
pkg_check_modules(LMDB REQUIRED IMPORTED_TARGET lmdb>=0.9.24)
# The .pc file of utf8proc 2.8.0 says 2.6.0.
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc>=2.5)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)

# Debian's bookworm fixes point validation in 1.0.18-1+deb12u1 without a new version number, so
# pkg-config cannot tell; scripts/deps installs the newest, tests/crypto checks the behaviour.

# libstemmer comes without a description for pkg-config or CMake.
find_path(STEMMER_INCLUDE_DIR libstemmer.h)
find_library(STEMMER_LIBRARY stemmer)
if(NOT STEMMER_INCLUDE_DIR OR NOT STEMMER_LIBRARY)
  message(FATAL_ERROR "libstemmer is missing; scripts/deps installs it (Debian's libstemmer-dev)")
endif()
add_library(Stemmer::stemmer UNKNOWN IMPORTED)
set_target_properties(Stemmer::stemmer PROPERTIES
  IMPORTED_LOCATION "${STEMMER_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${STEMMER_INCLUDE_DIR}")
mark_as_advanced(STEMMER_INCLUDE_DIR STEMMER_LIBRARY)

# Only libcurl's headers: the library is loaded by the program when it is needed.
find_path(CURL_INCLUDE_DIR curl/curl.h)
if(NOT CURL_INCLUDE_DIR)
  message(FATAL_ERROR "curl/curl.h is missing; scripts/deps installs it (Debian's libcurl4-gnutls-dev)")
endif()
add_library(Curl::headers INTERFACE IMPORTED)
set_target_properties(Curl::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${CURL_INCLUDE_DIR}")
mark_as_advanced(CURL_INCLUDE_DIR)

# The format is little-endian and LMDB files are host-endian.
if(CMAKE_CXX_BYTE_ORDER STREQUAL "BIG_ENDIAN")
  message(FATAL_ERROR "Strongroom's format is little-endian; big-endian builds are refused")
endif()
