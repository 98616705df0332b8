// What the process must do before it touches a key.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strongroom::crypto {

/// Starts the crypto library; cheap when done before. Throws internal.
void initialise();

/// No core dumps, no ptrace by the same user, umask 077. First thing in main.
void harden_process();

/// `size` bytes from the system's random source.
std::string random_bytes(std::size_t size);
void random_bytes(void* out, std::size_t size);

/// Constant time for equal sizes.
bool equal(std::string_view a, std::string_view b) noexcept;

}  // namespace strongroom::crypto
