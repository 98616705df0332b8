#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "service/state.h"

namespace strongroom::service {

const std::vector<vault::EntryLine>& MemoryService::State::lines(
    const std::shared_ptr<vault::Bank>& bank) {
  vault::BankRead view = bank->read();
  CachedList& cached = lists[bank->id()];
  // The head changes with every log record as well; the sum over its rows only when a row does.
  const std::vector<vault::BankHead::RowSet>& rows = view.head().sets;
  if (!cached.valid || cached.rows != rows) {
    cached.lines = vault::list_entries(view);
    cached.rows = rows;
    cached.valid = true;
  }
  return cached.lines;
}

namespace {

// A cursor is the last key of a page, in hex, behind a version letter.
std::string encode_cursor(std::string_view key) {
  return "k" + vault::hex(key);
}

std::string decode_cursor(const std::string& cursor) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string key;
  bool valid =
      cursor.size() % 2 == 1 && cursor.front() == 'k' && cursor.size() <= 2 * kMaxKeyBytes + 1;
  for (std::size_t i = 1; valid && i < cursor.size(); i += 2) {
    const int high = digit(cursor[i]), low = digit(cursor[i + 1]);
    valid = high >= 0 && low >= 0;
    key.push_back(static_cast<char>(high << 4 | low));
  }
  if (!valid) throw Error::invalid("cursor", "is not one that an earlier page gave");
  return key;
}

struct Source {
  const std::vector<vault::EntryLine>* lines;
  std::string bank;
  std::size_t at = 0;
};

}  // namespace

ListResult MemoryService::list(const ListRequest& request) {
  if (!valid_utf8(request.prefix)) throw Error::invalid("prefix", "is not valid UTF-8");
  if (request.limit > kMaxListLimit) throw Error::invalid("limit", "must be from 1 to 1000");
  const std::string after = request.cursor.empty() ? std::string() : decode_cursor(request.cursor);
  State& state = *state_;
  return state.call(tool::kRecall, [&]() -> ListResult {
    const Banks banks = state.resolve(request.bank);
    ListResult result;
    result.place = {banks.write, banks.notes};

    bool narrowed = false;
    std::vector<Source> sources;
    for (std::size_t i = 0; i < banks.read.size(); ++i) {
      const std::string& name = banks.read[i];
      const policy::Decision scope = state.policy.decide_scope(state.request(tool::kRecall, name));
      if (!scope.permitted) {
        if (i == 0) state.deny(name, tool::kRecall, scope);
        result.place.notes.push_back("The bank " + json_quoted(name) + " may not be read here.");
        continue;
      }
      const auto bank = state.open(name);
      if (!bank) {
        if (!banks.may_create) state.throw_unknown_bank(name);
        continue;
      }
      sources.push_back({&state.lines(bank), name});
      state.log_read(bank, tool::kRecall, scope.rule, 0, 0);
      // Said whenever the policy could leave a name out: were it said only when it does, the note
      // would tell which names exist.
      narrowed = narrowed || state.policy.narrows_listing(state.request(tool::kRecall, name));
    }

    bool anything = false;
    const auto visible = [&](const vault::EntryLine& line, const std::string& bank) {
      if (line.expires && *line.expires <= state.last_call) return false;
      if (line.entry_class == vault::EntryClass::secret && !request.include_secret) return false;
      policy::Request asked = state.request(tool::kRecall, bank);
      asked.key = line.name;
      asked.tags = {line.tags.begin(), line.tags.end()};
      asked.value_class = line.entry_class == vault::EntryClass::secret
                              ? policy::ValueClass::secret
                              : policy::ValueClass::normal;
      return state.policy.permits(asked);
    };

    const auto by_name = [](const vault::EntryLine& line, std::string_view name) {
      return std::string_view(line.name) < name;
    };
    for (Source& source : sources) {
      const auto& lines = *source.lines;
      auto at = std::lower_bound(lines.begin(), lines.end(), request.prefix, by_name);
      if (!after.empty()) {
        const auto behind = std::upper_bound(
            lines.begin(), lines.end(), std::string_view(after),
            [](std::string_view name, const vault::EntryLine& line) { return name < line.name; });
        at = std::max(at, behind);
      }
      source.at = static_cast<std::size_t>(at - lines.begin());
    }

    std::uint64_t to_skip = request.offset;
    for (;;) {
      // The smallest next name; the earlier bank wins where both have it.
      Source* next = nullptr;
      for (Source& source : sources) {
        if (source.at == source.lines->size()) continue;
        const std::string& name = (*source.lines)[source.at].name;
        if (name.compare(0, request.prefix.size(), request.prefix) != 0) continue;
        if (next == nullptr || name < (*next->lines)[next->at].name) next = &source;
      }
      if (next == nullptr) break;
      const vault::EntryLine& line = (*next->lines)[next->at];
      const bool expired = line.expires && *line.expires <= state.last_call;
      for (Source& source : sources) {
        // What has expired hides nothing: it is absent, as in recall().
        if (!expired && &source != next && source.at < source.lines->size() &&
            (*source.lines)[source.at].name == line.name) {
          ++source.at;
        }
      }
      ++next->at;
      if (!visible(line, next->bank)) continue;
      anything = true;
      if (to_skip > 0) {
        --to_skip;
        continue;
      }
      if (request.limit != 0 && result.entries.size() == request.limit) {
        result.cursor = encode_cursor(result.entries.back().key);
        break;
      }
      result.entries.push_back({line.name, line.revision, line.updated, line.expires, line.tags,
                                line.bytes, static_cast<EntryClass>(line.entry_class), next->bank});
    }

    if (!anything) {
      // "Nothing here" and "nothing under this prefix" are different answers.
      for (const Source& source : sources) {
        for (const vault::EntryLine& line : *source.lines) {
          if (anything) break;
          anything = visible(line, source.bank);
        }
      }
      result.bank_empty = !anything;
    }
    if (narrowed) {
      result.place.notes.push_back("The policy may leave names out of this list.");
    }
    return result;
  });
}

}  // namespace strongroom::service
