// Implementation of data_flow.hpp.
#include "base/data_flow.hpp"

#include <algorithm>
#include <string>

namespace poe {

DataFlow data_flow_of(std::string_view call) {
    std::string name(call);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const auto contains = [&name](std::string_view part) {
        return name.find(part) != std::string::npos;
    };
    if (name == "mpi_win_fence") return DataFlow::kFence;
    if (contains("barrier") || contains("sync") || contains("finalize") || name == "mpi_win_free")
        return DataFlow::kBarrier;
    const bool everywhere =
        contains("all") || contains("neighbor") || (contains("reduce") && contains("scatter"));
    if (everywhere) return DataFlow::kAllToAll;
    if (contains("bcast") || contains("scatter")) return DataFlow::kOneToAll;
    if (contains("reduce") || contains("gather")) return DataFlow::kAllToOne;
    if (contains("scan") || contains("prefix")) return DataFlow::kPrefix;
    return DataFlow::kAllToAll;
}

}  // namespace poe
