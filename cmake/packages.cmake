# Debian's packages, found by pkg-config or find_package; nothing is fetched.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium>=1.0.18)
pkg_check_modules(LMDB REQUIRED IMPORTED_TARGET lmdb>=0.9.24)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)

# Debian's bookworm fixes point validation in 1.0.18-1+deb12u1 without a new version number, so
# pkg-config cannot tell; scripts/deps installs the newest, tests/crypto checks the behaviour.

# The format is little-endian and LMDB files are host-endian.
if(CMAKE_CXX_BYTE_ORDER STREQUAL "BIG_ENDIAN")
  message(FATAL_ERROR "Strongroom's format is little-endian; big-endian builds are refused")
endif()
