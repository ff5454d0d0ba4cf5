// A spawn request of PMI-1: the lines between "mcmd=spawn" and "endcmd", of which there is one
// batch for each command of an MPI_Comm_spawn_multiple. Apart from pmi1_server.cpp: that one is the
// conversation, this is what one request says. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

struct Pmi1Spawn {
    SpawnCommand command;
    std::vector<std::pair<std::string, std::string>> pairs;  // for the new tasks' space
    long number = 1;                                         // of this request, among
    long total = 1;                                          // so many
    std::string trouble;                                     // behind "a request that"; empty: none
};

// The most that a request may count: commands, arguments of one, pairs.
inline constexpr long kMostPmi1Items = 4096;

// What is not known is passed over, as the MPI standard has it for info keys; `soft` is refused.
Pmi1Spawn parse_pmi1_spawn(const std::vector<std::pair<std::string, std::string>>& lines);

}  // namespace poe::pm
