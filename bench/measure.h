// Clocks, interleaved rounds, statistics, and the report as a table and as JSON.
//
// Two things are compared only by rounds that alternate between them: on a shared machine the load
// of one minute says nothing about the next. A ratio is the median of the rounds' own ratios.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace strongroom::bench {

/// `cpu` is this thread's CPU time, for what never waits; `wall` for what waits for the disk.
enum class Clock { cpu, wall };
double now_seconds(Clock clock);

/// The q-quantile, by nearest rank. `values` must not be empty.
double quantile(std::vector<double> values, double q);

/// One side of a comparison. `prepare` runs outside the clock before each round.
struct Contender {
  std::string name;
  std::function<void(std::size_t round)> prepare;
  std::function<void(std::size_t op)> op;  // `op` counts on over the rounds
};

struct Plan {
  std::size_t rounds = 9;
  std::size_t ops = 1000;  // a round
  Clock clock = Clock::wall;
  bool each = false;  // time every operation, for p50 and p99; else a round as a whole
};

/// What one contender needed: seconds an operation.
struct Series {
  std::string name;
  std::vector<double> rounds;  // a round's mean, or its median where each operation was timed
  std::vector<double> each;    // every operation, where each was timed
  std::vector<double> cpu;     // a round's mean of this thread's CPU time, whatever the clock
};

/// Runs the contenders round by round, in an order that turns. The first round warms up and counts
/// for nothing.
std::vector<Series> run_interleaved(const Plan& plan, const std::vector<Contender>& contenders);

/// Median over the rounds of a's time by b's.
double ratio(const Series& a, const Series& b);

struct Comparison {
  std::string what;  // "ours / floor"
  double value = 0;
  std::optional<double> at_most;  // the target, where there is one
  std::optional<double> at_least;
  bool met() const { return (!at_most || value <= *at_most) && (!at_least || value >= *at_least); }
};

/// A row of the report: series, plain figures, comparisons.
struct Row {
  std::string id;  // "get-100k"
  std::string title;
  Clock clock = Clock::wall;
  std::vector<Series> series;
  struct Figure {
    std::string name, unit;
    double value = 0;
  };
  std::vector<Figure> figures;
  std::vector<Comparison> comparisons;
  double load_before = 0, load_after = 0;  // one-minute load average
};

double load_average();

class Report {
 public:
  explicit Report(std::string program) : program_(std::move(program)) {}
  /// Prints the row at once and keeps it.
  void add(Row row);
  /// Writes what was added: machine, date and rows.
  void write(const std::string& path) const;

 private:
  std::string program_;
  std::vector<Row> rows_;
};

}  // namespace strongroom::bench
