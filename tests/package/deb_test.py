"""The Debian packages: what they hold and need, and that the program in them runs by itself.

    deb_test.py BUILD_FOLDER

Packs what is built there with scripts/package, twice: the bytes must be equal.
"""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
NEEDED = ("dpkg-deb", "dpkg", "dpkg-shlibdeps", "file", "fakeroot", "strace", "readelf")


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


def pack(output):
    """Package name -> file."""
    lines = run(PROJECT / "scripts/package", "--built", BUILD, "--output", output).splitlines()
    return {pathlib.Path(line).name.split("_")[0]: pathlib.Path(line) for line in lines}


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="strongroom-deb-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        cls.packages = pack(cls.root / "first")
        cls.unpacked = {}
        for name, path in cls.packages.items():
            cls.unpacked[name] = cls.root / name
            run("dpkg-deb", "-x", path, cls.unpacked[name])
        cls.usr = cls.unpacked["strongroom"] / "usr"

    def field(self, package, name):
        return run("dpkg-deb", "-f", self.packages[package], name).strip()

    def listing(self, package):
        """Path -> "mode owner", of all that is in a package."""
        rows = run("dpkg-deb", "-c", self.packages[package]).splitlines()
        return {row.split(None, 5)[5]: " ".join(row.split()[:2]) for row in rows}

    def test_two_packages(self):
        self.assertEqual(set(self.packages), {"strongroom", "libstrongroom-dev"})
        version = run(self.usr / "bin/strongroom", "--version").split()[1]
        for name in self.packages:
            self.assertEqual(self.field(name, "Version"), version)
            self.assertEqual(self.field(name, "Package"), name)
            self.assertTrue(self.field(name, "Description"))

    def test_contents(self):
        program = self.listing("strongroom")
        self.assertEqual(program["./usr/bin/strongroom"], "-rwxr-xr-x root/root")
        for name in ("man/man1/strongroom.1.gz", "bash-completion/completions/strongroom",
                     "zsh/vendor-completions/_strongroom",
                     "fish/vendor_completions.d/strongroom.fish", "doc/strongroom/copyright",
                     "doc/strongroom/changelog.gz", "doc/strongroom/cli.md"):
            self.assertEqual(program[f"./usr/share/{name}"], "-rw-r--r-- root/root", name)
        development = self.listing("libstrongroom-dev")
        for name in ("lib/libstrongroom.a", "include/strongroom/service/memory_service.h",
                     "lib/cmake/strongroom/strongroomConfig.cmake",
                     "share/doc/libstrongroom-dev/copyright"):
            self.assertEqual(development[f"./usr/{name}"], "-rw-r--r-- root/root", name)
        for path, mode in [*program.items(), *development.items()]:
            self.assertTrue(path.startswith("./usr/"), path)
            self.assertIn(mode, ("drwxr-xr-x root/root", "-rw-r--r-- root/root",
                                 "-rwxr-xr-x root/root"), path)
        both = {path for path in program if path in development and not path.endswith("/")}
        self.assertEqual(both, set())

    def test_compressed_files(self):
        share = self.usr / "share"
        page = gzip.decompress((share / "man/man1/strongroom.1.gz").read_bytes()).decode()
        self.assertEqual(page, run(self.usr / "bin/strongroom", "manual"))
        log = gzip.decompress((share / "doc/strongroom/changelog.gz").read_bytes()).decode()
        self.assertEqual(log, (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"))

    def test_dependencies_are_what_the_program_is_linked_with(self):
        depends = self.field("strongroom", "Depends")
        headers = run("readelf", "-d", self.usr / "bin/strongroom")
        libraries = re.findall(r"\(NEEDED\).*\[(lib[a-z0-9+]+)", headers)
        self.assertGreater(len(libraries), 5)
        for library in libraries:
            package = {"libz": "zlib1g", "libm": "libc6"}.get(library, library)
            self.assertRegex(depends, rf"\b{re.escape(package)}[-0-9a-z]* \(>=")
        self.assertIn("libsodium23 (>= 1.0.18-1+deb12u1)", depends)
        self.assertNotRegex(headers, r"R(UN)?PATH")
        # A program that links the archive needs what strongroomConfig.cmake looks for.
        needed = self.field("libstrongroom-dev", "Depends")
        config = (PROJECT / "cmake/strongroomConfig.cmake.in").read_text(encoding="utf-8")
        for name in re.search(r"IN ITEMS ([^)]*)", config).group(1).split():
            self.assertIn(f"lib{name}-dev", needed)

    def test_it_is_stripped(self):
        self.assertNotIn(".symtab", run("readelf", "-SW", self.usr / "bin/strongroom"))

    def test_it_runs_without_the_build_tree(self):
        home = self.root / "home"
        home.mkdir(mode=0o700)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
        program, trace, key = self.usr / "bin/strongroom", self.root / "trace", home / "key"

        def traced(*arguments):
            return run("strace", "-f", "-A", "-o", trace, "-e", "trace=%file", program, "--vault",
                       home / "memory.vault", "--keyfile", key, *arguments, env=environment, cwd=home)

        traced("init")
        traced("retain", "The staging database moved to port 5433.", "--bank", "global")
        self.assertIn("5433", traced("recall", "which port does staging use?"))
        self.assertIn("ok", traced("verify"))
        text = trace.read_text(encoding="utf-8", errors="replace")
        self.assertIn("memory.vault", text)
        for place in (BUILD, PROJECT):
            self.assertNotIn(f'"{place}/', text)
            self.assertNotIn(str(place).encode(), program.read_bytes())

    def test_dpkg_installs_and_removes_them(self):
        """With a data base of packages of its own, in which nothing that they depend on is."""
        target = self.root / "target"
        for name in ("updates", "info"):
            (target / "var/lib/dpkg" / name).mkdir(parents=True)
        (target / "var/lib/dpkg/status").touch()
        dpkg = ["fakeroot", "dpkg", f"--root={target}", "--force-depends", "--force-not-root",
                "--force-bad-path", "--log=/dev/null"]
        run(*dpkg, "--install", *self.packages.values())
        self.assertEqual(run(target / "usr/bin/strongroom", "--version"),
                         run(self.usr / "bin/strongroom", "--version"))
        status = run("dpkg-query", f"--admindir={target}/var/lib/dpkg", "-W",
                     "-f", "${Package} ${db:Status-Status}\n")
        self.assertEqual(sorted(status.splitlines()),
                         ["libstrongroom-dev installed", "strongroom installed"])
        run(*dpkg, "--remove", "strongroom", "libstrongroom-dev")
        left = [path for path in (target / "usr").rglob("*")] if (target / "usr").exists() else []
        self.assertEqual(left, [])

    def test_the_same_tree_gives_the_same_bytes(self):
        again = pack(self.root / "second")
        for name, path in self.packages.items():
            self.assertEqual(path.read_bytes(), again[name].read_bytes(), name)


if __name__ == "__main__":
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        print(f"SKIPPED: {', '.join(missing)} not installed")
        sys.exit(77)
    unittest.main(verbosity=2)
