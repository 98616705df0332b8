#include "bench/measure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/time.h"

namespace strongroom::bench {
namespace {

constexpr std::size_t kWarmUpRounds = 1;

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::uint64_t memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size);
}

void write_machine(JsonWriter& json) {
  utsname system{};
  ::uname(&system);
  json.key("machine").begin_object();
  json.member("cpu", cpu_name());
  json.member("processors", static_cast<std::int64_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
  json.member("memory_bytes", memory_bytes());
  json.member("kernel", system.release);
  json.member("compiler", __VERSION__);
  json.end_object();
}

double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

void write_series(JsonWriter& json, const Series& series) {
  json.begin_object();
  json.member("name", series.name);
  json.key("median_us").number(rounded(quantile(series.rounds, 0.5) * 1e6));
  json.key("p25_us").number(rounded(quantile(series.rounds, 0.25) * 1e6));
  json.key("cpu_median_us").number(rounded(quantile(series.cpu, 0.5) * 1e6));
  json.member("rounds", static_cast<std::uint64_t>(series.rounds.size()));
  if (!series.each.empty()) {
    json.member("operations", static_cast<std::uint64_t>(series.each.size()));
    json.key("p50_us").number(rounded(quantile(series.each, 0.5) * 1e6));
    json.key("p99_us").number(rounded(quantile(series.each, 0.99) * 1e6));
  }
  json.end_object();
}

void write_row(JsonWriter& json, const Row& row) {
  json.begin_object();
  json.member("id", row.id);
  json.member("title", row.title);
  json.member("clock", row.clock == Clock::cpu ? "thread cpu" : "wall");
  json.key("load").begin_array().number(row.load_before).number(row.load_after).end_array();
  json.key("series").begin_array();
  for (const Series& series : row.series) write_series(json, series);
  json.end_array();
  json.key("figures").begin_array();
  for (const Row::Figure& figure : row.figures) {
    json.begin_object().member("name", figure.name).member("unit", figure.unit);
    json.key("value").number(rounded(figure.value)).end_object();
  }
  json.end_array();
  json.key("comparisons").begin_array();
  for (const Comparison& comparison : row.comparisons) {
    json.begin_object().member("what", comparison.what);
    json.key("value").number(rounded(comparison.value));
    if (comparison.at_most) json.key("at_most").number(*comparison.at_most);
    if (comparison.at_least) json.key("at_least").number(*comparison.at_least);
    if (comparison.at_most || comparison.at_least) json.member("met", comparison.met());
    json.end_object();
  }
  json.end_array().end_object();
}

void print(const Row& row) {
  std::printf("\n%s  [%s, %s, load %.1f-%.1f]\n", row.title.c_str(), row.id.c_str(),
              row.clock == Clock::cpu ? "thread CPU" : "wall", row.load_before, row.load_after);
  for (const Series& series : row.series) {
    std::printf("  %-34s median %10.2f us   p25 %10.2f", series.name.c_str(),
                quantile(series.rounds, 0.5) * 1e6, quantile(series.rounds, 0.25) * 1e6);
    if (!series.each.empty()) {
      std::printf("   op p50 %9.2f  p99 %9.2f", quantile(series.each, 0.5) * 1e6,
                  quantile(series.each, 0.99) * 1e6);
    }
    if (row.clock == Clock::wall) std::printf("   cpu %8.2f", quantile(series.cpu, 0.5) * 1e6);
    std::printf("\n");
  }
  for (const Row::Figure& figure : row.figures) {
    std::printf("  %-34s %.4g %s\n", figure.name.c_str(), figure.value, figure.unit.c_str());
  }
  for (const Comparison& comparison : row.comparisons) {
    std::printf("  %-34s %.3f", comparison.what.c_str(), comparison.value);
    if (comparison.at_most) std::printf("   target <= %g", *comparison.at_most);
    if (comparison.at_least) std::printf("   target >= %g", *comparison.at_least);
    if (comparison.at_most || comparison.at_least) {
      std::printf("   %s", comparison.met() ? "met" : "NOT met");
    }
    std::printf("\n");
  }
  std::fflush(stdout);
}

}  // namespace

double now_seconds(Clock clock) {
  timespec time{};
  ::clock_gettime(clock == Clock::cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double quantile(std::vector<double> values, double q) {
  const auto last = static_cast<double>(values.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(std::lround(q * last));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

std::vector<Series> run_interleaved(const Plan& plan, const std::vector<Contender>& contenders) {
  std::vector<Series> all;
  for (const Contender& contender : contenders) all.push_back({contender.name, {}, {}, {}});
  std::vector<double> times;
  for (std::size_t round = 0; round < plan.rounds + kWarmUpRounds; ++round) {
    for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
      const std::size_t who = (turn + round) % contenders.size();
      const Contender& contender = contenders[who];
      if (contender.prepare) contender.prepare(round);
      const std::size_t first = round * plan.ops;
      times.clear();
      const double cpu_before = now_seconds(Clock::cpu);
      double before = now_seconds(plan.clock);
      for (std::size_t op = first; op < first + plan.ops; ++op) {
        contender.op(op);
        if (!plan.each) continue;
        const double after = now_seconds(plan.clock);
        times.push_back(after - before);
        before = after;
      }
      const double rest = now_seconds(plan.clock) - before;
      const double cpu = now_seconds(Clock::cpu) - cpu_before;
      if (round < kWarmUpRounds) continue;
      Series& series = all[who];
      series.cpu.push_back(cpu / static_cast<double>(plan.ops));
      series.rounds.push_back(plan.each ? quantile(times, 0.5)
                                        : rest / static_cast<double>(plan.ops));
      series.each.insert(series.each.end(), times.begin(), times.end());
    }
  }
  return all;
}

double ratio(const Series& a, const Series& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.rounds.size(); ++i) ratios.push_back(a.rounds[i] / b.rounds[i]);
  return quantile(std::move(ratios), 0.5);
}

double load_average() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

void Report::add(Row row) {
  row.load_after = load_average();
  print(row);
  rows_.push_back(std::move(row));
}

void Report::write(const std::string& path) const {
  JsonWriter json(JsonWriter::Style::indented);
  json.begin_object();
  json.member("program", program_);
  json.member("date", format_time(now_ms()));
  write_machine(json);
  json.key("rows").begin_array();
  for (const Row& row : rows_) write_row(json, row);
  json.end_array().end_object();
  std::ofstream out(path);
  out << json.text() << "\n";
  if (!out.flush()) throw std::runtime_error("the report could not be written");
  std::printf("\nwritten: %s\n", path.c_str());
}

}  // namespace strongroom::bench
