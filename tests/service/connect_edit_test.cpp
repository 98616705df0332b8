// Codex's TOML, and the promise that nothing but our entry changes, in any file.
#include "service/connect_edit.h"

#include <array>
#include <random>

#include <nlohmann/json.hpp>

#include "tests/service/connect_home.h"

using namespace strongroom;
using namespace strongroom::service;
using Tree = nlohmann::ordered_json;

TEST_CASE("connect: Codex, a table at the end", "[connect]") {
  const std::string ours =
      "[mcp_servers.strongroom]\ncommand = \"/usr/bin/strongroom\"\nargs = [\"mcp\"]\n\n"
      "[mcp_servers.strongroom.env]\nSTRONGROOM_VAULT = \"/v\"\n";
  CHECK(codex_connected("") == ours);
  CHECK(codex_connected("model = \"x\"\n") == "model = \"x\"\n\n" + ours);
  CHECK(codex_connected("model = \"x\"") == "model = \"x\"\n\n" + ours);
  CHECK(codex_connected("model = \"x\"\n\n") == "model = \"x\"\n\n" + ours);
  CHECK(codex_connected("[mcp_servers]\n[mcp_servers.a]\ncommand = 'a' # b\n") ==
        "[mcp_servers]\n[mcp_servers.a]\ncommand = 'a' # b\n\n" + ours);
  const std::string text =
      "# top\nnote = \"\"\"\n[mcp_servers.strongroom]\ncommand = \\\"\"\"\"\"\nlist = [ # c ]\n  "
      "\"]\", ']',\n"
      "]\nwhen = 1979-05-27 07:32:00 # t\n[projects.\"/home/a.b\"]\ntrust = true\n[[x]]\ny = { a = "
      "\"}\" }\n"
      "z = '''\n[mcp_servers.strongroom]'''\n";
  CHECK(codex_connected(text) == text + "\n" + ours);
}

TEST_CASE("connect: Codex keeps CRLF", "[connect]") {
  const std::string after = codex_connected("a = 1\r\nb = 2\r\n");
  CHECK(after.rfind("a = 1\r\nb = 2\r\n\r\n[mcp_servers.strongroom]\r\n", 0) == 0);
  for (std::size_t at = 0; (at = after.find('\n', at)) != std::string::npos; ++at) {
    CHECK(after[at - 1] == '\r');
  }
}

TEST_CASE("connect: Codex, replacing and removing within a file", "[connect]") {
  const Home home;
  const ConnectSettings settings = home.settings();
  const std::string file = ".codex/config.toml";
  home.write(file, R"(model = "x"

[ mcp_servers . "strongroom" ] # ours
command = "/old"
bearer_token = "hidden"
args = ["mcp",
  "--old"]
[mcp_servers.strongroom.env]
STRONGROOM_VAULT = '/old'
SECRET = "hidden"

# about the next
[mcp_servers.other]
command = "other"

[mcp_servers.strongroom.tools]
x = 1
)");
  const ConnectPlan plan = plan_connect("codex", settings);
  CHECK(plan.action == Action::replace);
  const std::string shown = joined(plan.summary);
  CHECK_THAT(shown, Catch::Contains("- command = \"/old\"") &&
                        Catch::Contains("- env.STRONGROOM_VAULT = '/old'") &&
                        Catch::Contains("- env.SECRET = ...") && !Catch::Contains("hidden"));
  apply(plan);
  CHECK(home.read(file) == R"(model = "x"

[mcp_servers.strongroom]
command = "/usr/bin/strongroom"
args = ["mcp"]

# about the next
[mcp_servers.other]
command = "other"
)");
  std::string bytes = home.read(file);
  bytes.insert(bytes.find("\n\n# about"), "\nstartup_timeout_sec = 20");
  home.write(file, bytes);
  CHECK(plan_connect("codex", settings).action == Action::none);
  apply(plan_undo("codex", settings));
  CHECK(home.read(file) == R"(model = "x"

# about the next
[mcp_servers.other]
command = "other"
)");
}

TEST_CASE("connect: Codex, what cannot be edited safely is refused", "[connect]") {
  const Home home;
  const ConnectSettings settings = home.settings();
  for (const char* bytes : {"mcp_servers = {}\n",
                            "mcp_servers.a.command = \"x\"\n",
                            "mcp_servers.strongroom.command = \"x\"\n",
                            "[mcp_servers]\nstrongroom = {command = \"x\"}\n",
                            "[mcp_servers]\n\"strongroom\".command = 'x'\n",
                            "[[mcp_servers]]\n",
                            "[[mcp_servers.strongroom]]\n",
                            "[mcp_servers.\"strong\\u0072oom\"]\n",
                            "a = \"open\n",
                            "a = [1\n",
                            "a = ]\n",
                            "[a\n",
                            "a\n",
                            "a =\n",
                            "= 1\n",
                            "a = '''\n",
                            "a = 1\rb = 2\n",
                            "[a] b = 1\n",
                            "a = \"x\" y\n",
                            "\xff = 1\n",
                            "[a.]\n",
                            "a = \"\\",
                            "a = \"\"\"\\"}) {
    INFO(bytes);
    home.write(".codex/config.toml", bytes);
    CHECK(code_of([&] { plan_connect("codex", settings); }) == Code::invalid);
    CHECK(home.read(".codex/config.toml") == bytes);
  }
  home.write(".codex/config.toml", "mcp_servers.strongroom.command = \"x\"\n");
  CHECK(code_of([&] { plan_undo("codex", settings); }) == Code::invalid);
  home.write(".codex/config.toml", "mcp_servers = { other = {} }\n");
  CHECK(plan_undo("codex", settings).action == Action::none);
}

TEST_CASE("connect: TOML quoting", "[connect]") {
  const Home home;
  ConnectSettings settings = home.settings();
  settings.vault = "/a \"b\"\\c\t\x7f/ü";
  CHECK_THAT(connect_snippet("codex", settings),
             Catch::Contains("STRONGROOM_VAULT = \"/a \\\"b\\\"\\\\c\\u0009\\u007F/ü\"\n"));
}

namespace {

Tree random_tree(std::mt19937& random, int depth) {
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  static const std::array<const char*, 8> kNames = {
      "a", "mcpServers", "strongroom", "}{\"", "\xc3\xbc\n", "", "servers", "\\"};
  if (depth == 0 || pick(3) == 0) {
    switch (pick(4)) {
      case 0:
        return Tree(kNames[pick(8)]);
      case 1:
        return Tree(1.5 * pick(100));
      case 2:
        return Tree(nullptr);
      default:
        return Tree(pick(2) == 0);
    }
  }
  Tree tree = pick(3) == 0 ? Tree::array() : Tree::object();
  for (unsigned i = pick(5); i > 0; --i) {
    if (tree.is_array()) {
      tree.push_back(random_tree(random, depth - 1));
    } else {
      tree[kNames[pick(8)]] = random_tree(random, depth - 1);
    }
  }
  return tree;
}

/// The tree as text with random white space between the tokens, or as a program would write it.
std::string random_text(const Tree& tree, std::mt19937& random) {
  switch (random() % 4) {
    case 0:
      return tree.dump();
    case 1:
      return tree.dump(2);
    case 2:
      return tree.dump(1, '\t') + "\n";
    default:
      break;
  }
  static const std::array<const char*, 6> kSpaces = {"", " ", "\n", "\r\n", "\t", "\n    "};
  std::string out;
  bool in_string = false;
  for (const char c : tree.dump()) {
    const bool token = !in_string && std::string_view("{}[],:").find(c) != std::string_view::npos;
    if (token) out += kSpaces[random() % kSpaces.size()];
    out += c;
    if (token) out += kSpaces[random() % kSpaces.size()];
    std::size_t slashes = 0;
    while (slashes + 1 < out.size() && out[out.size() - 2 - slashes] == '\\') ++slashes;
    if (c == '"' && (!in_string || slashes % 2 == 0)) in_string = !in_string;
  }
  return out;
}

}  // namespace

TEST_CASE("connect: only our member changes, in any file", "[connect]") {
  using namespace connect_edit;
  std::mt19937 random(20261121);
  Entry entry;
  entry.command = "/usr/bin/strongroom";
  entry.args = {"mcp"};
  entry.env = {{"STRONGROOM_VAULT", "/v"}};
  int edited = 0;
  for (int round = 0; round < 4000; ++round) {
    Tree before = random_tree(random, 4);
    if (!before.is_object()) before = Tree::object();
    if (before.contains("mcpServers") && !before["mcpServers"].is_object()) {
      before["mcpServers"] = Tree::object();
    }
    const std::string text = random_text(before, random);
    const Edit put = put_json(text, "mcpServers", entry, "x");
    INFO(text << "\n----\n" << put.text);
    Tree after = Tree::parse(put.text);
    CHECK(after["mcpServers"]["strongroom"]["args"] == Tree::array({"mcp"}));
    CHECK(put_json(put.text, "mcpServers", entry, "x").kind == Edit::Kind::same);

    const Edit removed = remove_json(put.text, "mcpServers", "x");
    CHECK(removed.kind == Edit::Kind::removed);
    Tree expected = before;
    if (expected.contains("mcpServers")) expected["mcpServers"].erase("strongroom");
    Tree rest = Tree::parse(removed.text);
    after["mcpServers"].erase("strongroom");
    CHECK(rest == after);
    if (!before.contains("mcpServers")) after.erase("mcpServers");
    CHECK(after == expected);

    if (put.kind != Edit::Kind::added) continue;
    // An addition into an object that was not empty is taken back exactly, without any backup.
    ++edited;
    if (before.contains("mcpServers") && !before["mcpServers"].empty()) {
      CHECK(removed.text == text);
    }
  }
  CHECK(edited > 1000);
}

TEST_CASE("connect: damaged files are refused or edited, never worse", "[connect]") {
  using namespace connect_edit;
  std::mt19937 random(5);
  Entry entry;
  entry.command = "c";
  const std::string json =
      "{\n  \"a\": [1, \"\\u00fc\"],\n  \"mcpServers\": {\"strongroom\": {\"command\": \"x\"}, "
      "\"b\": {}}\n}\n";
  const std::string toml =
      "a = \"\"\"x\"\"\"\n[mcp_servers.strongroom]\nb = ['\"', {c = 1}]\n\n[mcp_servers.d]\ne = 1 "
      "# f\n";
  const std::string bytes = "{}[]\",:\\'\n\r #=.ab";
  for (int round = 0; round < 20000; ++round) {
    std::string text = round % 2 == 0 ? json : toml;
    for (unsigned i = 0; i <= random() % 3; ++i) {
      text[random() % text.size()] = bytes[random() % bytes.size()];
    }
    if (round % 7 == 0) text.resize(random() % text.size());
    try {
      if (round % 2 == 0) {
        const std::string after = put_json(text, "mcpServers", entry, "x").text;
        CHECK(Tree::accept(after));
        remove_json(text, "mcpServers", "x");
      } else {
        const std::string after = put_toml(text, entry, "x").text;
        const Edit again = put_toml(after, entry, "x");
        const Edit removed = remove_toml(after, "x");
        CHECK(again.kind == Edit::Kind::same);
        CHECK(removed.kind == Edit::Kind::removed);
      }
    } catch (const Error& error) {
      CHECK(error.code() == Code::invalid);
    }
  }
}
