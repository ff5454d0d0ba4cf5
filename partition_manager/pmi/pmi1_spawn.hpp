// A spawn request of PMI-1: the lines between "mcmd=spawn" and "endcmd". MPI_Comm_spawn_multiple
// sends one such request per command. Separate from pmi1_server.cpp, which contains the protocol;
// this file parses one request. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

struct Pmi1Spawn {
    SpawnCommand command;
    std::vector<std::pair<std::string, std::string>> pairs;  // for the key space of the new tasks
    long number = 1;                                         // number of this request, from 1
    long total = 1;                                          // number of requests in total
    // Our own library asks: it wants the reason of a failure, also of one after the answer, because
    // it waits until the new tasks have read their pairs.
    bool is_own = false;
    // Follows "a request that"; empty: no error.
    std::string trouble;
};

// The limit of each count in a request: commands, arguments of one command, pairs.
inline constexpr long kMostPmi1Items = 4096;

// Unknown keys are ignored, as the MPI standard says about info keys. `soft` is refused.
Pmi1Spawn parse_pmi1_spawn(const std::vector<std::pair<std::string, std::string>>& lines);

}  // namespace poe::pm
