// libcurl, loaded when it is first needed. Only these functions are used.
#pragma once

#include <curl/curl.h>

namespace strongroom::embed {

struct CurlLibrary {
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_perform) easy_perform;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_share_init) share_init;
  decltype(&::curl_share_setopt) share_setopt;
  decltype(&::curl_share_cleanup) share_cleanup;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
};

/// The library, started. What it frees it wipes. Any thread; throws Error unsupported when it is
/// not there, and then looks again at the next call.
const CurlLibrary& curl_library();

}  // namespace strongroom::embed
