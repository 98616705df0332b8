"""The manual page: every command and option of --help is in it, and what docs/cli.md says beside.

The page is made by the program from the same description as --help. What is tested is that nothing
is lost on the way through troff, and that the sections written by hand keep up with docs/cli.md and
with the sources.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("STRONGROOM_BIN") or sys.exit("STRONGROOM_BIN must name the binary")
PREDEFINED = {"Arguments", "Options"}


def run(*arguments):
    done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def sections(text):
    """Of a help text: heading -> [(left column, right column)]."""
    found, rows = {}, None
    for line in text.splitlines():
        if re.fullmatch(r"\S[^:]*:", line):
            rows = found.setdefault(line[:-1], [])
        elif rows is not None and line.startswith("  ") and line.strip():
            if line.startswith("   "):  # the right column alone
                left, right = rows[-1]
                rows[-1] = (left, (right + " " + line.strip()).strip())
            else:
                left, _, right = line[2:].partition("  ")
                rows.append((left.strip(), right.strip()))
    return found


class Command:
    def __init__(self, path):
        self.path = path
        self.sections = sections(run(*path, "--help"))
        self.commands = []  # (names, help)
        for heading, rows in self.sections.items():
            if heading not in PREDEFINED:
                self.commands += [(left.split(", "), right) for left, right in rows]


def walk(path=()):
    command = Command(path)
    yield command
    for names, _ in command.commands:
        yield from walk((*path, names[0]))


def shown(text):
    """What a reader sees of a line of troff."""
    for mark, sign in (("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(ha", "^"), ("\\(ti", "~"),
                       ("\\&", ""), ("\\fB", ""), ("\\fI", ""), ("\\fR", ""), ("\\e", "\\")):
        text = text.replace(mark, sign)
    return text


def entries(page):
    """All ".TP" entries in their order: (head, text), with how deep they stand."""
    lines, depth, found = page.splitlines(), 0, []
    for number, line in enumerate(lines):
        depth += (line == ".RS") - (line == ".RE")
        if line == ".TP":
            found.append((depth, shown(lines[number + 1]), shown(lines[number + 2])))
    return found


def table_names(page, heading):
    """The first cells of a table of docs/cli.md, each `name` in them."""
    text = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]*) \|", text, re.MULTILINE)[1:]
    return [name for row in rows for name in re.findall(r"[A-Z][A-Z_]+|\b\d+\b", row)]


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = run("manual")
        cls.commands = list(walk())
        cls.documented = (PROJECT / "docs/cli.md").read_text(encoding="utf-8")

    def section(self, title):
        """The text of a section, as a reader sees it."""
        return shown(self.page.split(f"\n.SH {title}\n")[1].split("\n.SH ")[0])

    def test_it_found_the_commands(self):
        paths = {" ".join(command.path) for command in self.commands}
        self.assertLessEqual({"", "set", "recall", "policy explain", "manual"}, paths)
        self.assertGreater(len(paths), 40)

    def test_every_command_and_option_is_in_it(self):
        """In the order of --help, each with its options below it, and nothing else."""
        page = self.page.split("\n.SH OPTIONS\n")[1].split("\n.SH EXIT STATUS\n")[0]
        expected = []
        helps = {command.path: command for command in self.commands}

        def add(path, names, help_text):
            command = helps[path]
            expected.append((0, [" ".join((*path[:-1], name)) for name in names], help_text + "."))
            inner = []
            for heading in ("Arguments", "Options"):
                for left, right in command.sections.get(heading, []):
                    if not left.startswith("-h,--help"):
                        inner.append((1, [left], right))
            expected.extend(inner)
            for more, text in command.commands:
                add((*path, more[0]), more, text)

        root = helps[()]
        for left, right in root.sections["Options"]:
            if not left.startswith("-h,--help"):
                expected.append((0, [left], right))
        for names, text in root.commands:
            add((names[0],), names, text)

        found = entries(page)
        self.assertEqual(len(found), len(expected))
        for (depth, head, text), (wanted_depth, names, wanted_text) in zip(found, expected):
            with self.subTest(head=head):
                self.assertEqual(depth, wanted_depth)
                self.assertEqual(" ".join(text.split()), " ".join(wanted_text.split()))
                # --help writes "-y,--yes" and "--include-chunks [=N]".
                words = head.replace(", ", ",").removesuffix(" ...")
                if wanted_depth == 0 and not names[0].startswith("-"):
                    for name in names:
                        self.assertRegex(words, rf"(^|alias ){re.escape(name)}(?=[ ,]|$)")
                else:
                    self.assertEqual([words],
                                     [name.replace(" [=", "[=").removesuffix(" ...")
                                      for name in names])

    def test_headings_are_those_of_help(self):
        headings = [heading for heading in self.commands[0].sections if heading not in PREDEFINED]
        self.assertEqual(re.findall(r"^\.SS (.*)$", self.page, re.MULTILINE), headings)

    def test_usage_is_that_of_help(self):
        for command in self.commands:
            if not command.path or command.commands:
                continue
            usage = run(*command.path, "--help").split("Usage: strongroom ")[1].splitlines()[0]
            words = usage.replace("[OPTIONS] ", "").replace("[OPTIONS]", "").strip()
            heads = [head for _, head, _ in entries(self.page)]
            self.assertTrue(any(head.split(", alias")[0].replace(" ...", "...").replace("...", "")
                                == words.replace("...", "") for head in heads), words)

    def test_environment_is_complete(self):
        here = {name for name in re.findall(r"\b[A-Z][A-Z_]{3,}\b", self.section("ENVIRONMENT"))}
        documented = set(table_names(self.documented, "Environment"))
        self.assertLessEqual(documented, here)
        read = set()
        for layer in [path.parent for path in PROJECT.glob("*/CMakeLists.txt")]:
            if layer.name in ("tests", "bench", "fuzz", "build"):
                continue
            for path in layer.glob("*.cpp"):
                text = path.read_text(encoding="utf-8")
                read |= set(re.findall(r'\b(?:env|getenv|xdg_directory)\("([A-Z_]+)"', text))
        self.assertGreater(len(read), 10)
        self.assertLessEqual(read, here)
        self.assertLessEqual(read, documented)

    def test_exit_status_is_complete(self):
        codes = [head for _, head, _ in entries(".SH\n" + self.page.split("\n.SH EXIT STATUS\n")[1]
                                                .split("\n.SH ")[0])]
        text = self.documented.split("\n## Exit codes\n")[1].split("\n## ")[0]
        self.assertEqual(codes, re.findall(r"^\| (\d+) \|", text, re.MULTILINE))

    def test_files_are_named(self):
        text = self.section("FILES")
        for name in ("$XDG_DATA_HOME/strongroom/memory.vault", "$XDG_CONFIG_HOME/strongroom/key",
                     "$XDG_STATE_HOME/strongroom/anchors", ".strongroom.json"):
            self.assertIn(name, text)

    def test_every_command_is_in_the_documentation(self):
        commands = self.documented.split("\n## Commands\n")[1].split("\n## ")[0]
        for names, _ in self.commands[0].commands:
            for name in names:
                self.assertRegex(commands, rf"`{name}[ `]", name)

    def test_troff_has_nothing_to_say(self):
        if shutil.which("groff") is None:
            self.skipTest("SKIPPED: groff is not installed")
        done = subprocess.run(["groff", "-man", "-Tutf8", "-P-c", "-ww", "-rLL=110n"],
                              input=self.page, capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        text = re.sub(r".\x08", "", done.stdout)
        for words in ("NAME", "strongroom - encrypted memory vault", "--if-revision N",
                      "Use this bank instead of the project's", "EXIT STATUS", "FILES"):
            self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
