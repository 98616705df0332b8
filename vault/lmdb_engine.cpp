#include "vault/lmdb_engine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <lmdb.h>

#include "base/error.h"
#include "base/file.h"
#include "vault/fault_handler.h"
#include "vault/file_check.h"
#include "vault/format.h"
#include "vault/guard.h"
#include "vault/timed_lock.h"

namespace strongroom::vault {
namespace {

struct TableSpec {
  Table table;
  const char* name;
  bool integer_key;
  bool root_only;
};
constexpr std::array<TableSpec, kTableCount> kTables = {{
    {Table::names, "names", true, false},
    {Table::records, "records", true, false},
    {Table::chunks, "chunks", false, false},
    {Table::recipients, "recipients", false, true},
    {Table::root, "root", false, true},
    {Table::head, "head", false, false},
    {Table::log, "log", true, false},
    {Table::index, "index", false, false},
}};

[[noreturn]] void throw_lmdb(int rc) {
  switch (rc) {
    case MDB_MAP_FULL: throw Error(Code::no_space, "The bank has reached its largest size.");
    case MDB_PANIC:
      throw Error(Code::io, "The vault's file could not be written; it must be opened again.");
    case MDB_READERS_FULL: throw Error(Code::busy, "Too many processes read the vault at once.");
    case MDB_PAGE_NOTFOUND:
    case MDB_CORRUPTED:
    case MDB_VERSION_MISMATCH:
    case MDB_INVALID:
    case MDB_NOTFOUND:
    case MDB_INCOMPATIBLE:
    case MDB_BAD_TXN: throw_corrupt("its database cannot be read");
    case EAGAIN:
      throw Error(Code::busy, "Another process has the vault open in a way that cannot be shared.");
    default: break;
  }
  if (rc > 0) throw_errno("use the vault's file", rc);
  throw Error(Code::internal, "The database refused a request.");
}

void check(int rc) {
  if (rc != MDB_SUCCESS) throw_lmdb(rc);
}

// A forked child must not use an inherited environment; comparing a counter is cheaper than getpid.
std::atomic<unsigned> g_fork_generation{0};
void on_fork_child() {
  g_fork_generation.fetch_add(1);
}

MDB_val to_val(std::string_view v) {
  return {v.size(), const_cast<char*>(v.data())};
}
std::string_view to_view(const MDB_val& v) {
  return {static_cast<const char*>(v.mv_data), v.mv_size};
}

class LmdbEngine;

// Asks for the pages of values in the file's map. Values of neighbouring pages make one request, of
// at most 128 KiB: what the kernel reads at once.
void advise(const std::vector<std::string_view>& values) {
  constexpr std::uintptr_t kPiece = 128 * 1024;
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  using Range = std::pair<std::uintptr_t, std::uintptr_t>;
  std::vector<Range> ranges;
  ranges.reserve(values.size());
  for (const std::string_view value : values) {
    if (value.empty()) continue;
    const auto at = reinterpret_cast<std::uintptr_t>(value.data());
    ranges.emplace_back(at / page * page, (at + value.size() + page - 1) / page * page);
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 0; i < ranges.size();) {
    auto [begin, end] = ranges[i];
    for (++i; i < ranges.size() && ranges[i].first <= end; ++i) {
      end = std::max(end, ranges[i].second);
    }
    for (; begin < end; begin += kPiece) {
      // Only a hint: what fails here is read when it is needed.
      static_cast<void>(
          ::madvise(reinterpret_cast<void*>(begin), std::min(kPiece, end - begin), MADV_WILLNEED));
    }
  }
}

// Reading is the same in both kinds of transaction.
template <class Base>
class TxnOps : public Base {
 public:
  explicit TxnOps(LmdbEngine& engine) : engine_(engine) {}
  std::optional<std::string_view> get(Table table, std::string_view key) override {
    const EngineScope scope;
    if (lacks(table)) return std::nullopt;
    MDB_val k = to_val(key), v{};
    const int rc = mdb_get(txn_, dbi(table), &k, &v);
    if (rc == MDB_NOTFOUND) return std::nullopt;
    check(rc);
    return to_view(v);
  }
  void scan(Table table, std::string_view from, const ReadTxn::Visitor& visit) override {
    const EngineScope scope;
    if (lacks(table)) return;
    const Cursor cursor(txn_, dbi(table));
    MDB_val k = to_val(from), v{};
    int rc = mdb_cursor_get(cursor.get(), &k, &v, from.empty() ? MDB_FIRST : MDB_SET_RANGE);
    while (rc == MDB_SUCCESS) {
      if (!visit(to_view(k), to_view(v))) return;
      rc = mdb_cursor_get(cursor.get(), &k, &v, MDB_NEXT);
    }
    if (rc != MDB_NOTFOUND) throw_lmdb(rc);
  }
  std::optional<std::uint64_t> last_integer_key(Table table) override {
    const EngineScope scope;
    if (lacks(table)) return std::nullopt;
    const Cursor cursor(txn_, dbi(table));
    MDB_val k{}, v{};
    const int rc = mdb_cursor_get(cursor.get(), &k, &v, MDB_LAST);
    if (rc == MDB_NOTFOUND) return std::nullopt;
    check(rc);
    if (k.mv_size != 8) throw_corrupt("a key has the wrong size");
    return load_le<std::uint64_t>(to_view(k));
  }
  std::uint64_t rows(Table table) override {
    const EngineScope scope;
    if (lacks(table)) return 0;
    MDB_stat stat{};
    check(mdb_stat(txn_, dbi(table), &stat));
    return stat.ms_entries;
  }
  void prefetch(const std::vector<std::string_view>& values) override { advise(values); }

 protected:
  class Cursor {
   public:
    Cursor(MDB_txn* txn, MDB_dbi dbi) { check(mdb_cursor_open(txn, dbi, &cursor_)); }
    ~Cursor() { mdb_cursor_close(cursor_); }
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;
    MDB_cursor* get() const { return cursor_; }

   private:
    MDB_cursor* cursor_ = nullptr;
  };
  MDB_dbi dbi(Table table) const;
  bool lacks(Table table) const { return table == Table::index && !has_index_; }
  LmdbEngine& engine_;
  bool has_index_ = true;  // as of the transaction's begin
  MDB_txn* txn_ = nullptr;
};

class LmdbRead final : public TxnOps<ReadTxn> {
 public:
  LmdbRead(LmdbEngine& engine, std::shared_ptr<Engine> keep);
  ~LmdbRead() override;

 private:
  std::shared_ptr<Engine> keep_;
};

class LmdbWrite final : public TxnOps<WriteTxn> {
 public:
  LmdbWrite(LmdbEngine& engine, std::shared_ptr<Engine> keep, WriterTurns::Turn turn);
  ~LmdbWrite() override {
    if (txn_ != nullptr) mdb_txn_abort(txn_);
  }
  void put(Table table, std::string_view key, std::string_view value) override {
    store(table, key, value, 0);
    // A large value has pages of its own, and the one that it replaces may have been as new.
    if (value.size() > kLargeValue) frees_pages_ = true;
    pages_ += 2;
  }
  void append(Table table, std::string_view key, std::string_view value) override {
    store(table, key, value, MDB_APPEND);
  }
  bool erase(Table table, std::string_view key) override {
    const EngineScope scope;
    MDB_val k = to_val(key);
    frees_pages_ = true;
    pages_ += 4;
    const int rc = mdb_del(txn_, dbi(table), &k, nullptr);
    if (rc == MDB_NOTFOUND) return false;
    check(rc);
    return true;
  }
  void commit() override;

 private:
  void store(Table table, std::string_view key, std::string_view value, unsigned flags) {
    const EngineScope scope;
    MDB_val k = to_val(key), v = to_val(value);
    const int rc = mdb_put(txn_, dbi(table), &k, &v, flags);
    // An append that is not behind the last key means that the tables disagree.
    if (rc == MDB_KEYEXIST) throw_corrupt("rows are out of order");
    check(rc);
    bytes_ += key.size() + value.size() + 16;
    if (value.size() > kLargeValue) pages_ += 2;
  }
  // LMDB gives a value its own pages above half a page, less headers.
  static constexpr std::size_t kLargeValue = 1900;
  std::shared_ptr<Engine> keep_;
  WriterTurns::Turn turn_;
  // What this transaction takes from the end of the file at most: pages, and bytes that fill others
  // at least by half.
  std::uint64_t pages_ = 0, bytes_ = 0;
  bool frees_pages_ = false;
};

using FileKey = std::pair<dev_t, ino_t>;

// LMDB forbids two environments on one file in one process: closing one drops the other's locks. A
// file stays registered until its environment is closed, and who opens it meanwhile waits for that.
struct Registry {
  std::mutex mutex;
  std::condition_variable closed;
  std::map<FileKey, std::weak_ptr<LmdbEngine>> engines;
};
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

class EngineClosing {
 public:
  explicit EngineClosing(const FileKey& key) : key_(key) {}
  ~EngineClosing() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.engines.erase(key_);
    all.closed.notify_all();
  }
  EngineClosing(const EngineClosing&) = delete;
  EngineClosing& operator=(const EngineClosing&) = delete;

 private:
  FileKey key_;
};

class LmdbEngine final : public Engine, public std::enable_shared_from_this<LmdbEngine> {
 public:
  LmdbEngine(const std::string& path, const EngineOptions& options, const FileKey& key,
             Guard guard);
  ~LmdbEngine() override {
    const EngineClosing closing(key_);
    // In a forked child the environment belongs to the parent: closing would clear its locks.
    if (fork_generation_ != g_fork_generation.load()) return;
    if (idle_reader_ != nullptr) mdb_txn_abort(idle_reader_);
    mdb_env_close(env_);
  }
  std::unique_ptr<ReadTxn> begin_read() override {
    return std::make_unique<LmdbRead>(*this, shared_from_this());
  }
  std::unique_ptr<WriteTxn> begin_write(Patience patience) override {
    if (options_.read_only) throw Error(Code::denied, "The vault is open read-only.");
    check_process();
    return std::make_unique<LmdbWrite>(*this, shared_from_this(), turns_.take(patience));
  }
  std::uint64_t last_transaction() override {
    MDB_envinfo info{};
    check(mdb_env_info(env_, &info));
    return info.me_last_txnid;
  }
  bool read_only() const override { return options_.read_only; }
  bool in_place() const override {
    return names(path_, key_) && (!lock_key_ || names(path_ + "-lock", *lock_key_));
  }

  MDB_dbi dbi(Table table) const { return dbis_[static_cast<std::size_t>(table) - 1]; }
  void check_process() const {
    if (fork_generation_ != g_fork_generation.load()) {
      throw Error(Code::internal, "The vault was opened before a fork; open it again.");
    }
  }
  MDB_txn* begin(unsigned flags);
  MDB_txn* take_reader(bool& has_index);
  void give_reader(MDB_txn* txn);
  void grow_ahead(std::uint64_t pages);
  [[noreturn]] void throw_commit(int rc);
  void clear_dead_readers() {
    int dead = 0;
    check(mdb_reader_check(env_, &dead));
  }

 private:
  void make_environment();
  void open_environment(const std::string& path);
  void open_tables();
  bool open_index_table(MDB_txn* txn, unsigned flags);
  void add_index_table();
  void look_for_index_table();
  void require_known_tables();

  static bool names(const std::string& path, const FileKey& key) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && FileKey(info.st_dev, info.st_ino) == key;
  }

  EngineOptions options_;
  std::string path_;
  FileKey key_;
  std::optional<FileKey> lock_key_;  // none on media that cannot be locked
  Guard guard_;
  WriterTurns turns_;
  MDB_env* env_ = nullptr;
  std::array<MDB_dbi, kTableCount> dbis_{};
  std::atomic<bool> has_index_{false};
  std::atomic<std::uint64_t> looked_at_{0};  // the newest transaction without the table
  std::mutex reader_mutex_;
  MDB_txn* idle_reader_ = nullptr;
  unsigned fork_generation_ = 0;
};

template <class Base>
MDB_dbi TxnOps<Base>::dbi(Table table) const {
  return engine_.dbi(table);
}

LmdbRead::LmdbRead(LmdbEngine& engine, std::shared_ptr<Engine> keep)
    : TxnOps(engine), keep_(std::move(keep)) {
  txn_ = engine_.take_reader(has_index_);
}
LmdbRead::~LmdbRead() {
  engine_.give_reader(txn_);
}

LmdbWrite::LmdbWrite(LmdbEngine& engine, std::shared_ptr<Engine> keep, WriterTurns::Turn turn)
    : TxnOps(engine), keep_(std::move(keep)), turn_(std::move(turn)) {
  txn_ = engine_.begin(0);
  try {
    if (!engine_.in_place()) {
      throw Error(
          Code::io,
          "A file of the vault was replaced while it was open; nothing was stored. Try again.");
    }
    engine_.grow_ahead(64);
  } catch (...) {
    mdb_txn_abort(txn_);  // or the next writer would wait for ever
    throw;
  }
}

void LmdbWrite::commit() {
  // A page that is allocated and freed in one transaction is never written, so a file could end
  // before the last page that its meta page counts, which a later open takes for a cut-off file.
  // Growing the file first (sparsely) to the most that it can need keeps the check exact.
  constexpr std::uint64_t kHalfPage = 2048;
  if (frees_pages_) engine_.grow_ahead(64 + pages_ + bytes_ / kHalfPage);
  const EngineScope scope;
  const int rc = mdb_txn_commit(std::exchange(txn_, nullptr));
  turn_.end();
  if (rc != MDB_SUCCESS) engine_.throw_commit(rc);
}

// LMDB writes and syncs the pages first, then the meta page that makes them count. Only a failure
// of that last write leaves it open what is on disk, and LMDB then marks its environment as dead.
void LmdbEngine::throw_commit(int rc) {
  MDB_txn* probe = nullptr;
  const int state = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &probe);
  if (state == MDB_SUCCESS) mdb_txn_abort(probe);
  if (state == MDB_PANIC) {
    throw Error::verbatim(
        Code::uncertain,
        "Uncertain: the write may or may not have been stored; retry with the same "
        "operation_id. [uncertain]");
  }
  // A short write, which is what a disk that fills up gives first, comes out of LMDB as EIO.
  struct statvfs space {};
  int fd = -1;
  if (rc == EIO && mdb_env_get_fd(env_, &fd) == MDB_SUCCESS && ::fstatvfs(fd, &space) == 0 &&
      space.f_bavail * space.f_frsize < (std::uint64_t{1} << 20)) {
    rc = ENOSPC;
  }
  throw_lmdb(rc);
}

void LmdbEngine::grow_ahead(std::uint64_t pages) {
  MDB_envinfo info{};
  check(mdb_env_info(env_, &info));
  int fd = -1;
  check(mdb_env_get_fd(env_, &fd));
  struct stat file {};
  if (::fstat(fd, &file) != 0) throw_errno("check a file of the vault", errno);
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t wanted = (info.me_last_pgno + 1 + pages) * page;
  if (static_cast<std::uint64_t>(file.st_size) >= wanted) return;
  // A step at a time, so that few commits change the file's length.
  if (::ftruncate(fd, static_cast<off_t>(wanted + 64 * page)) != 0) {
    throw_errno("grow a file of the vault", errno);
  }
}

MDB_txn* LmdbEngine::begin(unsigned flags) {
  check_process();
  const EngineScope scope;
  for (int attempt = 0;; ++attempt) {
    MDB_txn* txn = nullptr;
    const int rc = mdb_txn_begin(env_, nullptr, flags, &txn);
    if (rc == MDB_SUCCESS) return txn;
    if (attempt == 3) throw_lmdb(rc);
    if (rc == MDB_MAP_RESIZED) {
      check(mdb_env_set_mapsize(env_, 0));
    } else if (rc == MDB_READERS_FULL) {
      clear_dead_readers();
    } else {
      throw_lmdb(rc);
    }
  }
}

MDB_txn* LmdbEngine::take_reader(bool& has_index) {
  check_process();
  if (!has_index_ && last_transaction() != looked_at_) look_for_index_table();
  has_index = has_index_;  // before the transaction begins, which then knows the table's handle
  MDB_txn* txn = nullptr;
  {
    const std::lock_guard lock(reader_mutex_);
    txn = std::exchange(idle_reader_, nullptr);
  }
  if (txn == nullptr) return begin(MDB_RDONLY);
  if (mdb_txn_renew(txn) == MDB_SUCCESS) return txn;
  mdb_txn_abort(txn);
  return begin(MDB_RDONLY);
}

void LmdbEngine::give_reader(MDB_txn* txn) {
  if (fork_generation_ != g_fork_generation.load()) return;
  mdb_txn_reset(txn);
  {
    const std::lock_guard lock(reader_mutex_);
    if (idle_reader_ == nullptr) {
      idle_reader_ = txn;
      return;
    }
  }
  mdb_txn_abort(txn);
}

std::size_t map_size() {
  constexpr std::size_t kMapSize = std::size_t{64} << 30;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    return std::min<std::size_t>(kMapSize, limit.rlim_cur / 4 / 4096 * 4096);
  }
  return kMapSize;
}

// LMDB writes to a map of its lock file, which a full disk would answer with SIGBUS. Called while
// no environment of this process is open on it: closing a descriptor drops the process's locks.
//
// LMDB also opens that file by name and writes to it whatever it is, so it must be a plain file.
void take_room_for_lock_file(const std::string& path) {
  constexpr off_t kLockFileRoom = 68 * 1024;  // 1,024 reader slots of 64 bytes, and the header
  const UniqueFd fd(::open((path + "-lock").c_str(),
                           O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
  if (!fd && errno != EACCES && errno != EROFS) {
    if (errno == ENOSPC || errno == EDQUOT) throw_errno("open the vault", errno);
    throw_corrupt("a lock file of the vault is not a plain file");
  }
  if (!fd) return;  // a directory that cannot be written: nobody writes the lock file either
  check_vault_file(fd.get());
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || info.st_blocks * 512 >= kLockFileRoom) return;
  const int rc = ::fallocate(fd.get(), FALLOC_FL_KEEP_SIZE, 0, kLockFileRoom);
  if (rc != 0 && (errno == ENOSPC || errno == EDQUOT)) throw_errno("open the vault", errno);
}

void LmdbEngine::make_environment() {
  check(mdb_env_create(&env_));
  mdb_env_set_assert(env_, [](MDB_env*, const char*) { die_damaged(); });
  check(mdb_env_set_maxdbs(env_, 16));
  check(mdb_env_set_maxreaders(env_, 1024));
  check(mdb_env_set_mapsize(env_, map_size()));
}

void LmdbEngine::open_environment(const std::string& path) {
  take_room_for_lock_file(path);
  make_environment();
  unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | MDB_NORDAHEAD;
  if (options_.read_only) flags |= MDB_RDONLY;
  int rc = mdb_env_open(env_, path.c_str(), flags, 0600);
  if (options_.read_only && (rc == EACCES || rc == EROFS)) {
    // A directory that cannot be written has no live writer that a reader must announce itself to.
    mdb_env_close(std::exchange(env_, nullptr));
    make_environment();
    rc = mdb_env_open(env_, path.c_str(), flags | MDB_NOLOCK, 0600);
  }
  check(rc);
  int fd = -1;
  check(mdb_env_get_fd(env_, &fd));
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void LmdbEngine::open_tables() {
  MDB_txn* txn = begin(options_.create ? 0 : MDB_RDONLY);
  try {
    for (const TableSpec& spec : kTables) {
      if (spec.root_only && !options_.root_tables) continue;
      if (spec.table == Table::index) {
        has_index_ = open_index_table(txn, options_.create ? MDB_CREATE : 0);
        continue;
      }
      unsigned flags = spec.integer_key ? MDB_INTEGERKEY : 0;
      if (options_.create) flags |= MDB_CREATE;
      check(mdb_dbi_open(txn, spec.name, flags, &dbis_[static_cast<std::size_t>(spec.table) - 1]));
    }
  } catch (...) {
    mdb_txn_abort(txn);
    throw;
  }
  check(mdb_txn_commit(txn));
  if (!has_index_ && !options_.read_only) add_index_table();
}

// False when the file has no such table.
bool LmdbEngine::open_index_table(MDB_txn* txn, unsigned flags) {
  MDB_dbi& dbi = dbis_[static_cast<std::size_t>(Table::index) - 1];
  const int rc = mdb_dbi_open(txn, "index", flags, &dbi);
  if (rc == MDB_NOTFOUND) return false;
  check(rc);
  return true;
}

// A file that an earlier version made gets the table when it is first opened for writing.
void LmdbEngine::add_index_table() {
  const WriterTurns::Turn turn = turns_.take(kWriterPatience);
  MDB_txn* txn = begin(0);
  try {
    grow_ahead(64);
    has_index_ = open_index_table(txn, MDB_CREATE);
  } catch (...) {
    mdb_txn_abort(txn);
    throw;
  }
  const int rc = mdb_txn_commit(txn);
  if (rc != MDB_SUCCESS) throw_commit(rc);
}

// Rows of a table that this version does not know would be lost by whoever copies the file.
void LmdbEngine::require_known_tables() {
  MDB_txn* txn = begin(MDB_RDONLY);
  MDB_dbi main = 0;
  MDB_stat stat{};
  int rc = mdb_dbi_open(txn, nullptr, 0, &main);
  if (rc == MDB_SUCCESS) rc = mdb_stat(txn, main, &stat);
  mdb_txn_abort(txn);
  check(rc);
  const std::size_t known = options_.root_tables ? kTables.size() : kTables.size() - 2;
  if (stat.ms_entries > known) {
    throw Error(Code::unsupported, "A file of the vault has tables of a newer Strongroom.");
  }
}

// Open read-only on a file that lacked the table: another process may have added it since.
void LmdbEngine::look_for_index_table() {
  const std::lock_guard lock(reader_mutex_);  // LMDB lets one transaction at a time open a table
  if (has_index_) return;
  const std::uint64_t newest = last_transaction();
  MDB_txn* txn = begin(MDB_RDONLY);
  bool found = false;
  try {
    found = open_index_table(txn, 0);
  } catch (...) {
    mdb_txn_abort(txn);
    throw;
  }
  check(mdb_txn_commit(txn));
  looked_at_ = newest;
  has_index_ = found;
}

LmdbEngine::LmdbEngine(const std::string& path, const EngineOptions& options, const FileKey& key,
                       Guard guard)
    : options_(options),
      path_(path),
      key_(key),
      guard_(std::move(guard)),
      turns_(options.exclusive != nullptr ? options.exclusive->fd() : guard_.fd()),
      fork_generation_(g_fork_generation.load()) {
  const EngineScope scope;
  try {
    open_environment(path);
    open_tables();
    require_known_tables();
    struct stat lock_file {};
    if (::stat((path_ + "-lock").c_str(), &lock_file) == 0) {
      lock_key_ = FileKey(lock_file.st_dev, lock_file.st_ino);
    }
    if (!options_.read_only) clear_dead_readers();
  } catch (...) {
    if (env_ != nullptr) mdb_env_close(std::exchange(env_, nullptr));
    throw;
  }
}

FileKey file_key(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) throw_errno("check a file of the vault", errno);
  return {info.st_dev, info.st_ino};
}

UniqueFd open_data_file(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (fd) return fd;
  if (errno == ENOENT || errno == ENOTDIR) throw_corrupt("a file is missing");
  if (errno == ELOOP) throw_corrupt("a file is a symbolic link");
  throw_errno("open a file of the vault", errno);
}

}  // namespace

std::shared_ptr<Engine> open_lmdb(const std::string& path, const EngineOptions& options) {
  static const int at_fork = ::pthread_atfork(nullptr, nullptr, on_fork_child);
  if (at_fork != 0) throw Error(Code::internal, "Could not watch for forks.");
  Registry& all = registry();
  std::unique_lock lock(all.mutex);
  if (options.create) {
    create_file(path, {}, 0600, "make a file of the vault");
  } else {
    open_data_file(path);  // or its guard would be made beside nothing
  }
  // Before anything is looked at: until the guard is held the file may be replaced.
  Guard guard = options.exclusive != nullptr ? Guard() : Guard::shared(path, options.read_only);
  const UniqueFd fd = open_data_file(path);
  check_vault_file(fd.get());
  check_file_system(fd.get(), options.allow_fuse);
  if (!options.create) check_lmdb_file(fd.get());
  const FileKey key = file_key(fd.get());
  for (auto at = all.engines.find(key); at != all.engines.end(); at = all.engines.find(key)) {
    if (auto open = at->second.lock()) {
      lock.unlock();  // `open` may be the last owner by now, and its end takes the lock
      if (open->read_only() && !options.read_only) {
        throw Error(Code::busy, "This process has the vault open read-only.");
      }
      return open;
    }
    all.closed.wait(lock);
  }
  auto engine = std::make_shared<LmdbEngine>(path, options, key, std::move(guard));
  all.engines[key] = engine;
  return engine;
}

}  // namespace strongroom::vault
