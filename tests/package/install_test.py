"""An installed copy: its headers stand alone, and the example of docs/api.md builds and runs with it.

    install_test.py BUILD_FOLDER

The copy is moved after it was installed, so that nothing in it may point to where it was made.
"""
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
COMPILER = os.environ.get("CXX", "c++")
WARNINGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


def fenced(kind):
    """The one block of this kind in the page."""
    page = (PROJECT / "docs/api.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1, f"docs/api.md has {len(blocks)} blocks of {kind}"
    return blocks[0]


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="strongroom-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        cls.prefix = cls.root / "moved"
        run("cmake", "--install", BUILD, "--prefix", cls.root / "first")
        (cls.root / "first").rename(cls.prefix)
        include = cls.prefix / "include"
        cls.headers = sorted(path.relative_to(include).as_posix() for path in include.rglob("*")
                             if path.is_file())

    def environment(self):
        """A home of its own."""
        home = self.root / "home"
        home.mkdir(mode=0o700, exist_ok=True)
        return {"PATH": os.environ["PATH"], "HOME": str(home)}

    def test_what_is_installed(self):
        page = (PROJECT / "docs/api.md").read_text(encoding="utf-8")
        documented = sorted(re.findall(r"^\| `(strongroom/[^`]*)` \|", page, re.MULTILINE))
        self.assertEqual(self.headers, documented)
        for name in ("bin/strongroom", "share/man/man1/strongroom.1",
                     "share/bash-completion/completions/strongroom",
                     "share/zsh/site-functions/_strongroom",
                     "share/fish/vendor_completions.d/strongroom.fish",
                     "share/doc/strongroom/copyright", "share/doc/strongroom/api.md"):
            self.assertGreater((self.prefix / name).stat().st_size, 0, name)
        self.assertEqual(len(list(self.prefix.rglob("*.a"))), 1)

    def test_what_is_installed_is_what_the_program_prints(self):
        program = self.prefix / "bin/strongroom"
        for name, command in (("man/man1/strongroom.1", ("manual",)),
                              ("bash-completion/completions/strongroom", ("completion", "bash")),
                              ("zsh/site-functions/_strongroom", ("completion", "zsh")),
                              ("fish/vendor_completions.d/strongroom.fish", ("completion", "fish"))):
            text = (self.prefix / "share" / name).read_text(encoding="utf-8")
            self.assertEqual(text, run(program, *command, env=self.environment()), name)

    def test_no_file_names_the_place_where_it_was_made(self):
        for path in self.prefix.rglob("*"):
            if path.is_file() and path.suffix != ".a":
                data = path.read_bytes()
                for place in (BUILD, PROJECT, self.root):
                    self.assertNotIn(str(place).encode(), data, path)

    def test_licences_are_complete(self):
        text = (self.prefix / "share/doc/strongroom/copyright").read_text(encoding="utf-8")
        parts = [PROJECT / "LICENSE", *PROJECT.glob("licenses/*.txt"),
                 *PROJECT.glob("models/licenses/*.txt")]
        self.assertGreater(len(parts), 15)
        for part in parts:
            self.assertIn(part.read_text(encoding="utf-8"), text, part.name)
        # Each library of the table has one.
        page = (PROJECT / "docs/dependencies.md").read_text(encoding="utf-8")
        table = page.split("## In the program")[1].split("\n## ")[0]
        libraries = re.findall(r"^\| (\w+).*? \| `", table, re.MULTILINE)
        self.assertGreaterEqual(len(libraries), 6)
        for library in libraries:
            self.assertTrue((PROJECT / f"licenses/{library}.txt").is_file(),
                            f"licenses/{library}.txt is missing")

    def test_each_header_compiles_alone(self):
        for header in self.headers:
            text = (self.prefix / "include" / header).read_text(encoding="utf-8")
            for include in re.findall(r'#\s*include\s*(\S+)', text):
                own = include.strip('<>"')
                self.assertTrue(own in self.headers or re.fullmatch(r"<[a-z_]+>", include),
                                f"{header} includes {include}")
        sources = []
        for number, header in enumerate(self.headers):
            source = self.root / f"alone_{number}.cpp"
            # Twice: it must also bear being included again.
            source.write_text(f"#include <{header}>\n#include <{header}>\n", encoding="utf-8")
            sources.append(source)
        run(COMPILER, *WARNINGS, "-fsyntax-only", "-I", self.prefix / "include", *sources)

    def test_the_example_of_the_documentation(self):
        source = self.root / "consumer"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(fenced("cmake"), encoding="utf-8")
        (source / "main.cpp").write_text(fenced("cpp"), encoding="utf-8")
        run("cmake", "-G", "Ninja", "-S", source, "-B", source / "build",
            f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={shutil.which(COMPILER)}",
            f"-DCMAKE_CXX_FLAGS={' '.join(WARNINGS)}", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")
        run("cmake", "--build", source / "build")
        place = self.root / "vaults"
        place.mkdir(mode=0o700)
        # A loose umask, as a program may have it that knows nothing of the vault's rules.
        out = run("sh", "-c", 'umask 0; exec "$0" "$1"', source / "build/notes", place,
                  env=self.environment(), cwd=place)
        expected = fenced("text")
        self.assertEqual(out[:len(expected)], expected)
        self.assertRegex(out[len(expected):], r"^locked: .*\[locked\]\n$")
        files = [path for path in (self.root / "home", place) for path in path.rglob("*")]
        self.assertGreater(len(files), 6)
        for path in files:
            mode = stat.S_IMODE(path.lstat().st_mode)
            # Folders above the vault's own are the caller's.
            if path.is_file() or "memory.vault" in path.parts:
                self.assertEqual(mode & 0o077, 0, f"{path} has mode {mode:o}")

        # What the library made, the program opens.
        shown = run(self.prefix / "bin/strongroom", "--vault", place / "memory.vault", "--keyfile",
                    place / "key", "--bank", "global", "get", "db/staging", env=self.environment(),
                    cwd=place)
        self.assertEqual(shown, "PostgreSQL 16, on port 5433")

    def test_a_newer_minor_version_is_not_found(self):
        source = self.root / "versions"
        source.mkdir()
        text = fenced("cmake").split("add_executable")[0].replace("LANGUAGES CXX", "LANGUAGES NONE")
        (source / "CMakeLists.txt").write_text(
            text.replace("strongroom REQUIRED", "strongroom 0.99 REQUIRED"), encoding="utf-8")
        done = subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", source / "build",
                               f"-DCMAKE_PREFIX_PATH={self.prefix}"], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("0.99", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
