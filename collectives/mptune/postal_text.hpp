// The tables of mptune -postal as text. They are separate from the measuring (postal_report.hpp) so
// that tests can check them.
#pragma once

#include <string>
#include <vector>

namespace poe::collectives {

// Tables 1 and 2 as text. Pure.
std::string postal_tables_text();

struct AlphaRow {
    double alpha = 0;
    double predicted = 0;  // microseconds
    double measured = 0;
};
// The rows as text; the least time of each column is marked. Pure.
std::string alpha_text(const std::vector<AlphaRow>& rows);

}  // namespace poe::collectives
