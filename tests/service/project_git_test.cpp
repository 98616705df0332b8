// Project identity, tried on repositories that git itself made, and on forged ones.
#include "service/git_objects.h"
#include "service/git_repository.h"
#include "service/project.h"
#include "tests/service/git_sandbox.h"

using namespace strongroom;
using namespace strongroom::service;

TEST_CASE("origin comes first", "[project]") {
  const Sandbox box;
  box.make("app", 1);
  box.shell("app", "git remote add origin git@Example.org:Acme/App.git");
  fs::create_directories(box.path("app/src/deep"));
  check(find(box.path("app")), "example.org/acme/app", "origin");
  check(find(box.path("app/src/deep")), "example.org/acme/app", "origin");
  check(find_project(box.path("app"), true, ""), "example.org/acme/app", "origin");
  const auto names = project_identities(box.path("app/src"));
  CHECK(names == std::vector<std::string>{"example.org/acme/app",
                                          "commit:" + box.root_commit("app"), box.path("app")});
}

TEST_CASE("a local origin is one path", "[project]") {
  const Sandbox box;
  box.make("upstream", 1);
  box.shell("", "git clone -q upstream clone");
  check(find(box.path("clone")), box.path("upstream"), "origin");
  box.shell("clone", "git remote set-url origin ../upstream/.git");
  check(find(box.path("clone")), box.path("upstream"), "origin");
  box.shell("clone", "git worktree add -q ../elsewhere/tree");
  check(find(box.path("elsewhere/tree")), box.path("upstream"), "origin");
}

TEST_CASE("without origin the first root commit counts", "[project]") {
  const Sandbox box;
  box.make("app", 30);
  const std::string bank = "commit:" + box.root_commit("app");
  SECTION("loose objects") {
    check(find(box.path("app")), bank, "root-commit");
  }
  SECTION("detached head") {
    box.shell("app", "git checkout -q --detach HEAD~3");
    check(find(box.path("app")), bank, "root-commit");
  }
  SECTION("packed refs") {
    box.shell("app", "git pack-refs --all");
    REQUIRE_FALSE(fs::exists(box.path("app/.git/refs/heads/main")));
    check(find(box.path("app")), bank, "root-commit");
  }
  SECTION("worktrees and their subfolders") {
    box.shell("app", "git worktree add -q --detach \"../a tree\"");
    check(find(box.path("a tree")), bank, "root-commit");
  }
  SECTION("objects in another repository") {
    box.shell("", "git clone -q --shared app clone && cd clone && git remote remove origin");
    REQUIRE_FALSE(fs::exists(box.path("clone/.git/objects/" + bank.substr(7, 2))));
    check(find(box.path("clone")), bank, "root-commit");
  }
  SECTION("first parents, whatever was merged") {
    box.shell("app",
              "git checkout -q --orphan other && git commit -q --allow-empty -m other && "
              "git checkout -q main && "
              "git merge -q --allow-unrelated-histories -m merged other");
    check(find(box.path("app")), bank, "root-commit");
  }
}

TEST_CASE("packed commits, deltas of both kinds", "[project]") {
  const Sandbox box;
  const std::string format = GENERATE("sha1", "sha256");
  const std::string offsets = GENERATE("true", "false");
  INFO(format << " " << offsets);
  box.make("app", 500, "--object-format=" + format);
  box.shell("app",
            "git -c repack.useDeltaBaseOffset=" + offsets + " repack -qadf --depth=50 --window=50");
  const std::string pack = "git verify-pack -v .git/objects/pack/*.idx | ";
  REQUIRE(std::stoi(
              box.shell("app", pack + "grep -c \"commit.* [1-9][0-9]* [0-9a-f]\\{40,\\}$\"")) > 50);
  check(find(box.path("app")), "commit:" + box.root_commit("app"), "root-commit");

  // Newer commits loose, and in a second pack.
  box.shell("app", "git commit -q --allow-empty -m loose");
  check(find(box.path("app")), "commit:" + box.root_commit("app"), "root-commit");
  box.shell("app", "git repack -qd && git commit -q --allow-empty -m again");
  check(find(box.path("app")), "commit:" + box.root_commit("app"), "root-commit");
}

TEST_CASE("without a commit, or cut off, the git directory counts", "[project]") {
  const Sandbox box;
  SECTION("no commits") {
    box.make("app", 0);
    check(find(box.path("app")), box.path("app"), "git-directory");
  }
  SECTION("shallow") {
    box.make("full", 5);
    box.shell(
        "",
        "git clone -q --depth 2 \"file://$PWD/full\" app && cd app && git remote remove origin");
    REQUIRE(fs::exists(box.path("app/.git/shallow")));
    check(find(box.path("app")), box.path("app"), "git-directory");
  }
  SECTION("a missing object") {
    box.make("app", 3);
    const std::string middle = box.shell("app", "git rev-parse HEAD~1");
    fs::remove(box.path("app/.git/objects/" + middle.substr(0, 2) + "/" + middle.substr(2)));
    check(find(box.path("app")), box.path("app"), "git-directory");
  }
  SECTION("worktrees share it, wherever they lie") {
    box.shell("", "git init -q --bare app/.bare");
    box.write("app/.git", "gitdir: ./.bare\n");
    check(find(box.path("app")), box.path("app/.bare"), "git-directory");
  }
}

TEST_CASE("a submodule is a project of its own", "[project]") {
  const Sandbox box;
  box.make("library", 2);
  box.make("app", 1);
  box.shell("app", "git submodule --quiet add ../library parts/library");
  REQUIRE(fs::is_regular_file(box.path("app/parts/library/.git")));
  check(find(box.path("app/parts/library")), box.path("library"), "origin");
  box.shell("app/parts/library", "git remote remove origin");
  check(find(box.path("app/parts/library")), "commit:" + box.root_commit("library"), "root-commit");
}

TEST_CASE("hostile .git entries never fail a call", "[project]") {
  const Sandbox box;
  box.make("outer", 0);
  fs::create_directory(box.path("outer/in"));
  const std::string git = box.path("outer/in/.git");
  const auto is_outer = [&] {
    check(find(box.path("outer/in")), box.path("outer"), "git-directory");
  };
  SECTION("an empty folder is passed over") {
    fs::create_directory(git);
    is_outer();
  }
  SECTION("a link to itself") {
    fs::create_symlink(".git", git);
    is_outer();
  }
  SECTION("a pipe") {
    REQUIRE(::mkfifo(git.c_str(), 0600) == 0);
    is_outer();
  }
  SECTION("files that point nowhere end the search") {
    for (const std::string& bytes :
         {std::string(), std::string("gitdir: \n"), std::string("gitdir: /nowhere\n"),
          std::string("gitdir: .git"), std::string("gitdir: ..\n"), std::string("gitdir: /dev\n"),
          std::string("gitdir: a\0b", 11), std::string("gitdir: ") + std::string(9000, 'a'),
          std::string(1 << 20, 'x'), std::string("\xff\xfe")}) {
      box.write("outer/in/.git", bytes);
      const Project project = find(box.path("outer/in"));
      CHECK(project.chosen_by == "fallback");
      CHECK_THAT(project.note, Catch::Contains("points to no repository"));
    }
  }
}

TEST_CASE("hostile files inside a git directory", "[project]") {
  const Sandbox box;
  box.make("app", 2);
  const std::string place = box.path("app");
  const std::string root = "commit:" + box.root_commit("app");
  box.write("secret", "[remote \"origin\"]\nurl = https://h/stolen\n");
  const auto put = [&](const std::string& name, const std::string& bytes) {
    fs::remove(box.path("app/.git/" + name));
    box.write("app/.git/" + name, bytes);
  };
  SECTION("config: link, huge, pipe, folder") {
    fs::remove(box.path("app/.git/config"));
    fs::create_symlink(box.path("secret"), box.path("app/.git/config"));
    check(find(place), root, "root-commit");
    put("config", "[remote \"origin\"]\nurl = https://h/a\n" + std::string(2 << 20, '#'));
    check(find(place), root, "root-commit");
    fs::remove(box.path("app/.git/config"));
    REQUIRE(::mkfifo(box.path("app/.git/config").c_str(), 0600) == 0);
    check(find(place), root, "root-commit");
    fs::remove(box.path("app/.git/config"));
    fs::create_directory(box.path("app/.git/config"));
    check(find(place), root, "root-commit");
  }
  SECTION("HEAD: circles and escapes") {
    for (const std::string& head :
         {std::string("ref: refs/heads/loop\n"), std::string("ref: ../../secret\n"),
          std::string("ref: refs/../HEAD\n"), std::string("ref: refs/heads/.invalid\n"),
          std::string("ref: /etc/passwd\n"), std::string("ref:\n"), std::string(),
          std::string(40, 'f') + "\n", std::string(64, 'a') + "\n", std::string(40, 'F'),
          std::string("ref: refs/heads/a\0b\n", 20), std::string("ref: refs/heads/\n")}) {
      put("refs/heads/loop", "ref: refs/heads/loop\n");
      put("HEAD", head);
      check(find(place), place, "git-directory");
    }
  }
  SECTION("commondir: points away or nowhere") {
    put("commondir", "/nowhere\n");
    CHECK(find(place).chosen_by == "fallback");
    put("commondir", "/\n");
    CHECK(find(place).chosen_by == "fallback");
  }
  SECTION("alternates: circles") {
    put("objects/info/alternates",
        ".\n..\n../objects\n./././\n/\n/dev\n" + std::string(5000, '\n') + "\"x\n");
    check(find(place), root, "root-commit");
  }
  SECTION("shallow: unreadable") {
    fs::create_directory(box.path("app/.git/shallow"));
    check(find(place), place, "git-directory");
  }
}

TEST_CASE("forged and damaged objects", "[project]") {
  const Sandbox box;
  box.make("app", 40);
  const std::string common = box.path("app/.git");
  const std::string head = box.shell("app", "git rev-parse HEAD");
  const std::string root = box.root_commit("app");
  SECTION("commits that are their own ancestors") {
    // The last commit's bytes under the first one's name close a circle.
    const auto file = [&](const std::string& id) {
      return common + "/objects/" + id.substr(0, 2) + "/" + id.substr(2);
    };
    fs::permissions(file(root), fs::perms::owner_all);
    fs::copy_file(file(head), file(root), fs::copy_options::overwrite_existing);
    CHECK_FALSE(first_root_commit(common, head));
  }
  SECTION("any damage to pack or index is survived") {
    box.shell("app", "git repack -qadf --depth=50 --window=50");
    REQUIRE(first_root_commit(common, head) == root);
    std::mt19937 random(3);
    for (const char* end : {".idx", ".pack"}) {
      std::string file;
      for (const auto& entry : fs::directory_iterator(common + "/objects/pack")) {
        if (entry.path().extension() == end) file = entry.path().string();
      }
      const std::string name = fs::relative(file, box.path()).string();
      fs::permissions(file, fs::perms::owner_all);
      const std::string bytes = box.read(name);
      for (int round = 0; round < 300; ++round) {
        std::string damaged = bytes;
        if (round % 10 == 0) damaged.resize(random() % bytes.size());
        for (unsigned i = 0; i <= random() % 16 && !damaged.empty(); ++i) {
          damaged[random() % damaged.size()] = static_cast<char>(random());
        }
        box.write(name, damaged);
        const auto found = first_root_commit(common, head);
        if (found) CHECK(is_object_id(*found));
      }
      box.write(name, bytes);
      CHECK(first_root_commit(common, head) == root);
    }
  }
  SECTION("names that are no ids") {
    for (const char* id : {"", "HEAD", "../../../../../../etc/passwd"}) {
      CHECK_FALSE(first_root_commit(common, id));
    }
    CHECK_FALSE(first_root_commit(common, std::string(40, 'g')));
    CHECK_FALSE(first_root_commit(common, root.substr(0, 39)));
  }
}
