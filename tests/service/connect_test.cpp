// `strongroom connect`: whole files before and after, and what is refused.
#include "service/connect.h"

#include <nlohmann/json.hpp>

#include "tests/service/connect_home.h"

using namespace strongroom;
using namespace strongroom::service;
using Tree = nlohmann::ordered_json;

TEST_CASE("connect: clients and their files", "[connect]") {
  const Home home;
  ConnectSettings settings = home.settings();
  CHECK(client_names() == std::vector<std::string>{"claude-code", "claude-desktop", "cursor",
                                                   "vscode", "codex", "gemini"});
  const auto path = [&](const char* client) { return connect_path(client, settings); };
  CHECK(path("claude-code") == home.path(".claude.json"));
  CHECK(path("claude") == home.path(".claude.json"));
  CHECK(path("cursor") == home.path(".cursor/mcp.json"));
  CHECK(path("codex") == home.path(".codex/config.toml"));
  CHECK(path("gemini") == home.path(".gemini/settings.json"));
#ifndef __APPLE__
  CHECK(path("claude-desktop") == home.path(".config/Claude/claude_desktop_config.json"));
  CHECK(path("vscode") == home.path(".config/Code/User/mcp.json"));
  settings.config_home = "/xdg";
  CHECK(path("vscode") == "/xdg/Code/User/mcp.json");
#endif
  settings.codex_home = "/c";
  settings.claude_home = "/d";
  CHECK(path("codex") == "/c/config.toml");
  CHECK(path("claude-code") == "/d/.claude.json");
  CHECK_THAT(text_of([&] { path("claude-dekstop"); }),
             Catch::Contains("did you mean claude-desktop") && Catch::Contains("gemini"));
  CHECK(code_of([&] { path(""); }) == Code::invalid);
}

TEST_CASE("connect: --all means the clients that are here", "[connect]") {
  const Home home;
  const ConnectSettings settings = home.settings();
  CHECK(present_clients(settings).empty());
  fs::create_directories(home.path(".cursor"));
  home.write(".claude.json", "{}");
  fs::create_directories(home.path(".codex"));
  CHECK(present_clients(settings) == std::vector<std::string>{"claude-code", "cursor", "codex"});
}

TEST_CASE("connect: a new file", "[connect]") {
  const Home home;
  ConnectSettings settings = home.settings();
  settings.binary = "../bin/strongroom";
  settings.vault = "my vault";
  settings.keyfile = "/keys/a \"b\"\\c";
  settings.passphrase_file = "/keys/\xc3\xbc\x01";
  settings.arguments = {"--bank", "team"};
  const ConnectPlan plan = plan_connect("vscode", settings);
  CHECK(plan.action == Action::create_file);
  CHECK(apply(plan).empty());
  const std::string expected = R"({
  "servers": {
    "strongroom": {
      "type": "stdio",
      "command": ")" + home.path("bin/strongroom") +
                               R"(",
      "args": ["mcp", "--bank", "team"],
      "env": {
        "STRONGROOM_VAULT": ")" +
                               home.path("work/my vault") + R"(",
        "STRONGROOM_KEYFILE": "/keys/a \"b\"\\c",
        "STRONGROOM_PASSPHRASE_FILE": "/keys/ü\u0001"
      }
    }
  }
}
)";
  const std::string file = fs::relative(plan.path, home.path()).string();
  CHECK(home.read(file) == expected);
  CHECK(plan.snippet == expected);
  CHECK(connect_snippet("vscode", settings) == expected);
  CHECK(home.mode(file) == 0600);
  CHECK(home.mode(fs::path(file).parent_path().string()) == 0700);
  CHECK(plan_connect("vscode", settings).action == Action::none);

  const ConnectPlan undo = plan_undo("vscode", settings);
  CHECK(undo.action == Action::remove_file);
  CHECK_FALSE(apply(undo).empty());
  CHECK_FALSE(fs::exists(plan.path));
}

TEST_CASE("connect: the entry follows the file's layout", "[connect]") {
  CHECK(connected("{}") == R"({
  "mcpServers": {
    "strongroom": {
      "command": "/usr/bin/strongroom",
      "args": ["mcp"]
    }
  }
})");
  CHECK(connected("{\n\t\"theme\": \"dark\"\n}\n") ==
        "{\n\t\"theme\": \"dark\",\n\t\"mcpServers\": {\n\t\t\"strongroom\": {\n"
        "\t\t\t\"command\": \"/usr/bin/strongroom\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t}\n}\n");
  CHECK(connected(R"({
    "mcpServers": {
        "git": {"command": "git-mcp", "env": {"TOKEN": "t"}},

        "fs": {
            "command": "fs" }
    },   "last":[1 , 2]
}
)") == R"({
    "mcpServers": {
        "git": {"command": "git-mcp", "env": {"TOKEN": "t"}},

        "fs": {
            "command": "fs" },
        "strongroom": {
            "command": "/usr/bin/strongroom",
            "args": ["mcp"]
        }
    },   "last":[1 , 2]
}
)");
  CHECK(
      connected(R"({"a":1,"mcpServers":{"x":{"url":"u"}}})") ==
      R"({"a":1,"mcpServers":{"x":{"url":"u"},"strongroom":{"command":"/usr/bin/strongroom","args":["mcp"]}}})");
  CHECK(
      connected(R"({ "a": 1 })") ==
      R"({ "a": 1, "mcpServers": {"strongroom": {"command": "/usr/bin/strongroom", "args": ["mcp"]}} })");
  CHECK(connected("{\r\n  \"mcpServers\": {}\r\n}\r\n") ==
        "{\r\n  \"mcpServers\": {\r\n    \"strongroom\": {\r\n      \"command\": "
        "\"/usr/bin/strongroom\",\r\n      \"args\": [\"mcp\"]\r\n    }\r\n  }\r\n}\r\n");
}

TEST_CASE("connect: odd but valid files", "[connect]") {
  for (const char* before :
       {"", "\n", "{ }", "{\n}", "{\n\n\n}\n", "\xEF\xBB\xBF{\"a\":1}", "{\"mcpServers\":{ }}",
        "{\"mcpServers\": {\n}}", "{\n\"mcpServers\": {\n\n},\n\"b\": {}\n}",
        "{\"a\"\n:\n1\n,\n\"b\"\n:2}", "{\"mcpServers\":{\"a}{\\\"\":\"{,\"}  }", "{\n  \"a\": 1}",
        "{\"strongroom\": {\"command\": 1}}", "{\n  \"mcpServers\":\n  {\n  }\n}",
        "{\n  \"x\": {\"mcpServers\": {\"strongroom\": 1}}\n}"}) {
    INFO(before);
    const std::string after = connected(before);
    const Tree tree = Tree::parse(after);
    CHECK(tree.at("mcpServers").at("strongroom").at("command") == "/usr/bin/strongroom");
  }
}

TEST_CASE("connect: an entry that says something else is replaced and shown", "[connect]") {
  const Home home;
  ConnectSettings settings = home.settings();
  home.write(kCursor, R"({
  "mcpServers": {
    "strongroom": {
      "command": "/old/strongroom",
      "args": ["mcp"],
      "headers": {"Authorization": "Bearer hidden-1"},
      "env": {"STRONGROOM_VAULT": "/old", "API_TOKEN": "hidden-2"}
    },
    "other": {"env": {"TOKEN": "hidden-3"}}
  }
}
)");
  settings.vault = "/new\x1b[31m";
  const ConnectPlan plan = plan_connect("cursor", settings);
  CHECK(plan.action == Action::replace);
  const std::string shown = joined(plan.summary);
  CHECK_THAT(shown, Catch::Contains("- \"command\": \"/old/strongroom\""));
  CHECK_THAT(shown, Catch::Contains("- \"env\": \"STRONGROOM_VAULT\": \"/old\""));
  CHECK_THAT(shown, Catch::Contains("- \"env\": \"API_TOKEN\": ..."));
  CHECK_THAT(shown, Catch::Contains("+   \"command\": \"/usr/bin/strongroom\""));
  CHECK_THAT(shown, !Catch::Contains("hidden") && !Catch::Contains("\x1b"));
  apply(plan);
  CHECK(home.read(kCursor) == R"({
  "mcpServers": {
    "strongroom": {
      "command": "/usr/bin/strongroom",
      "args": ["mcp"],
      "env": {
        "STRONGROOM_VAULT": "/new\u001b[31m"
      }
    },
    "other": {"env": {"TOKEN": "hidden-3"}}
  }
}
)");
  apply(plan_undo("cursor", settings));
  CHECK(home.read(kCursor) == R"({
  "mcpServers": {
    "other": {"env": {"TOKEN": "hidden-3"}}
  }
}
)");
}

TEST_CASE("connect: what the user added to our entry stays", "[connect]") {
  const Home home;
  const std::string bytes =
      R"({"mcpServers":{"strongroom":{"timeout":5,"args":["mcp"],"type":"stdio","command":"\/usr\/bin\/strongroom","env":{}}}})";
  home.write(kCursor, bytes);
  CHECK(plan_connect("cursor", home.settings()).action == Action::none);
  for (const char* other : {R"("command":1,"args":["mcp"])", R"("command":"/usr/bin/strongroom")",
                            R"("command":"/usr/bin/strongroom","args":["mcp",1])",
                            R"("command":"/usr/bin/strongroom","args":["mcp"],"env":{"A":"b"})",
                            R"("command":"/usr/bin/strongroom","args":["mcp"],"env":[])",
                            R"("command":"/usr/bin/strongroom","args":["mcp"],"type":"http")",
                            R"("command":"/usr/bin/strongroom","args":["mcp"],"url":"u")"}) {
    home.write(kCursor, std::string(R"({"mcpServers":{"strongroom":{)") + other + "}}}");
    CHECK(plan_connect("cursor", home.settings()).action == Action::replace);
  }
  home.write(kCursor, R"({"mcpServers":{"strongroom":null}})");
  CHECK(plan_connect("cursor", home.settings()).action == Action::replace);
}

TEST_CASE("connect: undo after the file went on", "[connect]") {
  const Home home;
  const ConnectSettings settings = home.settings();
  home.write(kCursor, "{\n  \"mcpServers\": {\"a\": {}}\n}\n");
  apply(plan_connect("cursor", settings));
  SECTION("another server came after ours") {
    std::string bytes = home.read(kCursor);
    bytes.insert(bytes.rfind("\n}"), ",\n  \"b\": 1");
    home.write(kCursor, bytes);
    apply(plan_undo("cursor", settings));
    CHECK(home.read(kCursor) == "{\n  \"mcpServers\": {\"a\": {}},\n  \"b\": 1\n}\n");
  }
  SECTION("connected twice with different settings") {
    ConnectSettings other = settings;
    other.vault = "/elsewhere";
    CHECK(plan_connect("cursor", other).action == Action::replace);
    apply(plan_connect("cursor", other));
    apply(plan_undo("cursor", settings));
    CHECK(home.read(kCursor) == "{\n  \"mcpServers\": {\"a\": {}}\n}\n");
  }
  SECTION("ours is the only one left") {
    home.write(kCursor, "{\"k\": 1, \"mcpServers\": { \"strongroom\": {} } }");
    apply(plan_undo("cursor", settings));
    CHECK(home.read(kCursor) == "{\"k\": 1, \"mcpServers\": {} }");
  }
  SECTION("ours is the first") {
    home.write(kCursor, "{\"mcpServers\": { \"strongroom\": {} ,\n \"z\": 1 } }");
    apply(plan_undo("cursor", settings));
    CHECK(home.read(kCursor) == "{\"mcpServers\": { \"z\": 1 } }");
  }
}

TEST_CASE("connect: what is refused", "[connect]") {
  const Home home;
  const ConnectSettings settings = home.settings();
  const auto plan = [&] { plan_connect("cursor", settings); };
  const auto undo = [&] { plan_undo("cursor", settings); };
  for (const char* bytes :
       {"// c\n{}", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "{", "[]", "null", "{\"mcpServers\":[]}",
        "{\"mcpServers\":null}", "{\"a\":\"\xff\"}", "{\"a\":\"\\ud800\"}", "{} {}"}) {
    INFO(bytes);
    home.write(kCursor, bytes);
    CHECK(code_of(plan) == Code::invalid);
    CHECK(code_of(undo) == Code::invalid);
    CHECK_THAT(text_of(plan),
               Catch::Contains("the configuration of Cursor") && !Catch::Contains(home.path()));
    CHECK(home.read(kCursor) == bytes);
  }
  home.write(kCursor, "// my servers\n{}");
  CHECK_THAT(text_of(plan), Catch::Contains("--print"));
  home.write(kCursor, std::string((16 << 20) + 1, ' '));
  CHECK(code_of(plan) == Code::too_large);
  fs::remove(home.path(kCursor));
  fs::create_directory(home.path(kCursor));
  CHECK(code_of(plan) == Code::invalid);
  fs::remove(home.path(kCursor));
  REQUIRE(::mkfifo(home.path(kCursor).c_str(), 0600) == 0);
  CHECK(code_of(plan) == Code::invalid);
  fs::remove(home.path(kCursor));
  fs::create_symlink("nowhere", home.path(kCursor));
  CHECK(code_of(plan) == Code::invalid);
  fs::remove(home.path(kCursor));
  home.write("twin", "{}");
  fs::create_hard_link(home.path("twin"), home.path(kCursor));
  CHECK(code_of(plan) == Code::invalid);
  fs::remove(home.path("twin"));
  CHECK_NOTHROW(plan());
  if (::geteuid() == 0) {
    REQUIRE(::chown(home.path(kCursor).c_str(), 12345, 12345) == 0);
    CHECK(code_of(plan) == Code::invalid);
  }
}

TEST_CASE("connect: settings that cannot be written", "[connect]") {
  const Home home;
  ConnectSettings settings = home.settings();
  settings.vault = "/v/${HOME}";
  CHECK_THAT(text_of([&] { connect_snippet("cursor", settings); }), Catch::Contains("vault"));
  CHECK_THAT(connect_snippet("codex", settings), Catch::Contains("\"/v/${HOME}\""));
  settings.vault = "/v/$x";
  CHECK_NOTHROW(connect_snippet("cursor", settings));
  CHECK(code_of([&] { connect_snippet("gemini", settings); }) == Code::invalid);
  settings.vault = "/v/\xff";
  CHECK(code_of([&] { connect_snippet("codex", settings); }) == Code::invalid);
  settings.vault.clear();
  settings.arguments = {std::string("a\0b", 3)};
  CHECK(code_of([&] { connect_snippet("codex", settings); }) == Code::invalid);
  settings.arguments.clear();
  settings.binary.clear();
  CHECK(code_of([&] { connect_snippet("codex", settings); }) == Code::invalid);
  settings = home.settings();
  settings.home.clear();
  CHECK(code_of([&] { plan_connect("cursor", settings); }) == Code::invalid);
}

TEST_CASE("connect: apply keeps mode, link and a backup", "[connect]") {
  const Home home;
  home.write("dotfiles/cursor.json", "{\"a\": 1}\n");
  fs::permissions(home.path("dotfiles/cursor.json"), fs::perms(0640));
  fs::create_directory(home.path(".cursor"));
  fs::create_symlink("../dotfiles/cursor.json", home.path(kCursor));
  const ConnectSettings settings = home.settings();
  const mode_t old_mask = ::umask(077);
  const std::string backup = apply(plan_connect("cursor", settings));
  ::umask(old_mask);
  CHECK(fs::is_symlink(home.path(kCursor)));
  CHECK(home.files(".cursor") == std::vector<std::string>{"mcp.json"});
  const auto names = home.files("dotfiles");
  REQUIRE(names.size() == 2);
  CHECK(names[0] == "cursor.json");
  CHECK_THAT(names[1], Catch::Matches("cursor\\.json\\.strongroom-backup-[0-9]{8}T[0-9]{6}Z"));
  CHECK(backup == home.path("dotfiles/" + names[1]));
  CHECK(home.read("dotfiles/" + names[1]) == "{\"a\": 1}\n");
  CHECK(home.mode("dotfiles/" + names[1]) == 0640);
  CHECK(home.mode("dotfiles/cursor.json") == 0640);
  CHECK_THAT(home.read("dotfiles/cursor.json"), Catch::Contains("strongroom"));

  apply(plan_undo("cursor", settings));  // a second backup in the same second has its own name
  CHECK(home.files("dotfiles").size() == 3);
  CHECK(home.read("dotfiles/cursor.json") == "{\"a\": 1}\n");
}

TEST_CASE("connect: a file that changed since the plan is a conflict", "[connect]") {
  const Home home;
  const ConnectSettings settings = home.settings();
  const ConnectPlan fresh = plan_connect("cursor", settings);
  home.write(kCursor, "{}");
  CHECK(code_of([&] { apply(fresh); }) == Code::conflict);
  CHECK(home.read(kCursor) == "{}");
  const ConnectPlan plan = plan_connect("cursor", settings);
  home.write(kCursor, "{} ");
  CHECK(code_of([&] { apply(plan); }) == Code::conflict);
  CHECK(home.read(kCursor) == "{} ");
  fs::remove(home.path(kCursor));
  CHECK(code_of([&] { apply(plan); }) == Code::conflict);
  CHECK_FALSE(fs::exists(home.path(kCursor)));
  CHECK(home.files(".cursor").empty());
}
