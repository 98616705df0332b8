// docs/format.md against the bytes of a real vault: every field on disk is in its tables with the
// right size, everything the tables say is always written is there, and the associated data, keys,
// sums and chains that the page describes open and verify what the program wrote.
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <sys/stat.h>
#include <tuple>

#include "../service/service_fixture.h"
#include "../vault/memory_fixture.h"
#include "crypto/aead.h"
#include "crypto/box.h"
#include "crypto/key_slot.h"
#include "crypto/sign.h"
#include "crypto/term_hash.h"
#include "markdown.h"
#include "recall/builtin_model.h"
#include "recall/columns.h"
#include "recall/index.h"
#include "recall/manifest.h"
#include "recall/segment.h"
#include "recall/splitter.h"
#include "service/unlocker.h"
#include "tests/recall/turned.h"
#include "vault/log_checkpoint.h"
#include "vault/guard.h"
#include "vault/header.h"
#include "vault/lmdb_engine.h"
#include "vault/operations.h"
#include "vault/recipient.h"

using namespace strongroom;
using namespace strongroom::vault;

namespace {

const std::string& page() {
  static const std::string text = docs::read_text(docs::project_folder() / "docs/format.md");
  return text;
}

// ---- tables of fields

struct Field {
  std::string size, written;
};
using Fields = std::map<std::uint32_t, Field>;

bool size_fits(const std::string& documented, std::size_t size) {
  if (documented == "n") return true;
  if (documented == "8n") return size % 8 == 0;
  return std::to_string(size) == documented;
}

/// One table of fields, and which of them the bytes had.
class Body {
 public:
  explicit Body(const std::string& heading) : heading_(heading) {
    for (const docs::Row& row : docs::table_below(page(), heading)) {
      INFO(heading << " " << row[0]);
      REQUIRE(row.size() == 5);
      const auto id = static_cast<std::uint32_t>(std::stoul(row[0]));
      REQUIRE((row[3] == "always" || row[3] == "sometimes" || row[3] == "reserved"));
      REQUIRE(fields_.emplace(id, Field{row[1], row[3]}).second);
    }
  }

  /// Checks one body that the program wrote.
  void check(std::string_view bytes) {
    ++bodies_;
    std::set<std::uint32_t> here;
    for (BodyReader body(bytes); body.next();) {
      INFO(heading_ << ", field " << body.id() << " of " << body.bytes().size() << " bytes");
      const auto at = fields_.find(body.id());
      REQUIRE(at != fields_.end());
      REQUIRE(size_fits(at->second.size, body.bytes().size()));
      REQUIRE(at->second.written != "reserved");
      here.insert(body.id());
    }
    for (const auto& [id, field] : fields_) {
      INFO(heading_ << ", field " << id);
      REQUIRE((field.written != "always" || here.count(id) == 1));
    }
    seen_.insert(here.begin(), here.end());
  }

  /// Everything that the table says is written was seen, and not always where it says sometimes.
  void finish() const {
    INFO(heading_);
    REQUIRE(bodies_ > 0);
    for (const auto& [id, field] : fields_) {
      INFO("field " << id);
      REQUIRE((field.written == "reserved") != (seen_.count(id) == 1));
    }
  }

 private:
  std::string heading_;
  Fields fields_;
  std::set<std::uint32_t> seen_;
  int bodies_ = 0;
};

// ---- tables of offsets

/// A table of offsets. Offsets must follow from the sizes.
class Layout {
 public:
  explicit Layout(const std::string& heading) : heading_(heading) {
    std::optional<std::size_t> next = 0;
    for (const docs::Row& row : docs::table_below(page(), heading)) {
      INFO(heading << ": " << row[2]);
      REQUIRE(row.size() == 3);
      Part part{0, std::nullopt, row[2]};
      if (row[1] != "n") part.size = std::stoul(row[1]);
      if (row[0] == "end") {
        REQUIRE_FALSE(next);
      } else {
        REQUIRE(next);
        part.offset = std::stoul(row[0]);
        REQUIRE(part.offset == *next);
      }
      next = next && part.size ? std::optional(*next + *part.size) : std::nullopt;
      parts_.push_back(std::move(part));
    }
    total_ = next;
  }

  /// All sizes are fixed, and this is their sum.
  std::size_t total() const {
    INFO(heading_);
    REQUIRE(total_);
    return *total_;
  }

  /// The bytes of the part that is described by these words, or by a text that begins with them.
  std::string_view get(std::string_view bytes, const std::string& name) const {
    const std::size_t i = find(name);
    const Part& part = parts_[i];
    if (i > 0 && part.offset == 0) return bytes.substr(bytes.size() - tail_from(i), *part.size);
    const std::size_t end = part.size ? part.offset + *part.size : bytes.size() - tail_from(i + 1);
    REQUIRE(end <= bytes.size());
    return bytes.substr(part.offset, end - part.offset);
  }

  /// Puts the parts together from what `bytes_of` gives for a part's description.
  template <class BytesOf>
  std::string build(const BytesOf& bytes_of) const {
    std::string out;
    for (const Part& part : parts_) {
      const std::string bytes = bytes_of(part.name);
      INFO(heading_ << ": " << part.name);
      REQUIRE(part.size);
      REQUIRE(bytes.size() == *part.size);
      out += bytes;
    }
    return out;
  }

 private:
  struct Part {
    std::size_t offset;
    std::optional<std::size_t> size;
    std::string name;
  };
  std::size_t find(const std::string& name) const {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].name == name) return i;
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].name.compare(0, name.size(), name) == 0) return i;
    }
    throw std::runtime_error(heading_ + " has no " + name);
  }
  std::size_t tail_from(std::size_t i) const {
    std::size_t size = 0;
    for (; i < parts_.size(); ++i) size += *parts_[i].size;
    return size;
  }
  std::string heading_;
  std::vector<Part> parts_;
  std::optional<std::size_t> total_;
};

bool begins(const std::string& text, std::string_view with) {
  return text.compare(0, with.size(), with) == 0;
}

template <class T>
std::string le(T value) {
  std::string out;
  append_le(out, value);
  return out;
}

// ---- the vault that is looked at

struct RawRow {
  Table table;
  std::string key, value;
};

std::vector<RawRow> rows_of(const std::string& file, bool root) {
  EngineOptions options;
  options.root_tables = root;
  const auto engine = open_lmdb(file, options);
  const auto txn = engine->begin_read();
  std::vector<Table> tables{Table::names, Table::records, Table::chunks,
                            Table::head,  Table::log,     Table::index};
  if (root) tables.insert(tables.end(), {Table::recipients, Table::root});
  std::vector<RawRow> rows;
  for (const Table table : tables) {
    txn->scan(table, {}, [&](std::string_view key, std::string_view value) {
      rows.push_back({table, std::string(key), std::string(value)});
      return true;
    });
  }
  return rows;
}

AuditEvent event_of(std::string_view tool) {
  AuditEvent event;
  event.time = 77;
  event.principal = "test";
  event.tool = tool;
  return event;
}

/// Memories with every field and with none, a document of more than a page, links, index blocks.
void write_memories(Vault& vault, Bank& bank) {
  BankWrite write = bank.write(vault.stamp());
  SecretBytes plain;
  MemoryDraft small;
  small.text = "small";
  const RecordId first = add_memory(write, small, 1000), gone = add_memory(write, small, 1000);
  MemoryDraft full = full_memory();
  full.occurred_found = true;
  full.sources = {first, gone};
  full.sources = {first};
  full.refines = first;
  revise_memory(write, *find_memory(write, first, plain)->memory, full, 2000);
  forget_memory(write, *find_memory(write, gone, plain)->memory, "test", 3000);
  Document document = new_document(write, "notes", 1000);
  for (std::size_t i = 0; i < kPartsPerPage + 2; ++i) append_part(write, document, {first, "\n"});
  document.tags = {"tag"};
  document.last_row = 7;
  document.last_position = 8;
  save_document(write, document, 1000);
  Document empty = new_document(write, "empty", 1000);
  save_document(write, empty, 1000);
  Link link = link_of(end_of(first), end_of("Ada"), "mentions");
  link.valid_from = 10;
  link.valid_until = 20;
  link.quotes = {"small"};
  put_link(write, link, 1000);
  Link bare = link_of(end_of(first), end_of(first), "is");
  put_link(write, bare, 1000);
  const std::string block(4033, 'x');
  for (int kind = 32; kind <= 43; ++kind) {
    const IndexKey key(static_cast<Kind>(kind), 3, 258);
    write.put_index(key.kind(), key.view(), key.place(), block);
  }
  write.commit();
}

/// Everything that this release writes, at least once.
void write_everything(Vault& vault) {
  const auto bank = vault.open_bank(kGlobalBank);
  {
    BankWrite write = bank->write(vault.stamp());
    EntryDraft full = draft("full", "{\"a\":1}");
    full.form = ValueForm::json;
    full.tags = {"one", "two"};
    full.expires = 5'000'000;
    full.source = SourceKind::mcp;
    full.session = random_id();
    put_entry(write, std::nullopt, full, 20, 1000);
    put_operation(write, "local:mcp", "op-1",
                  {operation_payload(*bank, "request"), 1000, std::string(17, '\1')});
    AuditEvent denied = event_of("agent_recall");
    denied.permitted = false;
    denied.rule = "default-deny";
    denied.record = 1;
    denied.count = 3;
    denied.bytes = 12;
    denied.error = "not_found";
    write.log(denied);
    AuditEvent reads = event_of("agent_recall");
    reads.records = {{9, 2, 300}, {4, 1, 7}};
    write.log(reads);
    write.log(event_of("agent_remember"));
    write.mutable_head().erase_pending = {7, 9};
    write.commit();
  }
  write_memories(vault, *bank);
  for (const char* value : {"1", "2", "3"}) put(vault, "often", value, EntryClass::normal, 3);
  put(vault, "large", std::string(200'000, 'x'));
  put(vault, "credential", "secret value", EntryClass::secret);
  put(vault, "empty secret", "", EntryClass::secret);
  put(vault, "gone", "value");
  forget(vault, "gone");
  put(vault, "gone-secret", "was here", EntryClass::secret);
  forget(vault, "gone-secret");
  vault.create_bank("second", "github.com/acme/app", event_of("bank create"));
  vault.set_setting("scoping", "global", event_of("config set"));
}

struct Opened {
  Opened() {
    vault = test.open();
    write_everything(*vault);
    global = vault->open_bank(kGlobalBank);
    root_rows = rows_of(test.path() + "/root.mdb", true);
    bank_rows = rows_of(vault->bank_path(global->id()), false);
  }
  const std::string& root_row(Table table, std::uint64_t key) const {
    for (const RawRow& row : root_rows) {
      if (row.table == table && row.key == IntegerKey(key).view()) return row.value;
    }
    throw std::runtime_error("no such row");
  }
  TestVault test;
  std::unique_ptr<Vault> vault;
  std::shared_ptr<Bank> global;
  std::vector<RawRow> root_rows, bank_rows;
};

// Associated data of an envelope, from the table.
std::string envelope_aad(const crypto::Label& label, const Bank& bank, std::string_view row,
                         std::uint64_t record) {
  const Layout envelope("Envelope");
  return Layout("Associated data of an envelope").build([&](const std::string& part) {
    if (part == "label") return std::string(crypto::label_view(label));
    if (part == "vault id") return std::string(view(bank.vault_id()));
    if (part == "bank id") return std::string(view(bank.id()));
    if (part == "kind u8") return std::string(envelope.get(row, "kind"));
    if (part == "version u8") return std::string(envelope.get(row, "version"));
    if (part == "suite u8") return std::string(envelope.get(row, "suite"));
    if (part == "key version u32") return std::string(envelope.get(row, "key version"));
    if (begins(part, "record id u64")) return le(record);
    return std::string("?");
  });
}

// Opens nonce | ciphertext | tag of an envelope and checks length, floor and padding by the page.
std::string open_body(const crypto::SecretKey& key, const std::string& aad, std::string_view row,
                      std::size_t floor) {
  const Layout envelope("Envelope");
  const std::string sealed = std::string(envelope.get(row, "nonce")) +
                             std::string(envelope.get(row, "ciphertext")) +
                             std::string(envelope.get(row, "tag"));
  SecretBytes plain;
  REQUIRE(crypto::open(key, aad, sealed, plain));
  const auto length = load_le<std::uint32_t>(plain.view());
  REQUIRE(plain.size() == crypto::padme(std::max<std::size_t>(floor, 4 + std::size_t{length})));
  REQUIRE(plain.view().substr(4 + length).find_first_not_of('\0') == std::string_view::npos);
  return std::string(plain.view().substr(4, length));
}

}  // namespace

TEST_CASE("format.md: the labels are those of the code", "[docs][format]") {
  std::set<std::string> documented, used;
  for (const docs::Row& row : docs::table_below(page(), "Labels")) documented.insert(row[0]);
  for (const crypto::Label& label : crypto::labels::kAll) {
    used.insert(std::string(crypto::label_view(label).data()));
  }
  REQUIRE(documented == used);
}

TEST_CASE("format.md: the header file", "[docs][format]") {
  const TestVault test(false);
  const std::string bytes = slurp(test.path() + "/header");
  const Layout layout("Header file");
  REQUIRE(layout.total() == bytes.size());
  REQUIRE(layout.get(bytes, "magic") == std::string_view("\x89SRV\r\n\x1A\n", 8));
  const std::string magic(layout.get(bytes, "magic"));
  std::string spelled = "magic:";
  for (const char c : magic) {
    std::string digits = hex({&c, 1});
    for (char& digit : digits) digit = static_cast<char>(std::toupper(digit));
    spelled += " " + digits;
  }
  REQUIRE(docs::table_below(page(), "Header file")[0][2] == spelled);
  REQUIRE(layout.get(bytes, "format number") == le(std::uint32_t{1}));
  const Header header = decode_header(bytes);
  REQUIRE(layout.get(bytes, "vault id") == view(header.vault_id));
  REQUIRE(layout.get(bytes, "created") == le(header.created));
  for (const char* zero : {"must_open", "must_write", "may_ignore"}) {
    REQUIRE(layout.get(bytes, zero) == std::string(8, '\0'));
  }
  REQUIRE(layout.get(bytes, "checksum") ==
          crypto::view(crypto::hash32(crypto::labels::kHeader, {bytes.substr(0, 96)})));
}

TEST_CASE("format.md: files and modes", "[docs][format]") {
  const Opened opened;
  std::set<std::string> patterns;
  for (const docs::Row& row : docs::table_below(page(), "Files")) patterns.insert(row[0]);
  REQUIRE(patterns == std::set<std::string>{"`header`", "`root.mdb`",
                                            "`banks/<bank id in hex>.mdb`", "`*.mdb-lock`",
                                            "`*.mdb.guard`", "`reserve`"});
  const auto mode_of = [](const std::string& path) {
    struct stat info {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    return info.st_mode & 07777;
  };
  REQUIRE(mode_of(opened.test.path()) == 0700);
  REQUIRE(fs::exists(opened.vault->bank_path(opened.global->id())));
  REQUIRE(opened.vault->bank_path(opened.global->id()) ==
          opened.test.path() + "/banks/" + hex(view(opened.global->id())) + ".mdb");
  const auto ends = [](const std::string& name, std::string_view end) {
    return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
  };
  for (const auto& file : fs::recursive_directory_iterator(opened.test.path())) {
    if (file.is_directory()) {
      REQUIRE(file.path().filename() == "banks");
      continue;
    }
    const std::string name = file.path().filename().string();
    INFO(name);
    REQUIRE((name == "header" || name == "reserve" || ends(name, ".mdb") ||
             ends(name, ".mdb-lock") || ends(name, ".mdb.guard")));
    REQUIRE(mode_of(file.path().string()) == 0600);
  }
  REQUIRE(slurp(opened.test.path() + "/reserve").size() == (1u << 20));
}

TEST_CASE("format.md: tables, kinds and envelopes", "[docs][format]") {
  const Opened opened;
  std::map<std::string, std::string> numbers;
  for (const docs::Row& row : docs::table_below(page(), "Tables")) numbers[row[1]] = row[0];
  const std::map<std::string, Table> tables = {
      {"names", Table::names},   {"records", Table::records},
      {"chunks", Table::chunks}, {"recipients", Table::recipients},
      {"root", Table::root},     {"head", Table::head},
      {"log", Table::log},       {"index", Table::index}};
  REQUIRE(numbers.size() == tables.size());
  REQUIRE(tables.size() == static_cast<std::size_t>(kTableCount));
  for (const auto& [name, table] : tables) {
    REQUIRE(numbers[name] == std::to_string(static_cast<int>(table)));
  }

  std::map<int, std::string> kinds;
  for (const docs::Row& row : docs::table_below(page(), "Kinds")) kinds[std::stoi(row[0])] = row[2];
  const std::map<Kind, int> enumerated = {{Kind::entry, 1},
                                          {Kind::head, 2},
                                          {Kind::entry_tombstone, 3},
                                          {Kind::memory, 4},
                                          {Kind::document, 5},
                                          {Kind::memory_tombstone, 6},
                                          {Kind::link, 7},
                                          {Kind::operation, 8},
                                          {Kind::setting, 9},
                                          {Kind::bank, 10},
                                          {Kind::policy, 11},
                                          {Kind::entity, 12},
                                          {Kind::observation, 13},
                                          {Kind::bank_offer, 14},
                                          {Kind::index_manifest, 32},
                                          {Kind::index_tail, 33},
                                          {Kind::index_postings, 34},
                                          {Kind::index_directory, 35},
                                          {Kind::index_top, 36},
                                          {Kind::index_filter, 37},
                                          {Kind::index_attributes, 38},
                                          {Kind::index_times, 39},
                                          {Kind::index_live, 40},
                                          {Kind::index_names, 41},
                                          {Kind::index_codes, 42},
                                          {Kind::index_vectors, 43},
                                          {Kind::index_access, 44}};
  REQUIRE(kinds.size() == enumerated.size());
  for (const auto& [kind, number] : enumerated) {
    REQUIRE(static_cast<int>(kind) == number);
    REQUIRE(kinds.count(number) == 1);
  }

  const Layout envelope("Envelope");
  std::set<int> seen;
  const auto look = [&](std::string_view row) {
    REQUIRE(envelope.get(row, "version") == "\1");
    REQUIRE(envelope.get(row, "suite") == "\1");
    REQUIRE(envelope.get(row, "key version") == le(std::uint32_t{1}));
    REQUIRE(envelope.get(row, "nonce").size() == 24);
    REQUIRE(envelope.get(row, "tag").size() == 16);
    REQUIRE(row.size() >= kEnvelopeHeader + kRecordFloor + kEnvelopeTag);
    seen.insert(envelope.get(row, "kind")[0]);
  };
  for (const auto* rows : {&opened.root_rows, &opened.bank_rows}) {
    for (const RawRow& row : *rows) {
      if (row.table == Table::records || row.table == Table::head || row.table == Table::chunks ||
          row.table == Table::index) {
        look(row.value);
      }
    }
  }
  look(opened.root_row(Table::root, kPolicyKey));
  for (const auto& [kind, written] : kinds) {
    INFO("kind " << kind);
    REQUIRE((written == "reserved") != (seen.count(kind) == 1));
  }
  REQUIRE(page().find("smallest record takes " +
                      std::to_string(kEnvelopeHeader + kRecordFloor + kEnvelopeTag)) !=
          std::string::npos);
  REQUIRE(page().find("smallest head " + std::to_string(kEnvelopeHeader + kHeadFloor +
                                                        kEnvelopeTag)) != std::string::npos);
}

TEST_CASE("format.md: the root record and its recipients", "[docs][format]") {
  const Opened opened;
  const std::string& row = opened.root_row(Table::root, kRootKey);
  const VaultId& vault_id = opened.vault->header().vault_id;
  const Layout layout("Root record");
  const std::string_view bytes = layout.get(row, "body");
  REQUIRE(load_le<std::uint32_t>(layout.get(row, "body length")) == bytes.size());
  Body fields("Root body");
  fields.check(bytes);
  fields.finish();
  std::string message(crypto::label_view(crypto::labels::kSignRoot));
  message.append(view(vault_id)).append(row, 0, row.size() - 64);
  REQUIRE(crypto::verify_signature(crypto::view(opened.vault->root().admin_public_key), message,
                                   layout.get(row, "signature")));

  const Layout one("Recipient in the root");
  for (BodyReader reader(bytes); reader.next();) {
    if (reader.id() == 3) {
      REQUIRE(reader.bytes() == slurp(opened.test.path() + "/header").substr(96));
    }
    if (reader.id() == 11) {
      REQUIRE(reader.bytes().substr(8) ==
              crypto::view(crypto::hash32(crypto::labels::kPolicyHash,
                                          {opened.root_row(Table::root, kPolicyKey)})));
    }
    if (reader.id() != 13) continue;
    std::string_view in = reader.bytes();
    const std::uint64_t count = take_varint(in);
    REQUIRE(count == 2);
    REQUIRE(in.size() == count * one.total());
    for (; !in.empty(); in.remove_prefix(one.total())) {
      const std::string_view listed = in.substr(0, one.total());
      const auto at =
          std::find_if(opened.root_rows.begin(), opened.root_rows.end(), [&](const RawRow& r) {
            return r.table == Table::recipients && r.key == one.get(listed, "recipient id");
          });
      REQUIRE(at != opened.root_rows.end());
      REQUIRE(one.get(listed, "role") == at->value.substr(2, 1));
      REQUIRE(one.get(listed, "public key") == at->value.substr(168, 32));
      REQUIRE(one.get(listed, "expires") == std::string(8, '\0'));
    }
  }
}

TEST_CASE("format.md: recipient rows, slots and the owner's box", "[docs][format]") {
  const Opened opened;
  const VaultId& vault_id = opened.vault->header().vault_id;
  const Layout layout("Recipient row");
  const Layout slot_aad("Associated data of a slot");
  Body box_fields("Owner box");
  int owners = 0, admins = 0;
  for (const RawRow& raw : opened.root_rows) {
    if (raw.table != Table::recipients) continue;
    const std::string& row = raw.value;
    const bool admin = layout.get(row, "role") == "\3";
    ++(admin ? admins : owners);
    REQUIRE(layout.get(row, "method") == "\2");
    REQUIRE(layout.get(row, "admin public key") ==
            crypto::view(opened.vault->root().admin_public_key));
    const auto box_length = load_le<std::uint32_t>(layout.get(row, "box length"));
    REQUIRE(row.size() == 204 + std::size_t{box_length});
    REQUIRE((box_length == 0) == admin);

    // Key-encryption key, commitment and wrapping, by the page.
    const crypto::SecretKey kek =
        crypto::derive(opened.test.key, crypto::labels::kSlotFile, layout.get(row, "salt"));
    REQUIRE(layout.get(row, "commitment") ==
            crypto::derive(kek, crypto::labels::kSlotCommit, {}).view());
    const std::string aad = slot_aad.build([&](const std::string& part) {
      if (begins(part, "label")) return std::string(crypto::label_view(crypto::labels::kAadSlot));
      if (part == "vault id") return std::string(view(vault_id));
      if (part == "recipient id") return raw.key;
      if (begins(part, "bytes 0 to 63")) return row.substr(0, 64);
      if (begins(part, "bytes 168 to 199")) return row.substr(168, 32);
      return std::string("?");
    });
    SecretBytes secret;
    REQUIRE(crypto::open(crypto::derive(kek, crypto::labels::kSlotWrap, {}), aad,
                         row.substr(96, 24 + 48), secret));
    if (admin) {
      REQUIRE(crypto::view(crypto::sign_public_key(crypto::SecretKey::from_bytes(secret.view()))) ==
              layout.get(row, "public key of the recipient"));
      continue;
    }
    SecretBytes box;
    REQUIRE(crypto::box_open(crypto::SecretKey::from_bytes(secret.view()),
                             crypto::view(opened.vault->root().box_public_key),
                             layout.get(row, "box:"), box));
    box_fields.check(box.view());
  }
  box_fields.finish();
  REQUIRE(owners == 1);
  REQUIRE(admins == 1);
}

TEST_CASE("format.md: key-encryption keys of the other methods", "[docs][format]") {
  std::map<std::string, crypto::SlotMethod> methods;
  for (const docs::Row& row : docs::table_below(page(), "Key-encryption keys")) {
    methods[row[0]] = {};
  }
  methods.at("passphrase") = crypto::SlotMethod::passphrase;
  methods.at("key file") = crypto::SlotMethod::key_file;
  methods.at("both") = crypto::SlotMethod::both;
  methods.at("recovery code") = crypto::SlotMethod::code;
  REQUIRE(methods.size() == 4);
  const std::string layout_row = docs::table_below(page(), "Recipient row")[3][2];
  int number = 0;
  for (const char* name : {"passphrase", "key file", "both", "recovery code"}) {
    REQUIRE(static_cast<int>(methods.at(name)) == ++number);
    REQUIRE(layout_row.find(std::to_string(number) + " " + name) != std::string::npos);
  }
  // A code is the key that its symbols spell; tests/crypto has vectors of all four.
  const crypto::PassphraseCost cost;
  REQUIRE(cost.passes == 3);
  REQUIRE(cost.kib == 256 * 1024);
}

TEST_CASE("format.md: the policy row", "[docs][format]") {
  const Opened opened;
  BankRead root = opened.vault->bank0().read();
  const auto secret = get_setting(root, reserved::kPolicySecret);
  REQUIRE(secret);
  const std::string& row = opened.root_row(Table::root, kPolicyKey);
  const std::string aad = envelope_aad(crypto::labels::kAadPolicy, opened.vault->bank0(), row, 0);
  Body fields("Policy body");
  fields.check(open_body(crypto::SecretKey::from_bytes(secret->view()), aad, row, 256));
  fields.finish();
}

TEST_CASE("format.md: records, heads and names", "[docs][format]") {
  const Opened opened;
  // By kind and first field: two kinds have a second form.
  std::map<std::pair<int, std::uint32_t>, Body> bodies;
  bodies.emplace(std::pair(1, 1), "Entry");
  bodies.emplace(std::pair(3, 1), "Entry tombstone");
  bodies.emplace(std::pair(4, 1), "Memory");
  bodies.emplace(std::pair(5, 1), "Document");
  bodies.emplace(std::pair(5, 13), "Document page");
  bodies.emplace(std::pair(6, 2), "Memory tombstone");
  bodies.emplace(std::pair(7, 1), "Link");
  bodies.emplace(std::pair(7, 7), "Link page");
  bodies.emplace(std::pair(8, 1), "Operation");
  bodies.emplace(std::pair(9, 1), "Setting");
  bodies.emplace(std::pair(10, 1), "Bank");
  Body heads("Bank head");
  const Layout pair("Names");
  const Layout row_set("Row set");
  REQUIRE(pair.total() == kNamePairBytes);

  const auto look = [&](const Bank& bank, const std::vector<RawRow>& rows) {
    // The keys, by the page.
    std::set<std::uint64_t> ids;
    crypto::MultisetHash sum;
    std::uint64_t counted = 0;
    std::string head_body;
    for (const RawRow& row : rows) {
      const std::string prefix{static_cast<char>(row.table), static_cast<char>(row.key.size())};
      const bool sealed = row.table == Table::records || row.table == Table::chunks ||
                          row.table == Table::index ||
                          (row.table == Table::root && row.key == IntegerKey(1).view());
      if (row.table != Table::head && row.table != Table::log) {
        const std::string element =
            sealed ? row.value.substr(0, 31) + row.value.substr(row.value.size() - 16) : row.value;
        sum.add(bank.keys().set, {prefix, row.key, element});
        ++counted;
      }
      if (row.table == Table::records) {
        const auto id = load_le<std::uint64_t>(row.key);
        ids.insert(id);
        const std::string aad = envelope_aad(crypto::labels::kAadRecord, bank, row.value, id);
        const std::string body = open_body(bank.keys().records, aad, row.value, 256);
        const int kind = Layout("Envelope").get(row.value, "kind")[0];
        BodyReader reader(body);
        REQUIRE(reader.next());
        INFO("kind " << kind << ", first field " << reader.id());
        REQUIRE(bodies.count({kind, reader.id()}) == 1);
        bodies.at({kind, reader.id()}).check(body);
      } else if (row.table == Table::head) {
        const std::string aad = envelope_aad(crypto::labels::kAadHead, bank, row.value, 0);
        head_body = open_body(bank.keys().head, aad, row.value, 512);
        heads.check(head_body);
      }
    }
    for (BodyReader head(head_body); head.next();) {
      std::string_view in = head.bytes();
      if (head.id() == 5) {
        REQUIRE(take_varint(in) == 1);
        REQUIRE(in.size() == row_set.total());
        REQUIRE(row_set.get(in, "key version") == le(std::uint32_t{1}));
        REQUIRE(row_set.get(in, "rows") == le(counted));
        REQUIRE(row_set.get(in, "sum") == sum.bytes());
      } else if (head.id() == 3) {
        const std::uint64_t replicas = take_varint(in);
        REQUIRE(in.size() == replicas * 24);
      } else if (head.id() == 7) {
        REQUIRE(load_le<std::uint64_t>(in) > *ids.rbegin());
      }
    }
    for (const RawRow& row : rows) {
      if (row.table != Table::names) continue;
      REQUIRE(row.key.size() == 8);
      REQUIRE(row.value.size() % pair.total() == 0);
      REQUIRE(ids.count(load_le<std::uint64_t>(pair.get(row.value, "record id"))) == 1);
      REQUIRE(pair.get(row.value, "key version") == le(std::uint32_t{1}));
    }
  };
  look(opened.vault->bank0(), opened.root_rows);
  look(*opened.global, opened.bank_rows);
  for (const auto& [kind, body] : bodies) body.finish();
  heads.finish();
}

TEST_CASE("format.md: keys of a bank and the name hash", "[docs][format]") {
  const Opened opened;
  const auto bank_key = crypto::SecretKey::random();
  const Bank& bank = *opened.global;
  const BankKeys keys =
      BankKeys::make(bank.vault_id(), bank.id(), 1, bank_key, crypto::SecretKey());
  const std::string context =
      std::string(view(bank.vault_id())) + std::string(view(bank.id())) + le(std::uint32_t{1});
  const std::map<std::string, const crypto::SecretKey*> made = {
      {"K_names", &keys.names}, {"K_records", &keys.records}, {"K_chunks", &keys.chunks},
      {"K_index", &keys.index}, {"K_set", &keys.set},         {"K_head", &keys.head},
      {"K_log", &keys.log}};
  const auto table = docs::table_below(page(), "Keys of a bank");
  REQUIRE(table.size() == made.size());
  for (const docs::Row& row : table) {
    INFO(row[0]);
    REQUIRE(made.count(row[0]) == 1);
    REQUIRE(made.at(row[0])->view() ==
            crypto::derive(bank_key, crypto::make_label(row[1]), context).view());
  }
  const std::string hashed = std::string("\1\4", 2) + "full";
  REQUIRE(bank.name_hash(Kind::entry, "full") ==
          crypto::keyed_hash16(bank.keys().names, crypto::labels::kName, {hashed}));
}

TEST_CASE("format.md: what a name leads to", "[docs][format]") {
  const Opened opened;
  BankRead root = opened.vault->bank0().read();
  BankRead bank = opened.global->read();
  std::string operation;
  append_varint(operation, 9);
  operation += "local:mcpop-1";
  const std::string tag = opened.vault->find_bank("second")->tag;
  // The one memory that was revised, and the one that was forgotten.
  SecretBytes opened_row;
  std::vector<RecordId> revised, forgotten;
  for (const RawRow& row : opened.bank_rows) {
    if (row.table != Table::records) continue;
    const auto id = load_le<RecordId>(row.key);
    const Kind kind = bank.open(id, opened_row).kind;
    if (kind == Kind::memory) revised.push_back(open_memory(bank, id, opened_row).first);
    if (kind == Kind::memory_tombstone) {
      forgotten.push_back(open_memory_tombstone(bank, id, opened_row).first);
    }
  }
  REQUIRE((!revised.empty() && forgotten.size() == 1));
  const std::string memory = std::to_string(revised.front());
  const std::string from = "m:" + memory;
  const std::string link =
      std::string("l:") + static_cast<char>(from.size()) + from + "\5e:Ada" + "\x08mentions";
  struct Lookup {
    std::string kind;
    BankRead& where;
    Kind in_hash;
    std::string name;
    Kind record;
  };
  const Lookup lookups[] = {
      {"entry", bank, Kind::entry, "full", Kind::entry},
      {"entry", bank, Kind::entry, "gone", Kind::entry_tombstone},
      {"memory", bank, Kind::memory, memory, Kind::memory},
      {"memory", bank, Kind::memory, std::to_string(forgotten.front()), Kind::memory_tombstone},
      {"document", bank, Kind::document, "notes", Kind::document},
      {"link", bank, Kind::link, from, Kind::link},
      {"link", bank, Kind::link, "e:Ada", Kind::link},
      {"link", bank, Kind::link, link, Kind::link},
      {"operation", bank, Kind::operation, operation, Kind::operation},
      {"setting", root, Kind::setting, "scoping", Kind::setting},
      {"setting", root, Kind::setting, "!box", Kind::setting},
      {"bank", root, Kind::bank, "second", Kind::bank},
      {"bank", root, Kind::bank, "\x01" + tag, Kind::bank},
  };
  std::set<std::string> looked_up, documented;
  SecretBytes plain;
  for (const Lookup& lookup : lookups) {
    INFO(lookup.kind << " " << lookup.name);
    const auto id = lookup.where.find(lookup.in_hash, lookup.name);
    REQUIRE(id);
    REQUIRE(lookup.where.open(*id, plain).kind == lookup.record);
    looked_up.insert(lookup.kind);
  }
  for (const docs::Row& row : docs::table_below(page(), "What a name leads to")) {
    documented.insert(row[0]);
  }
  REQUIRE(documented == looked_up);
}

TEST_CASE("format.md: index blocks", "[docs][format]") {
  const Opened opened;
  std::set<int> kinds;
  for (const RawRow& row : opened.bank_rows) {
    if (row.table != Table::index) continue;
    const Layout envelope("Envelope");
    const int kind = envelope.get(row.value, "kind")[0];
    REQUIRE(row.key.substr(1) == std::string("\0\0\0\3\0\0\1\2", 8));
    REQUIRE(row.key[0] == kind);
    REQUIRE(row.value.size() == 4080);
    const std::uint64_t place = (std::uint64_t{3} << 32) + 258;
    const std::string aad =
        envelope_aad(crypto::labels::kAadIndex, *opened.global, row.value, place);
    SecretBytes plain;
    REQUIRE(crypto::open(opened.global->keys().index, aad, row.value.substr(7), plain));
    REQUIRE(plain.view() == std::string(4033, 'x'));
    kinds.insert(kind);
  }
  REQUIRE(kinds.size() == 12);
}

// ---- the index of a bank in which memories were retained

/// Values in a row without a count, as a table "value | form | meaning" lists them.
class Values {
 public:
  explicit Values(const std::string& heading) : heading_(heading) {
    for (const docs::Row& row : docs::table_below(page(), heading)) {
      REQUIRE(row.size() == 3);
      forms_.emplace_back(row[0], row[1]);
    }
  }
  struct Taken {
    std::map<std::string, std::uint64_t> numbers;
    std::vector<std::uint64_t> list;              // of the form varints
    std::map<std::string, std::uint64_t> nested;  // of the form segment
    std::string text;                             // of the form text
  };
  Taken take(std::string_view& in) const {
    Taken taken;
    for (const auto& [name, form] : forms_) {
      INFO(heading_ << ": " << name);
      if (form == "u8") {
        taken.numbers[name] = load_le<std::uint8_t>(in);
        in.remove_prefix(1);
      } else if (form == "u64") {
        taken.numbers[name] = load_le<std::uint64_t>(in);
        in.remove_prefix(8);
      } else if (form == "varint") {
        taken.numbers[name] = take_varint(in);
      } else if (form == "varints") {
        for (std::uint64_t n = take_varint(in); n > 0; --n) taken.list.push_back(take_varint(in));
      } else if (form == "text") {
        taken.text = in.substr(0, take_varint(in));
        in.remove_prefix(taken.text.size());
      } else {
        REQUIRE(form == "segment");
        taken.nested = Values("Segment in the manifest").take(in).numbers;
      }
    }
    return taken;
  }

 private:
  std::string heading_;
  std::vector<std::pair<std::string, std::string>> forms_;
};

using Numbers = std::map<std::string, std::uint64_t>;

/// Some word of seven letters, another one for each number.
std::string word_of(std::uint32_t n) {
  std::string word;
  for (unsigned i = 0; i < 7; ++i, n /= 23) word += static_cast<char>('b' + (n + 5 * i) % 23);
  return word;
}

std::vector<service::RetainItem> items_of(std::uint32_t& next, std::size_t items,
                                          std::size_t words) {
  std::vector<service::RetainItem> made(items);
  for (service::RetainItem& item : made) {
    for (std::size_t i = 0; i < words; ++i) item.content += word_of(next++) + " ";
  }
  return made;
}

/// A bank with segments (one of them so large that it has a top), a merge that runs, a tail, rows
/// that were closed and forgotten in both, tags and speakers.
class IndexBytes {
 public:
  IndexBytes() {
    const auto service = home.mcp();
    std::uint32_t next = 1;
    std::string closed, gone;
    const auto keep = [&](std::vector<service::RetainItem> items) {
      service::RetainRequest request;
      request.items = std::move(items);
      return service->retain(request).items.front().id;
    };
    const auto edit = [&](service::EditOp op, const std::string& id) {
      service::EditRequest request;
      request.op = op;
      request.id = id;
      service->edit_memory(request);
    };
    keep(items_of(next, 1100, 100));
    for (int i = 0; i < 8; ++i) {
      std::vector<service::RetainItem> items = items_of(next, 241, 20);
      items[0].content = marked;
      items[0].content += std::to_string(i);
      items[0].tags = {"two", "one"};
      items[0].speaker = "Ada " + std::to_string(i % 2);
      items[0].document_id = "talk";
      items[0].append = true;
      items[0].importance = 1;
      items[0].expires_at = 4'000'000'000'000;
      items[0].occurred_start = 1'000'000;
      const std::string id = keep(std::move(items));
      if (i == 1) edit(service::EditOp::invalidate, id);
      if (i == 2) edit(service::EditOp::forget, id);
    }
    std::vector<service::RetainItem> last = items_of(next, 100, 20);
    last[0].tags = {"three"};
    keep(std::move(last));
    edit(service::EditOp::invalidate, keep(items_of(next, 1, 5)));
    edit(service::EditOp::forget, keep(items_of(next, 1, 5)));
    service->close();

    VaultOptions options;
    options.path = home.vault_path();
    options.session = random_id();
    service::KeySource key;
    key.keyfile = home.keyfile();
    Unlocker unlocker = service::make_unlocker(key);
    vault = Vault::open(options, unlocker);
    bank = vault->open_bank(kGlobalBank);
    for (const RawRow& row : rows_of(vault->bank_path(bank->id()), false)) {
      if (row.table == Table::index) open(row);
    }
    const std::string& plain = at(32, 0, 0);
    const auto length = load_le<std::uint32_t>(plain);
    REQUIRE(plain.size() == crypto::padme(std::max<std::size_t>(1024, 4 + std::size_t{length})));
    REQUIRE(plain.find_first_not_of('\0', 4 + length) == std::string::npos);
    manifest_body = plain.substr(4, length);
    manifest = recall::decode_manifest(manifest_body);
  }

  const std::string& at(int kind, std::uint32_t segment, std::uint64_t number) const {
    INFO("kind " << kind << ", segment " << segment << ", number " << number);
    const auto found = blocks.find({kind, segment, number});
    REQUIRE(found != blocks.end());
    return found->second;
  }
  /// The field of the manifest with this id.
  std::string field(std::uint32_t id) const {
    for (BodyReader body(manifest_body); body.next();) {
      if (body.id() == id) return std::string(body.bytes());
    }
    throw std::runtime_error("no such field");
  }
  recall::Row tail_start() const { return manifest.tail_start; }

  static constexpr const char* marked = "A marked memory of the orchard, number ";
  service::TestHome home;
  std::unique_ptr<Vault> vault;
  std::shared_ptr<Bank> bank;
  std::map<std::tuple<int, std::uint32_t, std::uint64_t>, std::string> blocks;
  std::string manifest_body;
  recall::Manifest manifest;

 private:
  void open(const RawRow& row) {
    REQUIRE(row.key.size() == 9);
    const auto big = [&](std::size_t from) {
      std::uint64_t n = 0;
      for (std::size_t i = from; i < from + 4; ++i) {
        n = n << 8 | static_cast<unsigned char>(row.key[i]);
      }
      return n;
    };
    const std::uint64_t segment = big(1), number = big(5);
    SecretBytes plain;
    REQUIRE(crypto::open(
        bank->keys().index,
        envelope_aad(crypto::labels::kAadIndex, *bank, row.value, (segment << 32) + number),
        row.value.substr(7), plain));
    blocks[{row.key[0], static_cast<std::uint32_t>(segment), number}] = plain.view();
  }
};

const IndexBytes& index_bytes() {
  static const IndexBytes bytes;
  return bytes;
}

std::uint64_t term_hash(const char* label, std::string_view text) {
  return crypto::TermHash(index_bytes().bank->keys().index, crypto::make_label(label))(text);
}

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// Bands of the memory of a row, by the page; its text is ASCII.
std::set<std::uint64_t> sketch_of(BankRead& read, const recall::RowAttributes& attributes) {
  SecretBytes plain;
  const std::string text = recall::normalized(open_memory(read, attributes.record, plain).text);
  std::vector<std::string> words(1);
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (letter) words.back().push_back(c);
    if (!letter && !words.back().empty()) words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  std::set<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string &v = words[i - 1], &w = words[i];
    if (v[0] >= 'a' && w[0] >= 'a' && v.size() + w.size() <= 7) continue;
    pairs.emplace(v, w);
  }
  std::set<std::uint64_t> bands;
  if (pairs.size() < 4 || attributes.document != 0) return bands;
  for (std::uint64_t band = 1; band <= 3; ++band) {
    std::uint64_t least = ~std::uint64_t{0};
    for (const auto& [v, w] : pairs) {
      const std::uint64_t pair = (term_hash("sr1.k.sketch", v) + band) * 0x9E3779B97F4A7C15u +
                                 term_hash("sr1.k.sketch", w);
      least = std::min(least, mix(pair));
    }
    bands.insert((std::uint64_t{3} << 62) + (mix(least) >> 2));
  }
  return bands;
}

bool bit_of(std::string_view bytes, std::size_t bit) {
  return (static_cast<unsigned char>(bytes[bit / 8]) >> (bit % 8) & 1) != 0;
}

/// An entry of a posting block, by the page.
struct IndexEntry {
  std::uint64_t term = 0;
  std::vector<std::pair<std::uint64_t, unsigned>> postings;  // row and code
  std::string word;
};
std::vector<IndexEntry> entries_of(const std::string& block) {
  const Layout layout("Postings");
  const auto used = load_le<std::uint16_t>(layout.get(block, "bytes used"));
  REQUIRE(block.find_first_not_of('\0', used) == std::string::npos);
  std::vector<IndexEntry> entries;
  const auto byte = [](std::string_view& in) {
    const auto b = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    return b;
  };
  for (std::string_view in = std::string_view(block).substr(2, used - 2u); !in.empty();) {
    IndexEntry& entry = entries.emplace_back();
    entry.term = load_le<std::uint64_t>(in);
    in.remove_prefix(8);
    const std::uint64_t count = take_varint(in);
    if (entry.term >> 62 == 2) {
      entry.word = in.substr(0, count);
      in.remove_prefix(count);
      continue;
    }
    std::uint64_t row = take_varint(in);
    entry.postings.emplace_back(row, byte(in));
    const std::size_t length = count > 1 ? take_varint(in) : 0;
    const std::size_t left = in.size();
    while (entry.postings.size() < count) {
      row += take_varint(in);
      entry.postings.emplace_back(row, byte(in));
    }
    REQUIRE(left - in.size() == length);
  }
  return entries;
}

TEST_CASE("format.md: numbers of the index", "[docs][format][index]") {
  Numbers numbers;
  for (const docs::Row& row : docs::table_below(page(), "Numbers of the index")) {
    numbers[row[1]] = std::stoul(row[0]);
  }
  const Numbers used = {
      {"plain bytes of a block", recall::kBlockBytes},
      {"rows in the tail at most, when a transaction has ended", recall::kTailRows},
      {"entries in a block of a directory or its top", recall::kDirectoryEntries},
      {"lines in a block of a filter", recall::kFilterLinesPerBlock},
      {"bits of a filter for each row", recall::kFilterBitsPerRow},
      {"cells in a block of attributes", recall::kAttributeRows},
      {"cells in a block of times", recall::kTimeRows},
      {"rows in a block of live bits", recall::kLiveRows},
      {"cells in a block of vector codes at most", recall::code_rows(16)},
      {"a number of dimensions is a multiple of it", recall::kDimensionStep},
      {"dimensions at most", recall::kMaxDimensions},
      {"bytes of the name of a model at most", recall::kMaxModelId},
      {"changed blocks that the manifest names at most", recall::kChangedBlocks},
      {"bytes of a term or word at most; a longer one is cut", recall::kMaxTermBytes}};
  REQUIRE(numbers == used);

  std::vector<std::uint32_t> words;
  for (const docs::Row& row : docs::table_below(page(), "Length classes")) {
    REQUIRE(std::stoul(row[0]) == words.size());
    std::string_view in = row[1];
    for (;;) {
      words.push_back(static_cast<std::uint32_t>(std::stoul(std::string(in))));
      const std::size_t comma = in.find(',');
      if (comma == std::string_view::npos) break;
      in.remove_prefix(comma + 2);
    }
  }
  REQUIRE(words.size() == 32);
  for (unsigned c = 0; c < 32; ++c) {
    REQUIRE(recall::class_words(c) == words[c]);
    REQUIRE(recall::length_class_of(words[c]) == c);
  }
  REQUIRE(recall::length_class_of(9) == 7);  // between 8 and 10
}

TEST_CASE("format.md: blocks of the index", "[docs][format][index]") {
  const IndexBytes& index = index_bytes();
  std::map<int, docs::Row> documented;
  for (const docs::Row& row : docs::table_below(page(), "Blocks of the index")) {
    documented[std::stoi(row[0])] = row;
  }
  std::set<int> seen;
  std::set<std::uint32_t> segments;
  for (const auto& segment : index.manifest.segments) segments.insert(segment.id);
  for (const auto& merge : index.manifest.merges) segments.insert(merge.output.id);
  for (const auto& garbage : index.manifest.garbage) segments.insert(garbage.segment.id);
  for (const auto& [key, plain] : index.blocks) {
    const auto& [kind, segment, number] = key;
    INFO("kind " << kind << ", segment " << segment << ", number " << number);
    REQUIRE(documented.count(kind) == 1);
    const docs::Row& row = documented[kind];
    seen.insert(kind);
    if (begins(row[3], "Padme of ")) {
      const std::size_t floor = std::stoul(row[3].substr(9));
      REQUIRE(plain.size() == crypto::padme(std::max<std::size_t>(
                                  floor, 4 + std::size_t{load_le<std::uint32_t>(plain)})));
    } else {
      REQUIRE(std::to_string(plain.size()) == row[3]);
    }
    if (row[1] == "0") REQUIRE(segment == 0);
    if (row[1] == "the segment") REQUIRE(segments.count(segment) == 1);
    if (begins(row[1], "1 tag sets")) REQUIRE((segment == 1 || segment == 2));
    const std::uint64_t last = index.manifest.tail_start - 1;
    if (row[2] == "0") REQUIRE(number == 0);
    if (row[2] == "the row") REQUIRE((number > last && number < index.manifest.next_row));
    if (row[2] == "row / 120") REQUIRE(number <= last / 120);
    if (row[2] == "row / 60") REQUIRE(number <= last / 60);
    if (row[2] == "row / 16,128") REQUIRE(number <= last / 16128);
    if (row[1] == "the set of vectors") {
      REQUIRE(segment == index.manifest.vector_sets.at(0).number);
      REQUIRE(number <= last / (kind == 42 ? 120 : 4033 / (256 + 4)));
    }
  }
  REQUIRE(seen.size() == documented.size());
  REQUIRE(page().find("row of 4,080") != std::string::npos);
}

TEST_CASE("format.md: the manifest of the index", "[docs][format][index]") {
  const IndexBytes& index = index_bytes();
  const recall::Manifest& m = index.manifest;
  Body fields("Manifest");
  fields.check(index.manifest_body);
  fields.finish();

  const std::string counts = index.field(3);
  std::string_view in = counts;
  const Numbers documented = Values("Counts in the manifest").take(in).numbers;
  REQUIRE(in.empty());
  REQUIRE(documented == Numbers{{"next row", m.next_row},
                                {"first row of the tail", m.tail_start},
                                {"live rows", m.live_rows},
                                {"live length", m.live_length},
                                {"dead rows", m.dead_rows},
                                {"next segment", m.next_segment}});
  REQUIRE(m.dead_rows == 2);
  REQUIRE(m.live_rows == m.next_row - 1u - 4);

  const auto numbers_of = [](const recall::SegmentInfo& s) {
    return Numbers{{"tier", s.tier},
                   {"id", s.id},
                   {"first", s.first},
                   {"last", s.last},
                   {"posting blocks", s.posting_blocks},
                   {"directory blocks", s.directory_blocks},
                   {"top blocks", s.top_blocks},
                   {"filter blocks", s.filter_blocks},
                   {"filter lines", s.filter_lines},
                   {"hidden", s.hidden},
                   {"dead", s.dead}};
  };
  const std::string segments = index.field(5);
  in = segments;
  REQUIRE(take_varint(in) == m.segments.size());
  REQUIRE(m.segments.size() == 9);
  std::uint64_t next = 1, hidden = 0, dead = 0;
  for (const recall::SegmentInfo& segment : m.segments) {
    const Numbers numbers = Values("Segment in the manifest").take(in).numbers;
    REQUIRE(numbers == numbers_of(segment));
    REQUIRE(numbers.at("first") == next);
    next = numbers.at("last") + 1;
    hidden += numbers.at("hidden");
    dead += numbers.at("dead");
    for (const auto& [kind, name] : {std::pair(34, "posting blocks"),
                                     {35, "directory blocks"},
                                     {36, "top blocks"},
                                     {37, "filter blocks"}}) {
      for (std::uint64_t n = 0; n < numbers.at(name); ++n) index.at(kind, segment.id, n);
      REQUIRE(index.blocks.count({kind, segment.id, numbers.at(name)}) == 0);
    }
  }
  REQUIRE(in.empty());
  REQUIRE(next == m.tail_start);
  REQUIRE((hidden == 2 && dead == 1));

  // The merge: its last written posting is where the next step goes on.
  const std::string merges = index.field(7);
  in = merges;
  REQUIRE(take_varint(in) == 1);
  const Values::Taken merge = Values("Merge in the manifest").take(in);
  REQUIRE(in.empty());
  REQUIRE(merge.list.size() == 8);
  REQUIRE(merge.numbers.at("tier") == merge.nested.at("tier"));
  REQUIRE(merge.numbers.at("dead at start") == 1);
  const auto output = static_cast<std::uint32_t>(merge.nested.at("id"));
  const auto blocks = merge.nested.at("posting blocks");
  REQUIRE(blocks > 0);
  const std::vector<IndexEntry> written = entries_of(index.at(34, output, blocks - 1));
  REQUIRE(written.back().term == merge.numbers.at("term"));
  REQUIRE(written.back().postings.back().first == merge.numbers.at("row"));
  REQUIRE(index.blocks.count({34, output, blocks}) == 0);
  const std::string& directory = index.at(35, output, 0);
  for (std::uint64_t n = 0; n < blocks; ++n) {
    REQUIRE(load_le<std::uint64_t>(directory, n * 8) ==
            entries_of(index.at(34, output, n)).front().term);
  }
  for (const std::uint64_t input : merge.list) {
    REQUIRE(std::any_of(m.segments.begin(), m.segments.end(),
                        [&](const recall::SegmentInfo& s) { return s.id == input; }));
  }

  const std::string garbage = index.field(9);
  REQUIRE(garbage == std::string(1, '\0'));
  const std::string changed = index.field(14);
  in = changed;
  const std::uint64_t count = take_varint(in);
  REQUIRE((count > 0 && count <= 192));
  std::uint64_t before = ~std::uint64_t{0};
  std::set<int> kinds;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto key = load_le<std::uint64_t>(in);
    in.remove_prefix(8);
    const std::uint64_t ago = take_varint(in);
    REQUIRE(ago <= before);
    before = ago;
    const int kind = static_cast<int>(key >> 58) + 31;
    kinds.insert(kind);
    const auto segment = static_cast<std::uint32_t>(key >> 32 & 0x3FFFFFF);
    REQUIRE(segment == (kind > 41 ? 1 : 0));
    const std::uint64_t number = key & 0xFFFFFFFF;
    if (kind != 33 || number >= m.tail_start) index.at(kind, segment, number);
  }
  REQUIRE(in.empty());
  REQUIRE(kinds == std::set<int>{33, 38, 39, 40, 42, 43});

  const std::string vectors = index.field(18);
  in = vectors;
  REQUIRE(take_varint(in) == 2);
  REQUIRE(take_varint(in) == 1);
  const Values::Taken set = Values("Set of vectors in the manifest").take(in);
  REQUIRE(in.empty());
  const auto model = recall::make_builtin_embedder();
  REQUIRE(set.numbers ==
          Numbers{{"number", 1}, {"dimensions", model->dimensions()}, {"filled", m.next_row}});
  REQUIRE(set.text == model->model_id());
}

TEST_CASE("format.md: vectors of the index", "[docs][format][index]") {
  const IndexBytes& index = index_bytes();
  const Layout layout("Vectors");
  const auto model = recall::make_builtin_embedder();
  const std::size_t d = model->dimensions();
  REQUIRE(d == 256);
  const std::size_t rows = 4033 / (d + 4), codes = std::min<std::size_t>(120, 4033 / (d / 8));
  recall::Index cache(*index.bank, {});
  BankRead read = index.bank->read();
  recall::IndexView view(cache, read);
  // What the page says of a row's vector, made once more.
  recall::Embedding embedding;
  SecretBytes plain;
  int spoken = 0, in_columns = 0, in_tail = 0;
  // Empty for a row without a vector.
  const auto expected = [&](recall::Row row) -> std::string {
    const recall::RowAttributes a = view.attributes(row);
    if (a.dead) return {};
    const Memory memory = open_memory(read, a.record, plain);
    const auto passages = recall::split_passages(memory.text);
    std::string text(
        memory.text.substr(passages.at(a.passage).offset, passages.at(a.passage).size));
    if (!memory.speaker.empty()) {
      text = std::string(memory.speaker) + ": " + text;
      ++spoken;
    }
    if (!model->embed(text, recall::Side::passage, embedding)) return {};
    return std::string(embedding.bytes.view()) + le(embedding.scale);
  };
  for (recall::Row row = 1; row < index.tail_start(); ++row) {
    INFO("row " << row);
    std::string cell = expected(row);
    in_columns += cell.empty() ? 0 : 1;
    cell.resize(d + 4);
    const std::string_view stored =
        std::string_view(index.at(43, 1, row / rows)).substr(row % rows * (d + 4), d + 4);
    REQUIRE(layout.get(stored, "components") == cell.substr(0, d));
    REQUIRE(layout.get(stored, "scale") == cell.substr(d));
    const std::string_view code =
        std::string_view(index.at(42, 1, row / codes)).substr(row % codes * (d / 8), d / 8);
    const std::vector<std::int64_t> turned = recall::turned(cell.substr(0, d));
    for (std::size_t i = 0; i < d; ++i) {
      if (bit_of(code, i) != (turned[i] > 0)) FAIL("component " << i);
    }
  }
  for (recall::Row row = index.tail_start(); row < index.manifest.next_row; ++row) {
    INFO("row " << row);
    const std::string& tail = index.at(33, 0, row);
    const std::string_view body =
        std::string_view(tail).substr(0, 4 + load_le<std::uint32_t>(tail));
    const std::string cell = expected(row);
    const std::string end = cell.empty() ? std::string(1, '\0') : "\1\1\x84\2" + cell;
    REQUIRE(body.substr(body.size() - end.size()) == end);
    in_tail += cell.empty() ? 0 : 1;
  }
  REQUIRE(spoken == 7);
  REQUIRE(in_columns > 1000);
  REQUIRE(in_tail > 50);
}

TEST_CASE("format.md: terms, postings, directories and filters", "[docs][format][index]") {
  const IndexBytes& index = index_bytes();
  recall::Analyzer analyzer;
  REQUIRE(docs::table_below(page(), "Term numbers").size() == 4);
  const std::uint64_t stem = term_hash("sr1.k.term", analyzer.stem("orchard")) >> 2;
  const std::uint64_t word = (std::uint64_t{2} << 62) +
                             ((term_hash("sr1.k.prefix", "or") >> 50) << 48) +
                             (term_hash("sr1.k.word", "orchard") >> 16);
  std::set<std::uint64_t> prints;
  for (int i = 0; i < 8; ++i) {
    const std::string text = recall::normalized(index.marked + std::to_string(i));
    prints.insert((std::uint64_t{1} << 62) + (term_hash("sr1.k.print", text) >> 2));
  }
  std::set<std::uint64_t> rows;
  std::size_t words = 0, fingerprints = 0, bands = 0;
  bool has_top = false;
  for (const recall::SegmentInfo& segment : index.manifest.segments) {
    std::uint64_t last = 0;
    for (std::uint32_t n = 0; n < segment.posting_blocks; ++n) {
      const std::vector<IndexEntry> entries = entries_of(index.at(34, segment.id, n));
      const std::string& directory = index.at(35, segment.id, n / 504);
      REQUIRE(load_le<std::uint64_t>(directory, n % 504 * 8) == entries.front().term);
      if (n % 504 == 0 && segment.directory_blocks > 1) {
        has_top = true;
        REQUIRE(load_le<std::uint64_t>(index.at(36, segment.id, 0), n / 504 * 8) ==
                entries.front().term);
      }
      for (const IndexEntry& entry : entries) {
        REQUIRE(entry.term >= last);
        last = entry.term;
        if (entry.term >> 62 == 3) ++bands;
        if (entry.term == stem) {
          for (const auto& [row, code] : entry.postings) {
            REQUIRE(code >> 5 == 0);
            rows.insert(row);
          }
        }
        if (entry.term == word) {
          REQUIRE(entry.word == "orchard");
          ++words;
        }
        if (entry.term >> 62 != 1 && entry.term >> 62 != 3) continue;
        fingerprints += prints.count(entry.term);
        const std::uint64_t line = ((entry.term << 2) >> 32) * segment.filter_lines >> 32;
        const std::string& filter = index.at(37, segment.id, line / 63);
        std::uint64_t bits = entry.term * 0x9E3779B97F4A7C15u;
        bits ^= bits >> 29;
        for (int probe = 0; probe < 6; ++probe, bits >>= 9) {
          REQUIRE(bit_of(std::string_view(filter).substr(line % 63 * 64, 64), bits & 511));
        }
      }
    }
    const std::uint64_t all = segment.last - segment.first + 1;
    REQUIRE(segment.filter_lines == std::max<std::uint64_t>(1, (40 * all + 511) / 512));
    REQUIRE(segment.top_blocks == (segment.directory_blocks > 1 ? 1u : 0u));
  }
  // One of them is forgotten, and no merge has left it out yet.
  REQUIRE(rows.size() == 8);
  REQUIRE(words == 8);
  REQUIRE(fingerprints == 8);
  REQUIRE(bands > 1000);
  REQUIRE(has_top);
}

TEST_CASE("format.md: columns and tail of the index", "[docs][format][index]") {
  const IndexBytes& index = index_bytes();
  const Layout attributes("Attributes"), times("Times"), bits("Live bits"), tail("Tail");
  REQUIRE(attributes.total() == recall::kAttributeBytes);
  REQUIRE(times.total() == recall::kTimeBytes);
  REQUIRE(bits.total() == recall::kBlockBytes);
  recall::Index cache(*index.bank, {});
  BankRead read = index.bank->read();
  recall::IndexView view(cache, read);
  // Little-endian, of any width.
  const auto number = [](std::string_view bytes) {
    std::uint64_t n = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) n = n << 8 | static_cast<unsigned char>(bytes[i]);
    return n;
  };
  int closed = 0, dead = 0, marked = 0, sketched = 0;
  const auto check_cell = [&](std::string_view cell, const recall::RowAttributes& a) {
    const auto part = [&](const char* name) { return number(attributes.get(cell, name)); };
    REQUIRE(part("record id") == a.record);
    REQUIRE(part("number of the document") == a.document);
    REQUIRE(part("row before it") == a.previous);
    REQUIRE(part("row behind it") == a.next);
    REQUIRE(part("tag set") == a.tag_set);
    REQUIRE(part("speaker") == a.speaker);
    REQUIRE(part("type") == (static_cast<unsigned>(a.type) | static_cast<unsigned>(a.trust) << 2));
    REQUIRE(part("flags") == ((a.closed ? 1u : 0u) | (a.dead ? 2u : 0u) | (a.timed ? 4u : 0u) |
                              (a.dated ? 8u : 0u)));
    REQUIRE(part("which passage") == a.passage);
    REQUIRE(part("importance") == a.importance);
    REQUIRE(part("length class") == a.length_class);
    REQUIRE(part("hours from 1970") == a.created_hours);
    if (a.closed && !a.dead) ++closed;
    if (a.dead) {
      ++dead;
      REQUIRE(cell == std::string(24, '\0') + "\4\3" + std::string(6, '\0'));
    }
  };
  const auto check_times = [&](std::string_view cell, const recall::RowAttributes& a,
                               const recall::RowTimes& t) {
    const auto part = [&](const char* name) { return load_le<TimeMs>(times.get(cell, name)); };
    REQUIRE(part("believed from") == t.believed_from);
    REQUIRE(part("believed until") == t.believed_until);
    REQUIRE(part("occurred from") == t.occurred_start);
    REQUIRE(part("occurred until") == t.occurred_end);
    REQUIRE(part("mentioned") == t.mentioned);
    REQUIRE(part("expires") == t.expires);
    REQUIRE(times.get(cell, "zero") == std::string(16, '\0'));
    REQUIRE((part("believed until") == INT64_MAX) == !a.closed);
    if (a.dead) REQUIRE(part("believed until") == 0);
    if (!a.dated) REQUIRE((part("occurred from") == INT64_MIN && t.expires == INT64_MAX));
  };
  for (recall::Row row = 1; row < index.tail_start(); ++row) {
    INFO("row " << row);
    const recall::RowAttributes a = view.attributes(row);
    check_cell(std::string_view(index.at(38, 0, row / 120)).substr(row % 120 * 32, 32), a);
    check_times(std::string_view(index.at(39, 0, row / 60)).substr(row % 60 * 64, 64), a,
                view.times(row));
    const std::string& block = index.at(40, 0, row / 16128);
    REQUIRE(bit_of(bits.get(block, "live"), row % 16128) == !a.closed);
    REQUIRE(bit_of(bits.get(block, "timed"), row % 16128) == a.timed);
    if (a.tag_set != 0) {
      ++marked;
      REQUIRE((a.importance == 255 && a.timed && a.dated && a.document != 0));
      REQUIRE(view.times(row).occurred_start == 1'000'000);
      REQUIRE(view.times(row).expires == 4'000'000'000'000);
    }
  }
  REQUIRE(marked == 7);
  REQUIRE((closed == 1 && dead == 1));

  for (recall::Row row = index.tail_start(); row < index.manifest.next_row; ++row) {
    INFO("row " << row);
    const std::string& plain = index.at(33, 0, row);
    const auto length = load_le<std::uint32_t>(tail.get(plain, "length"));
    REQUIRE(plain.find_first_not_of('\0', 4 + length) == std::string::npos);
    const recall::RowAttributes a = view.attributes(row);
    check_cell(tail.get(plain, "cell of attributes"), a);
    check_times(tail.get(plain, "cell of times"), a, view.times(row));
    std::string_view in = std::string_view(plain).substr(0, 4 + length);
    in.remove_prefix(100);
    std::uint64_t last = 0, fingerprints = 0;
    std::set<std::uint64_t> bands;
    const std::uint64_t terms = take_varint(in);
    for (std::uint64_t n = 0; n < terms; ++n) {
      const auto term = load_le<std::uint64_t>(in);
      REQUIRE(term > last);
      last = term;
      if (term >> 62 == 1) ++fingerprints;
      if (term >> 62 == 3) bands.insert(term);
      REQUIRE((static_cast<unsigned char>(in[8]) & 31) == a.length_class);
      in.remove_prefix(9);
    }
    const std::uint64_t words = take_varint(in);
    for (std::uint64_t n = 0; n < words; ++n) in.remove_prefix(take_varint(in));
    for (std::uint64_t n = take_varint(in); n > 0; --n) {
      REQUIRE(!a.dead);
      REQUIRE(take_varint(in) == 1);
      in.remove_prefix(take_varint(in));
    }
    REQUIRE(in.empty());
    REQUIRE(fingerprints == (a.dead ? 0u : 1u));
    REQUIRE(bands == (a.dead ? std::set<std::uint64_t>() : sketch_of(read, a)));
    sketched += bands.empty() ? 0 : 1;
    REQUIRE((terms == 0) == a.dead);
    REQUIRE((words == 0) == a.dead);
  }
  REQUIRE((closed == 2 && dead == 2));
  REQUIRE(sketched == 101);
}

TEST_CASE("format.md: interned names of the index", "[docs][format][index]") {
  const IndexBytes& index = index_bytes();
  const auto items = [&](std::uint32_t field, std::uint32_t segment) {
    const std::string info = index.field(field);
    std::string_view in = info;
    const std::uint64_t count = take_varint(in), bytes = take_varint(in);
    REQUIRE(in.empty());
    std::string stream;
    for (std::uint64_t n = 0; n * 4033 < bytes; ++n) stream += index.at(41, segment, n);
    std::vector<std::string> found;
    in = std::string_view(stream).substr(0, bytes);
    while (!in.empty()) {
      const std::uint64_t size = take_varint(in);
      found.emplace_back(in.substr(0, size));
      in.remove_prefix(size);
    }
    REQUIRE(found.size() == count);
    return found;
  };
  REQUIRE(docs::table_below(page(), "Interned names").size() == 2);
  REQUIRE(items(11, 1) == std::vector<std::string>{"\3one\3two", "\5three"});
  REQUIRE(items(13, 2) == std::vector<std::string>{"Ada 0", "Ada 1"});
}

TEST_CASE("format.md: parts of a document and ends of a link", "[docs][format]") {
  const Opened opened;
  BankRead read = opened.global->read();
  SecretBytes plain;
  const auto id = read.find(Kind::document, "notes");
  REQUIRE(id);
  for (BodyReader body(read.open(*id, plain).body); body.next();) {
    if (body.id() != 9) continue;
    std::string_view in = body.bytes();
    for (int part = 0; part < 2; ++part) {
      REQUIRE(take_varint(in) > 0);
      REQUIRE(take_varint(in) == 1);
      REQUIRE(in.substr(0, 1) == "\n");
      in.remove_prefix(1);
    }
    REQUIRE(in.empty());
  }
  const auto page = read.find(Kind::link, "e:Ada");
  REQUIRE(page);
  BodyReader body(read.open(*page, plain).body);
  REQUIRE((body.next() && body.id() == 7 && body.bytes() == "e:Ada"));
}

TEST_CASE("format.md: chunks", "[docs][format]") {
  const Opened opened;
  const Bank& bank = *opened.global;
  BankRead read = bank.read();
  const Layout layout("Associated data of a chunk");
  for (const char* name : {"large", "credential", "empty secret"}) {
    SecretBytes plain;
    const auto found = find_entry(read, name, plain);
    const Entry& entry = *found->entry;
    const bool secret = entry.entry_class == EntryClass::secret;
    const std::uint64_t chunks = std::max<std::uint64_t>(1, (entry.bytes + 65472) / 65473);
    const crypto::SecretKey key = crypto::derive(secret ? bank.keys().secret : bank.keys().chunks,
                                                 crypto::labels::kChunk, view(entry.content_id));
    std::string value;
    for (std::uint32_t index = 0; index < chunks; ++index) {
      std::string chunk_key(view(entry.content_id));
      for (int shift = 24; shift >= 0; shift -= 8) {
        chunk_key.push_back(static_cast<char>(index >> shift));
      }
      const auto at = std::find_if(
          opened.bank_rows.begin(), opened.bank_rows.end(),
          [&](const RawRow& r) { return r.table == Table::chunks && r.key == chunk_key; });
      REQUIRE(at != opened.bank_rows.end());
      const bool last = index + 1 == chunks;
      const std::string aad = layout.build([&](const std::string& part) {
        if (begins(part, "associated data of an envelope")) {
          return envelope_aad(crypto::labels::kAadChunk, bank, at->value, entry.id);
        }
        if (part == "content id") return std::string(view(entry.content_id));
        if (part == "index u32") return le(index);
        return std::string(1, last ? '\1' : '\0');
      });
      SecretBytes part;
      REQUIRE(crypto::open(key, aad, at->value.substr(7), part));
      const std::uint64_t left = entry.bytes - std::uint64_t{index} * 65473;
      REQUIRE(part.size() ==
              (last ? std::min<std::size_t>(
                          65473, crypto::padme(std::max<std::size_t>(256, std::size_t{left})))
                    : 65473));
      if (!last) REQUIRE(at->value.size() == 65520);
      value.append(part.view());
    }
    value.resize(static_cast<std::size_t>(entry.bytes));
    REQUIRE(entry.content_hash ==
            crypto::view(crypto::hash32(crypto::labels::kContentHash, {value})));
  }
}

TEST_CASE("format.md: a checkpoint of the log", "[docs][format]") {
  Opened opened;
  const Id16 vault_id = opened.vault->header().vault_id;
  crypto::Hash32 before{};
  std::uint64_t sequence = 0, rows = 0;
  {
    Unlocker unlocker;
    unlocker.secrets = opened.test.owner_secrets();
    const crypto::SecretKey admin = opened.vault->unlock_admin(unlocker);
    BankWrite write = opened.global->write(opened.vault->stamp());
    before = write.head().log_chain;
    sequence = write.head().log_next;
    rows = write.txn().rows(Table::log);
    prune_log(write, admin, 77);
    write.commit();
  }
  const Layout layout("Log");
  const auto raw_rows = rows_of(opened.vault->bank_path(opened.global->id()), false);
  const auto raw = std::find_if(raw_rows.begin(), raw_rows.end(),
                                [](const RawRow& one) { return one.table == Table::log; });
  REQUIRE(raw != raw_rows.end());
  const std::string& row = raw->value;
  REQUIRE(raw->key == le(sequence));
  REQUIRE(row.size() == 24 + 32 + 8 + 8 + 64);
  REQUIRE(layout.get(row, "kind") == "\3");
  REQUIRE(layout.get(row, "step") == std::string(4, '\0'));
  REQUIRE(layout.get(row, "session id") == std::string(16, '\0'));
  REQUIRE(row.substr(24, 32) == crypto::view(before));
  REQUIRE(row.substr(56, 8) == le(rows));
  REQUIRE(row.substr(64, 8) == le(std::uint64_t{77}));
  std::string message(crypto::label_view(crypto::labels::kAadLog));
  message.append(view(vault_id)).append(view(opened.global->id()));
  message.append(le(sequence)).append(row.substr(0, 72));
  REQUIRE(crypto::verify_signature(crypto::view(opened.vault->root().admin_public_key), message,
                                   row.substr(72)));
}

TEST_CASE("format.md: the log", "[docs][format]") {
  const Opened opened;
  const crypto::SecretKey audit = opened.vault->audit_secret();
  const Layout layout("Log");
  const Layout aad_layout("Associated data of an event");
  Body events("Event");
  const auto look = [&](const Bank& bank, const std::vector<RawRow>& rows) {
    crypto::Hash32 chain{};
    std::uint64_t sequence = 1;
    std::map<std::string, std::pair<crypto::SecretKey, std::uint32_t>> sessions;
    for (const RawRow& raw : rows) {
      if (raw.table != Table::log) continue;
      const std::string& row = raw.value;
      REQUIRE(raw.key == le(sequence));
      REQUIRE(layout.get(row, "version") == "\1");
      REQUIRE(layout.get(row, "suite") == "\1");
      const auto step = load_le<std::uint32_t>(layout.get(row, "step"));
      const std::string id(layout.get(row, "session id"));
      if (layout.get(row, "kind") == "\1") {
        REQUIRE(row.size() == 24 + 80);
        SecretBytes key;
        REQUIRE(crypto::sealed_box_open(audit, layout.get(row, "session: sealed box"), key));
        sessions[id] = {crypto::SecretKey::from_bytes(key.view()), step};
      } else {
        REQUIRE(layout.get(row, "kind") == "\2");
        auto& [key, at] = sessions.at(id);
        for (; at < step; ++at) key = crypto::derive(key, crypto::labels::kLogNext, {});
        const std::string aad = aad_layout.build([&](const std::string& part) {
          if (begins(part, "label")) {
            return std::string(crypto::label_view(crypto::labels::kAadLog));
          }
          if (part == "vault id") return std::string(view(bank.vault_id()));
          if (part == "bank id") return std::string(view(bank.id()));
          if (begins(part, "bytes 0 to 23")) return row.substr(0, 24);
          if (part == "sequence u64") return le(sequence);
          return std::string(crypto::view(chain));
        });
        SecretBytes plain;
        REQUIRE(crypto::open(crypto::derive(key, crypto::labels::kLogKey, {}), aad,
                             layout.get(row, "session: sealed box"), plain));
        const auto length = load_le<std::uint32_t>(plain.view());
        REQUIRE(plain.size() == crypto::padme(std::max<std::size_t>(64, 4 + std::size_t{length})));
        events.check(plain.view().substr(4, length));
        for (BodyReader event(plain.view().substr(4, length)); event.next();) {
          // The two records above, ascending: the first id, then the distance to it.
          if (event.id() == 18) {
            REQUIRE(event.bytes() == std::string("\x02\x04\x01\x07\x05\x02\xAC\x02", 8));
          }
        }
      }
      chain = crypto::keyed_hash32(bank.keys().log, crypto::labels::kLogChain,
                                   {crypto::view(chain), le(sequence), row});
      ++sequence;
    }
    BankRead read = bank.read();
    REQUIRE(read.head().log_next == sequence);
    REQUIRE(read.head().log_chain == chain);
  };
  look(opened.vault->bank0(), opened.root_rows);
  look(*opened.global, opened.bank_rows);
  events.finish();
}

TEST_CASE("format.md: anchor and guard", "[docs][format]") {
  const Opened opened;
  const VaultId& vault_id = opened.vault->header().vault_id;
  const std::string path = opened.test.dir / ("state/strongroom/anchors/" + hex(view(vault_id)));
  const std::string bytes = slurp(path);
  REQUIRE(fs::exists(path + ".lock"));
  const Layout layout("Anchor");
  REQUIRE(layout.get(bytes, "replica id") == view(opened.vault->anchor().replica()));
  REQUIRE(layout.get(bytes, "newest root version") == le(std::uint64_t{1}));
  REQUIRE(layout.get(bytes, "checksum") ==
          crypto::view(crypto::hash32(crypto::labels::kAnchor,
                                      {view(vault_id), bytes.substr(0, bytes.size() - 32)})));
  std::string_view in = layout.get(bytes, "varint count");
  REQUIRE(take_varint(in) == 3);  // bank 0, global, second
  while (!in.empty()) {
    const std::string id(in.substr(0, 16));
    in.remove_prefix(16);
    const std::uint64_t replicas = take_varint(in);
    REQUIRE(replicas == 1);
    in.remove_prefix(replicas * 24 + 16);
  }

  const std::string guard = slurp(guard_path(opened.test.path() + "/root.mdb"));
  REQUIRE(guard_path("x.mdb") == "x.mdb.guard");
  REQUIRE(begins(guard, "pidns "));
  REQUIRE(guard.find(" boot ") != std::string::npos);
  REQUIRE(guard.back() == '\n');
}
