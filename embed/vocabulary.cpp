#include "embed/vocabulary.h"

#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "base/utf8.h"
#include "embed/tensor.h"
#include "vault/format.h"

namespace strongroom::embed {

namespace {

BertVocabulary make(const std::vector<std::string_view>& tokens, std::string_view file,
                    std::string_view unknown) {
  if (tokens.empty() || tokens.size() > recall::kMaxVocabulary) {
    refuse(Code::invalid, file, "has no token or too many");
  }
  BertVocabulary out;
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  for (const std::string_view token : tokens) {
    const auto number = static_cast<std::uint32_t>(numbers.size());
    const std::string at = "token " + std::to_string(number);
    if (token.empty()) refuse(Code::invalid, file, "has an empty " + at);
    if (!valid_utf8(token)) refuse(Code::invalid, file, at + " is not UTF-8");
    if (!numbers.emplace(token, number).second) {
      refuse(Code::invalid, file, at + " is there twice");
    }
    vault::append_le(out.offsets, static_cast<std::uint32_t>(out.text.size()));
    out.text += token;
  }
  vault::append_le(out.offsets, static_cast<std::uint32_t>(out.text.size()));
  out.size = tokens.size();
  const auto find = [&](std::string_view token) {
    const auto at = numbers.find(token);
    if (at == numbers.end()) {
      refuse(Code::invalid, file, "lacks the token " + escape_for_display(token));
    }
    return at->second;
  };
  out.unknown = find(unknown);
  out.start = find("[CLS]");
  out.end = find("[SEP]");
  return out;
}

// A member that must have the one value that BERT's tokeniser knows, or may be absent.
void require(const Json& object, std::string_view member, std::string_view wanted,
             std::string_view file) {
  const Json* const value = object.find(member);
  if (value == nullptr || value->is_null()) return;
  const bool same = value->is_string() ? value->as_string() == wanted : value->raw() == wanted;
  if (!same) {
    refuse(Code::unsupported, file,
           "is no WordPiece tokeniser of BERT: " + std::string(member) + " is not " +
               std::string(wanted));
  }
}

const Json& part(const Json& root, std::string_view name, std::string_view type,
                 std::string_view file) {
  const Json* const value = root.find(name);
  if (value == nullptr || !value->is_object() || value->find("type") == nullptr) {
    refuse(Code::unsupported, file,
           "is no WordPiece tokeniser of BERT: it has no " + std::string(name));
  }
  require(*value, "type", type, file);
  return *value;
}

// The tokens in the order of their numbers, which must be 0, 1, 2 and so on.
std::vector<std::string_view> in_order(const Json& vocabulary, std::string_view file) {
  std::vector<std::string_view> tokens(vocabulary.members().size());
  for (const Json::Member& member : vocabulary.members()) {
    const auto number = member.value.as_int();
    if (!number || *number < 0 || static_cast<std::uint64_t>(*number) >= tokens.size()) {
      refuse(Code::invalid, file, "has a token whose number is out of range");
    }
    std::string_view& place = tokens[static_cast<std::size_t>(*number)];
    if (!place.empty()) {
      refuse(Code::invalid, file, "has two tokens of the number " + std::to_string(*number));
    }
    place = member.name;
  }
  return tokens;
}

}  // namespace

BertVocabulary read_vocab_txt(std::string_view bytes, std::string_view file) {
  std::vector<std::string_view> tokens;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    tokens.push_back(line);
  }
  return make(tokens, file, "[UNK]");
}

BertVocabulary read_tokenizer_json(std::string_view bytes, std::string_view file) {
  const Json root = Json::parse(bytes, file);
  const Json& model = part(root, "model", "WordPiece", file);
  const Json& normaliser = part(root, "normalizer", "BertNormalizer", file);
  part(root, "pre_tokenizer", "BertPreTokenizer", file);
  require(model, "continuing_subword_prefix", "##", file);
  require(model, "max_input_chars_per_word", "100", file);
  require(normaliser, "clean_text", "true", file);
  require(normaliser, "handle_chinese_chars", "true", file);
  const Json* const lower = normaliser.find("lowercase");
  const bool lower_case = lower == nullptr || lower->as_bool();
  require(normaliser, "strip_accents", lower_case ? "true" : "false", file);
  const Json* const vocabulary = model.find("vocab");
  if (vocabulary == nullptr || !vocabulary->is_object()) {
    refuse(Code::invalid, file, "has no vocab");
  }
  const Json* const unknown = model.find("unk_token");
  BertVocabulary out =
      make(in_order(*vocabulary, file), file,
           unknown != nullptr && unknown->is_string() ? unknown->as_string() : "[UNK]");
  out.lower_case = lower_case;
  return out;
}

}  // namespace strongroom::embed
