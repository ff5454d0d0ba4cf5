// The postal model beside what is measured: the report of mptune -postal. It prints tables 1 and 2
// of the postal paper (Bruck et al. 1996), lambda with blocking and with non-blocking sends (figure
// 5), and the predicted and measured time of a broadcast by the share alpha that stays with the
// sender (figures 10 to 13).
#pragma once

#include <vector>

#include "base/types.hpp"

namespace poe::collectives {

// Measures among the players, players[0] being task 0, which prints. All tasks of the job call it.
// Blocks. Returns an exit status. Throws Error.
int report_postal(const std::vector<int>& players, Bytes bytes, int me);

}  // namespace poe::collectives
