// One exception type with a stable code for the whole program.
//
// A code is part of the contract: the command line maps it once to an exit code, the protocol once
// to an error text. A message is one sentence for the caller; it never carries a stored value, a
// path, or a name that the caller neither sent nor may see.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace strongroom {

enum class Code {
  not_found,
  no_vault,
  locked,
  wrong_key,
  denied,
  secret_detected,
  corrupt,
  rollback,
  fork,
  conflict,
  invalid,
  unsupported,
  too_large,
  busy,
  uncertain,
  no_space,
  io,
  internal,
};

/// The stable name of a code, as users and agents see it ("not_found").
std::string_view code_name(Code code) noexcept;

class Error : public std::exception {
 public:
  /// `sentence` without the final code: text() appends " [code]".
  Error(Code code, std::string sentence);

  /// `text` is shown exactly as it is (the fixed words of the contract that carry no code).
  static Error verbatim(Code code, std::string text);

  /// Invalid: FIELD <why>. [invalid]
  static Error invalid(std::string_view field, std::string_view why);
  /// Too large: FIELD is N bytes, limit M. [too_large]
  static Error too_large(std::string_view field, unsigned long long bytes,
                         unsigned long long limit);

  Code code() const noexcept { return code_; }
  const char* what() const noexcept override { return text_.c_str(); }
  /// The whole text for the caller.
  const std::string& text() const noexcept { return text_; }

 private:
  struct Verbatim {};
  Error(Code code, std::string text, Verbatim);
  Code code_;
  std::string text_;
};

/// An errno as an Error: ENOSPC and EDQUOT are no_space, everything else io. `doing` is a short
/// phrase ("write the vault"); no path is named.
[[noreturn]] void throw_errno(std::string_view doing, int error_number);

}  // namespace strongroom
