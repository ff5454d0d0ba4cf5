// The marker array without a terminal: changes as lines of text or JSON, and a single table. Pure.
#pragma once

#include <string>
#include <vector>

#include "markerarray/view.hpp"

namespace poe::markers {

// Returns the lines that report a changed row: marks, progress in steps of a tenth, the end of a
// task, stops. "   1.234 s  task 3  light 2 red".
std::vector<std::string> change_lines(const TaskRow& before, const TaskRow& after, Moment elapsed);

// Returns the whole row as one JSON object on one line. "lights" are the colours; null for a light
// that is not set.
std::string row_json(const TaskRow& row, const JobFacts& job, Moment elapsed);
// Returns {"job":...,"program":...,"tasks":...,"nodes":[...]}, with "ended":true at the end of a
// job.
std::string job_json(const JobFacts& job, Moment elapsed, bool ended);

// Returns a title and these rows, `columns` wide. If `unicode` is false, uses only ASCII shapes.
std::string table_text(const Picture& picture, const Order& order, std::size_t lights,
                       bool progress, int columns, bool unicode);

}  // namespace poe::markers
