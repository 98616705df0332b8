#include "embed/http_client.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "base/error.h"
#include "embed/curl_library.h"

namespace strongroom::embed {

namespace {

constexpr long kConnectMilliseconds = 2000;
constexpr std::size_t kMaxHeaderBytes = 64u << 10;
constexpr std::size_t kMaxFailureBytes = 16u << 10;  // of the body of a status other than 200
constexpr long kGood = 200;

bool same_letters(std::string_view a, std::string_view lower_case) {
  if (a.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char c = a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] - 'A' + 'a') : a[i];
    if (c != lower_case[i]) return false;
  }
  return true;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string seconds(long milliseconds) {
  const std::string tenths = std::to_string((milliseconds + 50) / 100);
  const std::string whole = tenths.size() == 1 ? "0" : tenths.substr(0, tenths.size() - 1);
  return tenths.back() == '0' ? whole + " s" : whole + "." + tenths.back() + " s";
}

}  // namespace

// What one request came to, as libcurl's callbacks see it.
struct HttpClient::Transfer {
  const CurlLibrary& curl;
  HttpAnswer& answer;
  std::size_t most;
  bool this_machine_only;

  CURL* easy = nullptr;
  std::size_t header_bytes = 0;
  bool too_large = false;
  bool headers_too_large = false;
  bool compressed = false;
  bool enough = false;         // of a failure's body
  bool other_machine = false;  // an address that must not be asked
  bool memory_out = false;
  bool reused = false;  // a connection of an earlier request
  bool connected = false;
  int system_error = 0;

  bool silent() const { return header_bytes == 0 && answer.body.empty(); }

  std::size_t take_header(std::string_view line) {
    header_bytes += line.size();
    if (header_bytes > kMaxHeaderBytes) {
      headers_too_large = true;
      return 0;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return line.size();
    const std::string_view name = trimmed(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1));
    const bool plain_content = value.empty() || same_letters(value, "identity");
    if (same_letters(name, "content-encoding") && !plain_content) compressed = true;
    if (same_letters(name, "transfer-encoding") && !same_letters(value, "chunked")) {
      compressed = true;
    }
    return compressed ? 0 : line.size();
  }

  std::size_t take_body(std::string_view part) {
    long status = 0;
    curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    const bool good = status == kGood;
    const std::size_t room = (good ? most : kMaxFailureBytes) - answer.body.size();
    try {
      answer.body.append(part.substr(0, room));
    } catch (const std::bad_alloc&) {
      memory_out = true;  // no exception may pass through libcurl
      return 0;
    }
    if (part.size() <= room) return part.size();
    (good ? too_large : enough) = true;
    return 0;
  }

  static std::size_t on_header(char* data, std::size_t one, std::size_t size, void* self) {
    return static_cast<Transfer*>(self)->take_header({data, one * size});
  }
  static std::size_t on_body(char* data, std::size_t one, std::size_t size, void* self) {
    return static_cast<Transfer*>(self)->take_body({data, one * size});
  }
  // What a name resolves to is checked where it cannot change any more.
  static curl_socket_t on_socket(void* self, curlsocktype /*purpose*/, curl_sockaddr* to) {
    auto& transfer = *static_cast<Transfer*>(self);
    if (transfer.this_machine_only && !is_loopback(to->addr)) {
      transfer.other_machine = true;
      return CURL_SOCKET_BAD;
    }
    return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
  }
};

// Connections that outlive the handles that made them. A handle has buffers that hold what was
// sent, so each request has its own, and it is wiped with it.
class HttpClient::Connections {
 public:
  Connections() : curl(curl_library()), share(curl.share_init()), process(::getpid()) {
    if (share == nullptr) throw std::bad_alloc();
    curl.share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
  }
  ~Connections() { curl.share_cleanup(share); }
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  const CurlLibrary& curl;
  CURLSH* const share;
  const pid_t process;
  bool used = false;  // the latest request got an answer
};

// A libcurl handle for one request.
class HttpClient::Handle {
 public:
  Handle(const Connections& connections, const Endpoint& endpoint, Transfer& transfer)
      : curl(connections.curl), easy(curl.easy_init()) {
    if (easy == nullptr) throw std::bad_alloc();
    transfer.easy = easy;
    try {
      set(CURLOPT_SHARE, connections.share);
      set_up(endpoint);
      set_callbacks(transfer);
      if (transfer.this_machine_only && endpoint.host == "localhost") pin(endpoint.port);
    } catch (...) {
      close();
      throw;
    }
  }
  ~Handle() { close(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  template <class Value>
  void set(CURLoption option, Value value) {
    if (curl.easy_setopt(easy, option, value) != CURLE_OK) {
      throw Error(Code::unsupported,
                  "This libcurl is too old or lacks what is needed: 7.85 is needed, with http and "
                  "https.");
    }
  }

  const CurlLibrary& curl;
  CURL* const easy;

 private:
  void close() {
    curl.easy_cleanup(easy);
    curl.slist_free_all(resolved_);
  }

  void set_up(const Endpoint& endpoint) {
    set(CURLOPT_URL, endpoint.url().c_str());
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_PROTOCOLS_STR, endpoint.https ? "https" : "http");
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_HTTP09_ALLOWED, 0L);
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_PROXY, "");  // that of the environment neither
    set(CURLOPT_NOPROXY, "*");
    set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
    set(CURLOPT_USERAGENT, "strongroom");
    set(CURLOPT_POST, 1L);
  }

  void set_callbacks(Transfer& transfer) {
    set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
    set(CURLOPT_HEADERDATA, &transfer);
    set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
    set(CURLOPT_WRITEDATA, &transfer);
    set(CURLOPT_OPENSOCKETFUNCTION, &Transfer::on_socket);
    set(CURLOPT_OPENSOCKETDATA, &transfer);
  }

  // Whatever a resolver says of the name.
  void pin(std::uint16_t port) {
    const std::string line = "localhost:" + std::to_string(port) + ":127.0.0.1,[::1]";
    resolved_ = curl.slist_append(nullptr, line.c_str());
    if (resolved_ == nullptr) throw std::bad_alloc();
    set(CURLOPT_RESOLVE, resolved_);
  }

  curl_slist* resolved_ = nullptr;
};

namespace {

// The headers of a request; one of them may hold the token, which libcurl's memory wipes.
class Headers {
 public:
  Headers(const CurlLibrary& curl, std::string_view token) : curl_(curl) {
    add("Content-Type: application/json");
    add("Accept: application/json");
    add("Expect:");  // not asked first whether a body is welcome
    if (token.empty()) return;
    SecretBytes line("Authorization: Bearer ");
    line.append(token);
    line.append({"", 1});
    add(line.data());
  }
  ~Headers() { curl_.slist_free_all(list_); }
  Headers(const Headers&) = delete;
  Headers& operator=(const Headers&) = delete;
  curl_slist* list() const { return list_; }

 private:
  void add(const char* line) {
    curl_slist* const longer = curl_.slist_append(list_, line);
    if (longer == nullptr) {
      curl_.slist_free_all(std::exchange(list_, nullptr));
      throw std::bad_alloc();
    }
    list_ = longer;
  }

  const CurlLibrary& curl_;
  curl_slist* list_ = nullptr;
};

}  // namespace

HttpClient::HttpClient(Endpoint endpoint, bool allow_remote)
    : endpoint_(std::move(endpoint)),
      server_("The embedding server at " + endpoint_.origin() + " ") {
  check_reach(endpoint_, allow_remote);
}

HttpClient::~HttpClient() = default;

int HttpClient::perform(const HttpRequest& request, bool fresh, Transfer& transfer) {
  HttpAnswer& out = transfer.answer;
  out.status = 0;
  out.type.clear();
  out.body.clear();
  out.moved.clear();
  const CurlLibrary& curl = connections_->curl;
  const Headers headers(curl, request.token);
  Handle handle(*connections_, endpoint_, transfer);
  handle.set(CURLOPT_HTTPHEADER, headers.list());
  handle.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  handle.set(CURLOPT_POSTFIELDS, request.body.data());
  handle.set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  handle.set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(request.most));
  handle.set(CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L);

  const CURLcode code = curl.easy_perform(handle.easy);

  const char* text = nullptr;
  long number = 0;
  const auto info = [&](CURLINFO what, auto* value) {
    return curl.easy_getinfo(handle.easy, what, value) == CURLE_OK;
  };
  if (info(CURLINFO_RESPONSE_CODE, &number)) out.status = number;
  if (info(CURLINFO_CONTENT_TYPE, &text) && text != nullptr) out.type = text;
  if (info(CURLINFO_REDIRECT_URL, &text) && text != nullptr) out.moved = text;
  if (info(CURLINFO_OS_ERRNO, &number)) transfer.system_error = static_cast<int>(number);
  curl_off_t connected = 0;
  if (info(CURLINFO_CONNECT_TIME_T, &connected)) transfer.connected = connected > 0;
  transfer.reused = info(CURLINFO_NUM_CONNECTS, &number) && number == 0;
  return code;
}

void HttpClient::post(const HttpRequest& request, HttpAnswer& out) {
  if (!connections_) connections_ = std::make_unique<Connections>();
  if (connections_->process != ::getpid()) {
    throw Error(Code::internal, "An embedder must not be used after a fork.");
  }
  const Transfer start{connections_->curl, out, request.most, endpoint_.on_this_machine()};
  const bool used = std::exchange(connections_->used, false);
  Transfer transfer = start;
  const int code = perform(request, false, transfer);

  // A server may close a connection that it kept, at any moment, and so may one that restarts.
  const bool refused = code == CURLE_COULDNT_CONNECT && !transfer.other_machine;
  const bool closed = transfer.reused && (code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
                                          code == CURLE_GOT_NOTHING);
  if (used && transfer.silent() && (refused || closed)) {
    Transfer again = start;
    const int second = perform(request, true, again);
    settle(second, request, again);
  } else {
    settle(code, request, transfer);
  }
  connections_->used = true;
}

void HttpClient::settle(int code, const HttpRequest& request, const Transfer& transfer) const {
  if (code == CURLE_OK || transfer.enough) return;
  // A failure tells more by its status than by the size of its body or by how it ends.
  const bool failure = transfer.answer.status > kGood;
  const bool of_body =
      code == CURLE_FILESIZE_EXCEEDED || code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR;
  if (failure && of_body) return;
  fail(code, request, transfer);
}

void HttpClient::fail(int code, const HttpRequest& request, const Transfer& transfer) const {
  const auto say = [&](const std::string& what) { throw Error(Code::io, server_ + what + "."); };
  if (transfer.memory_out) throw std::bad_alloc();
  if (transfer.other_machine) say("is not on this machine, and was not asked");
  if (transfer.compressed) say("compresses its answer, which it was not asked to do");
  if (transfer.headers_too_large) say("sends more than 64 KiB of headers");
  switch (code) {
    case CURLE_FILESIZE_EXCEEDED:
    case CURLE_WRITE_ERROR:
      say("sends an answer of more than " + std::to_string(request.most) +
          " bytes, which vectors of these texts do not need");
      break;
    case CURLE_OPERATION_TIMEDOUT:
      if (!transfer.connected && request.timeout.count() > kConnectMilliseconds) {
        say("gave no connection within " + seconds(kConnectMilliseconds));
      }
      say("did not answer within " + seconds(static_cast<long>(request.timeout.count())));
      break;
    case CURLE_COULDNT_RESOLVE_HOST: say("has a name that cannot be resolved"); break;
    case CURLE_COULDNT_CONNECT:
      say("takes no connection (" +
          std::string(transfer.system_error == 0 ? "no reason known"
                                                 : std::strerror(transfer.system_error)) +
          ")");
      break;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR: say("closed the connection before its answer was complete"); break;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      say("has a certificate that is not trusted here, or one of another name");
      break;
    default: break;
  }
  const char* const words = connections_->curl.easy_strerror(static_cast<CURLcode>(code));
  throw Error(Code::io, server_ + "could not be asked: " + words + ".");
}

}  // namespace strongroom::embed
