// Reads tables and fenced blocks out of the Markdown of the project, so that tests hold the pages
// against the program.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace strongroom::docs {

/// The repository, found from this file's place in it.
inline std::filesystem::path project_folder() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

inline std::string trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return std::string(text);
}

using Row = std::vector<std::string>;

/// The cells of "| a | b |".
inline Row cells_of(std::string_view line) {
  Row cells;
  line.remove_prefix(1);
  while (!line.empty()) {
    const std::size_t end = line.find('|');
    if (end == std::string_view::npos) break;
    cells.push_back(trimmed(line.substr(0, end)));
    line.remove_prefix(end + 1);
  }
  return cells;
}

/// The first table below the heading ("Header file", without its #), without its two head lines.
inline std::vector<Row> table_below(const std::string& text, std::string_view heading) {
  std::vector<Row> rows;
  bool below = false;
  for (const std::string& line : lines_of(text)) {
    const std::size_t marks = line.find_first_not_of('#');
    if (marks != 0 && marks != std::string::npos && line[marks] == ' ') {
      below = trimmed(std::string_view(line).substr(marks)) == heading;
    } else if (below && !line.empty() && line[0] == '|') {
      rows.push_back(cells_of(line));
    } else if (below && rows.size() > 0) {
      break;
    }
  }
  if (rows.size() < 3) throw std::runtime_error("no table below " + std::string(heading));
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

/// The texts of fenced blocks of that language.
inline std::vector<std::string> fenced_blocks(const std::string& text, std::string_view language) {
  std::vector<std::string> blocks;
  const std::string open = "```" + std::string(language);
  bool inside = false;
  for (const std::string& line : lines_of(text)) {
    if (!inside && line == open) {
      inside = true;
      blocks.emplace_back();
    } else if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

}  // namespace strongroom::docs
