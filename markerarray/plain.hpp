// The marker array without a terminal: changes as lines of text or JSON, and a table once. Pure.
#pragma once

#include <string>
#include <vector>

#include "markerarray/view.hpp"

namespace poe::markers {

// What is worth a line when a row has changed: marks, progress by whole tenths, the end of a task,
// stops. "   1.234 s  task 3  light 2 red".
std::vector<std::string> change_lines(const TaskRow& before, const TaskRow& after, Moment elapsed);

// One JSON object on a line, with all that a row says; "lights" are the colours, null where none.
std::string row_json(const TaskRow& row, const JobFacts& job, Moment elapsed);
// {"job":...,"program":...,"tasks":...,"nodes":[...]}; at the end of a job with "ended":true.
std::string job_json(const JobFacts& job, Moment elapsed, bool ended);

// Title and these rows, `columns` wide, without the shapes that a terminal may not have when
// `unicode` is false.
std::string table_text(const Picture& picture, const Order& order, std::size_t lights,
                       bool progress, int columns, bool unicode);

}  // namespace poe::markers
