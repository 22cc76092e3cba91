#include "core/trace/csv/csv_trace.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <utility>

#include "core/trace/csv/columns.h"
#include "core/trace/csv/rows.h"

namespace prism::trace {
namespace {

using Visit = std::function<absl::Status(const Step&)>;

// Reads the rows of `bytes` and calls `visit` for each usable one until it
// returns false. Rows that are not go to `damage`, which may be null.
absl::Status ForEachRow(
    ByteSource& bytes, const std::optional<Sizes>& sizes, DamageLog* damage,
    const std::function<bool(int64_t, Columns::Row&)>& visit) {
  std::optional<Columns> columns;
  absl::Status status;
  bool stopped = false;
  RowSplitter splitter(
      [&](int64_t line, std::span<const std::string_view> fields) {
        if (stopped) return;
        if (!columns) {
          absl::StatusOr<Columns> found = Columns::Find(fields, damage);
          status = found.status();
          stopped = !found.ok();
          if (found.ok()) columns = *std::move(found);
          return;
        }
        std::optional<Columns::Row> row =
            columns->Read(line, fields, sizes, damage);
        if (row) stopped = !visit(line, *row);
      });
  const absl::Status read =
      bytes.ForEachBlock([&](std::string_view block) -> absl::Status {
        splitter.Feed(block);
        // A stop on purpose: any error ends the reading.
        return stopped ? absl::CancelledError() : absl::OkStatus();
      });
  if (!stopped) splitter.Finish();
  if (!status.ok()) return status;
  if (!stopped && !read.ok()) return read;
  if (!columns) {
    return absl::InvalidArgumentError("is no operator trace: it has no rows");
  }
  return absl::OkStatus();
}

}  // namespace

// What the first reading gathers.
struct CsvTrace::FirstReading {
  CsvTrace& trace;
  absl::flat_hash_map<int64_t, size_t> places;
  Sizes seen{.data = 0, .pipeline = 0};

  void Add(int64_t line, Columns::Row& row) {
    const auto [found, is_new] =
        places.try_emplace(row.step, trace.index_.size());
    if (is_new) trace.index_.push_back({row.step, 0});
    const size_t place = found->second;
    if (place + 1 < trace.index_.size() && trace.contiguous_) {
      trace.contiguous_ = false;
      trace.damage_.Add(line, "step",
                        "continues after rows of other steps; put together");
    }
    ++trace.index_[place].operations;
    ++trace.operations_;
    seen.data = std::max(seen.data, row.operation.replica + 1);
    seen.pipeline = std::max(seen.pipeline, row.operation.stage + 1);
    seen.chunks = std::max(seen.chunks, row.operation.chunk + 1);
    Hold(place, row);
  }

  void Hold(size_t place, const Columns::Row& row) {
    if (!trace.held_) return;
    if (trace.operations_ > trace.most_held_) {
      trace.held_ = false;
      trace.steps_ = {};
      return;
    }
    if (place == trace.steps_.size()) trace.steps_.push_back({row.step, {}});
    trace.steps_[place].operations.push_back(row.operation);
  }
};

absl::StatusOr<std::unique_ptr<CsvTrace>> CsvTrace::Open(
    ByteSource& bytes, std::optional<Sizes> sizes, DamageLog& damage,
    int64_t most_held) {
  std::unique_ptr<CsvTrace> trace(new CsvTrace(bytes, damage, most_held));
  trace->known_ = sizes;
  if (absl::Status status = trace->ReadFirst(); !status.ok()) {
    return status;
  }
  return trace;
}

absl::Status CsvTrace::ReadFirst() {
  held_ = true;
  FirstReading reading{*this, {}};
  absl::Status status = ForEachRow(bytes_, known_, &damage_,
                                   [&](int64_t line, Columns::Row& row) {
                                     reading.Add(line, row);
                                     return true;
                                   });
  sizes_ = known_.value_or(reading.seen);
  if (!known_) {
    damage_.Add(0, "", "sizes of the job are unknown; taken from the rows");
  }
  for (Step& step : steps_) Order(step);
  if (held_) LogTwice();
  return status;
}

void CsvTrace::LogTwice() {
  if (twice_ > 0 && !logged_twice_) {
    damage_.Add(0, "", "operations recorded twice; the first one kept", "",
                twice_);
  }
  logged_twice_ = true;
}

absl::Status CsvTrace::ForEach(const Visit& visit) {
  if (held_) {
    for (const Step& step : steps_) {
      if (absl::Status status = visit(step); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
  absl::Status status = contiguous_ ? StreamSteps(visit) : ReadAgain(visit);
  if (status.ok()) LogTwice();
  return status;
}

absl::Status CsvTrace::ReadAgain(const Visit& visit) {
  size_t first = 0;
  while (first < index_.size()) {
    size_t last = first;
    int64_t operations = 0;
    do {
      operations += index_[last++].operations;
    } while (last < index_.size() &&
             operations + index_[last].operations <= most_held_);
    absl::Status status = GatherSteps(first, last, visit);
    if (!status.ok()) return status;
    first = last;
  }
  return absl::OkStatus();
}

absl::Status CsvTrace::StreamSteps(const Visit& visit) {
  Step step;
  absl::Status visited;
  const auto hand_over = [&] {
    if (step.operations.empty()) return true;
    Order(step);
    visited = visit(step);
    step.operations.clear();
    return visited.ok();
  };
  absl::Status status =
      ForEachRow(bytes_, known_, nullptr, [&](int64_t, Columns::Row& row) {
        if (row.step != step.number && !hand_over()) {
          return false;
        }
        step.number = row.step;
        step.operations.push_back(row.operation);
        return true;
      });
  if (status.ok() && visited.ok()) hand_over();
  return visited.ok() ? status : visited;
}

absl::Status CsvTrace::GatherSteps(size_t first, size_t last,
                                   const Visit& visit) {
  std::vector<Step> steps(last - first);
  absl::flat_hash_map<int64_t, size_t> places;
  for (size_t i = first; i < last; ++i) {
    steps[i - first].number = index_[i].step;
    places[index_[i].step] = i - first;
  }
  absl::Status status =
      ForEachRow(bytes_, known_, nullptr, [&](int64_t, Columns::Row& row) {
        const auto place = places.find(row.step);
        if (place != places.end()) {
          steps[place->second].operations.push_back(row.operation);
        }
        return true;
      });
  if (!status.ok()) return status;
  for (Step& step : steps) {
    Order(step);
    if (status = visit(step); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace prism::trace
