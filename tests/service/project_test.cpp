// Names of banks and remotes, .strongroom.json, and the order of the rules.
#include "service/project.h"

#include "service/git_repository.h"
#include "tests/service/git_sandbox.h"

using namespace strongroom;
using namespace strongroom::service;

TEST_CASE("scoping modes have names", "[project]") {
  for (const Scoping s : {Scoping::global, Scoping::per_project, Scoping::per_project_tagged}) {
    CHECK(parse_scoping(scoping_name(s)) == s);
  }
  CHECK(scoping_name(Scoping::per_project_tagged) == "per-project-tagged");
  CHECK_FALSE(parse_scoping("Global"));
  CHECK_FALSE(parse_scoping(""));
}

TEST_CASE("bank names", "[project]") {
  for (const char* good :
       {"a", "global", "github.com/acme/app", "Über Größe", "a b", "🦊", "__proto__"}) {
    CHECK(valid_bank_name(good));
  }
  CHECK(valid_bank_name(std::string(256, 'x')));
  CHECK_FALSE(valid_bank_name(std::string(257, 'x')));
  CHECK_FALSE(valid_bank_name(std::string_view("a\0b", 3)));
  for (const char* bad :
       {"", " a", "a ", "a\nb", "a\x7f", "\xc2\x85", "\xff", "a\xc2", "\xed\xa0\x80"}) {
    CHECK_FALSE(valid_bank_name(bad));
  }
}

TEST_CASE("remotes of one repository have one name", "[project]") {
  for (const char* url : {
           "git@GitHub.com:Acme/App.git",
           "https://user:pw@github.com/acme/app",
           "https://github.com/acme/app.git/",
           "ssh://git@github.com:22/acme/app.git",
           "git://github.com//acme/app",
           "github.com:acme/app",
           "github.com:/acme/app/",
           "HTTPS://GITHUB.COM/ACME/APP.GIT?token=abc#x",
           "git+ssh://a@b@github.com/./acme/app",
       }) {
    INFO(url);
    const std::string name = normalise_remote(url);
    if (std::string_view(url).find(".GIT") == std::string_view::npos) {
      CHECK(name == "github.com/acme/app");
    }
  }
  CHECK(normalise_remote("ssh://git@[::1]:2222/a/b.git") == "::1/a/b");
  CHECK(normalise_remote("git@[::1]:a/b.git") == "::1/a/b");
  CHECK(normalise_remote("host:~me/app.git") == "host/~me/app");
  CHECK(normalise_remote("git@ssh.dev.azure.com:v3/Org/P/r") == "ssh.dev.azure.com/v3/org/p/r");
  CHECK(normalise_remote("https://example.org/a/.git") == "example.org/a");
  CHECK(normalise_remote("/Srv/Git/App.git") == "/Srv/Git/App");
  CHECK(normalise_remote("/srv/app/.git/") == "/srv/app");
  CHECK(normalise_remote("file:///Srv/App.git") == "/Srv/App");
  CHECK(normalise_remote("file://localhost/srv/a") == "/srv/a");
  CHECK(normalise_remote("file://nas/Share/a.git") == "nas/share/a");
}

TEST_CASE("what is no remote has no name", "[project]") {
  for (const char* url :
       {"", "/", "//", "../app", "app", "./a:b", "ext::sh -c x", "https://", "https:///x",
        "https://host", "https://host/", "https://user@/x", ":x", "host:", "://", "[::1:x",
        "https://h/a\nb", "https://h/\xff", "ssh://[::1/a"}) {
    INFO(url);
    CHECK(normalise_remote(url).empty());
  }
  CHECK(normalise_remote("https://h/" + std::string(300, 'a')).empty());
  CHECK(normalise_remote(std::string(1 << 20, ':')).empty());
}

TEST_CASE("origin in git's configuration syntax", "[project]") {
  const auto url = [](const std::string& text) { return origin_of_config(text); };
  CHECK(url("[remote \"origin\"]\n\turl = https://h/a\n") == "https://h/a");
  CHECK(url("[remote \"origin\"]url=x") == "x");
  CHECK(url("\xEF\xBB\xBF[ReMote \"origin\"]\r\n URL = x y \t\r\n") == "x y");
  CHECK(url("[remote \"Origin\"]\nurl = x\n").empty());
  CHECK(url("[Remote.Origin]\nurl = x\n") == "x");
  CHECK(url("[remote \"ori\\gin\"]\nurl = x # c\n") == "x");
  CHECK(url("# [remote \"origin\"]\n; url = no\n[core]\nurl = no\n[remote \"origin\"] ; c\nurl = "
            "x;c\n") == "x");
  CHECK(url("[remote \"origin\"]\nurl = \"a;b # c\" ; d\n") == "a;b # c");
  CHECK(url("[remote \"origin\"]\nurl = a\\\nb\n") == "ab");
  CHECK(url("[remote \"origin\"]\nurl = a\\\\b\\t\\\"\n") == "a\\b\t\"");
  CHECK(url("[remote \"origin\"]\nurl = first\nurl = second\n") == "first");
  CHECK(url("[remote \"origin\"]\nurl = first\nurl =\nurl = third\n") == "third");
  CHECK(url("[remote \"origin\"]\nurl\npushurl = p\nfetch = +refs/*:refs/*\n").empty());
  CHECK(url("[remote \"origin\"]\nurl = x\n[remote \"fork\"]\nurl = y\n[remote \"origin\"]\nurl = "
            "z\n") == "x");
}

TEST_CASE("a configuration that git refuses has no origin", "[project]") {
  const std::string good = "[remote \"origin\"]\nurl = x\n";
  for (const std::string& bad :
       {std::string("[remote"), std::string("[remote \"origin"), std::string("[a \"b\\"),
        std::string("=x\n"), std::string("[]\n"), std::string("[a b]\n"),
        std::string("[a \"b\" c]\n"), std::string("k = \"open\n"), std::string("k = a\\q\n"),
        std::string("k = a\\"), std::string("k ! x\n"), std::string("k = a\0b\n", 8)}) {
    INFO(bad);
    CHECK(origin_of_config(good + bad).empty());
  }
}

TEST_CASE("configurations of random bytes end", "[project]") {
  std::mt19937 random(1);
  const std::string alphabet = "[]remote.origin\"\\ \t\r\n=;#url\0\xff";
  for (int round = 0; round < 20000; ++round) {
    std::string text(random() % 80, ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    if (round % 2 == 0) text.insert(0, "[remote \"origin\"]\nurl = ");
    origin_of_config(text);
    normalise_remote(text);
  }
}

TEST_CASE("a folder without git", "[project]") {
  const Sandbox box;
  check(find(box.path()), "", "fallback");
  check(find_project(box.path(), true, ""), box.path(), "folder");
  fs::create_symlink(box.path(), box.path("link"));
  check(find_project(box.path("link"), true, ""), box.path(), "folder");
  check(find_project(box.path(), true, "mine"), "mine", "environment");
  check(find(box.path("nowhere")), "", "fallback");
  CHECK_THROWS_AS(find_project(box.path("nowhere"), true, ""), Error);
  CHECK_THROWS_AS(find_project(box.path(), false, "a\n"), Error);

  const std::string deep = std::string(120, 'a') + "/" + std::string(120, 'b') + "/\xff c";
  fs::create_directories(box.path(deep + "1"));
  fs::create_directories(box.path(deep + "2"));
  const Project one = find_project(box.path(deep + "1"), true, "");
  const Project two = find_project(box.path(deep + "2"), true, "");
  CHECK(valid_bank_name(one.bank));
  CHECK(one.bank != two.bank);
}

TEST_CASE(".strongroom.json names bank and scoping", "[project]") {
  const Sandbox box;
  box.make("app", 0);
  box.shell("app", "git remote add origin https://h/acme/app");
  fs::create_directories(box.path("app/a/b"));
  box.write("app/.strongroom.json", R"({"project": "team", "scoping": "per-project"})");
  Project project = find(box.path("app/a/b"));
  CHECK(project.bank == "team");
  CHECK(project.chosen_by == "config");
  CHECK(project.identity == "h/acme/app");
  CHECK(project.scoping == Scoping::per_project);

  box.write("app/a/.strongroom.json", R"({"scoping": "global"})");  // the nearest counts, alone
  project = find(box.path("app/a/b"));
  CHECK(project.bank == "h/acme/app");
  CHECK(project.chosen_by == "origin");
  CHECK(project.scoping == Scoping::global);

  project = find_project(box.path("app/a"), false, "mine");
  CHECK(project.bank == "mine");
  CHECK(project.chosen_by == "environment");
  CHECK(project.scoping == Scoping::global);
}

TEST_CASE(".strongroom.json is found up to the git root only", "[project]") {
  const Sandbox box;
  box.write(".strongroom.json", R"({"project": "outside"})");
  box.make("app", 0);
  fs::create_directories(box.path("plain/sub"));
  CHECK(find(box.path("app")).chosen_by == "git-directory");
  CHECK(find(box.path("plain/sub")).chosen_by == "fallback");
  const Project here = find(box.path());
  CHECK(here.bank == "outside");
  CHECK(here.identity == box.path());
}

TEST_CASE("what .strongroom.json may not be", "[project]") {
  const Sandbox box;
  const std::string file = box.path(".strongroom.json");
  const auto text_for = [&](const std::string& bytes) {
    box.write(".strongroom.json", bytes);
    return invalid_text(box.path());
  };
  CHECK_THAT(text_for(R"({"projct": "x"})"),
             Catch::Contains(".strongroom.json: projct") && Catch::Contains("\"project\""));
  CHECK_THAT(text_for(R"({"scope": 1})"), Catch::Contains("\"scoping\""));
  CHECK_THAT(text_for(R"({"\u202eevil\n": 1})"),
             !Catch::Contains("\xe2\x80\xae") && !Catch::Contains("\n"));
  CHECK_THAT(text_for(R"({"project": 1})"), Catch::Contains(".strongroom.json: project"));
  CHECK_THAT(text_for(R"({"project": " x"})"), Catch::Contains(".strongroom.json: project"));
  CHECK_THAT(text_for(R"({"project": ""})"), Catch::Contains(".strongroom.json: project"));
  CHECK_THAT(text_for(R"({"scoping": "mine"})"), Catch::Contains(".strongroom.json: scoping"));
  CHECK_THAT(text_for(R"({"scoping": null})"), Catch::Contains(".strongroom.json: scoping"));
  for (const char* bytes : {"", "[]", "{", "{} {}", "{\"project\":\"a\",\"project\":\"b\"}", "\xff",
                            "\xEF\xBB\xBF{}", "// no\n{}"}) {
    CHECK_THAT(text_for(bytes), Catch::Contains(".strongroom.json"));
  }
  CHECK_THAT(text_for("{" + std::string(70000, ' ') + "}"), Catch::Contains("64 KiB"));
  fs::remove(file);
  fs::create_directory(file);
  CHECK_THAT(invalid_text(box.path()), Catch::Contains(".strongroom.json"));
  fs::remove(file);
  box.write("real.json", R"({"project": "x"})");
  fs::create_symlink("real.json", file);
  CHECK_THAT(invalid_text(box.path()), Catch::Contains("symbolic link"));
  fs::remove(file);
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  CHECK_THAT(invalid_text(box.path()), Catch::Contains("regular file"));
}

TEST_CASE("another user's files are not used", "[project]") {
  if (::geteuid() != 0) {
    WARN("skipped: giving a file to another user needs root");
    return;
  }
  const Sandbox box;
  box.make("app", 1);
  box.shell("app", "git remote add origin https://h/acme/app");
  SECTION("git directory") {
    REQUIRE(::chown(box.path("app/.git").c_str(), 12345, 12345) == 0);
    const Project project = find(box.path("app"));
    CHECK(project.chosen_by == "fallback");
    CHECK_THAT(project.note, Catch::Contains("another user"));
    CHECK(find_project(box.path("app"), true, "").bank == box.path("app"));
  }
  SECTION("a link to ours") {
    fs::create_directory(box.path("trap"));
    fs::create_directory_symlink(box.path("app/.git"), box.path("trap/.git"));
    CHECK(find(box.path("trap")).bank == "h/acme/app");
    REQUIRE(::lchown(box.path("trap/.git").c_str(), 12345, 12345) == 0);
    CHECK(find(box.path("trap")).chosen_by == "fallback");
  }
  SECTION(".strongroom.json") {
    box.write("app/.strongroom.json", R"({"project": "x"})");
    REQUIRE(::chown(box.path("app/.strongroom.json").c_str(), 12345, 12345) == 0);
    CHECK_THAT(invalid_text(box.path("app")), Catch::Contains("another user"));
  }
}
