#include "embed/curl_library.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>

#include "base/error.h"
#include "base/wipe.h"

namespace strongroom::embed {

namespace {

// ---- libcurl's memory holds requests and answers, so it is wiped when libcurl gives it back
void release(void* memory) {
  if (memory == nullptr) return;
  wipe(memory, ::malloc_usable_size(memory));
  std::free(memory);
}

void* allocate(std::size_t size) {
  return std::malloc(size);
}

void* resize(void* memory, std::size_t size) {
  void* const larger = std::malloc(size);
  if (larger == nullptr || memory == nullptr) return larger;
  std::memcpy(larger, memory, std::min(size, ::malloc_usable_size(memory)));
  release(memory);
  return larger;
}

void* allocate_zeros(std::size_t count, std::size_t size) {
  return std::calloc(count, size);
}

char* duplicate(const char* text) {
  return ::strdup(text);
}

// ---- loading

// Debian's two builds of it, by their TLS library; either will do.
void* open_library() {
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    if (void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  throw Error(Code::unsupported,
              "Asking a model over HTTP needs libcurl, which is not installed; Debian has it in "
              "the package libcurl4 or libcurl3-gnutls.");
}

template <class Function>
void find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(::dlsym(library, name));
  if (out == nullptr)
    throw Error(Code::unsupported, "This libcurl lacks a function that is needed.");
}

CurlLibrary load() {
  void* const library = open_library();  // stays: threads of its own may still be running
  CurlLibrary out{};
  decltype(&::curl_global_init_mem) start = nullptr;
  find(library, "curl_global_init_mem", start);
  find(library, "curl_easy_init", out.easy_init);
  find(library, "curl_easy_cleanup", out.easy_cleanup);
  find(library, "curl_easy_setopt", out.easy_setopt);
  find(library, "curl_easy_getinfo", out.easy_getinfo);
  find(library, "curl_easy_perform", out.easy_perform);
  find(library, "curl_easy_strerror", out.easy_strerror);
  find(library, "curl_share_init", out.share_init);
  find(library, "curl_share_setopt", out.share_setopt);
  find(library, "curl_share_cleanup", out.share_cleanup);
  find(library, "curl_slist_append", out.slist_append);
  find(library, "curl_slist_free_all", out.slist_free_all);
  if (start(CURL_GLOBAL_DEFAULT, allocate, release, resize, duplicate, allocate_zeros) !=
      CURLE_OK) {
    throw Error(Code::unsupported, "libcurl could not start.");
  }
  return out;
}

}  // namespace

const CurlLibrary& curl_library() {
  static const CurlLibrary library = load();
  return library;
}

}  // namespace strongroom::embed
