// See fortran_values.hpp.
#include "mpi/foreign_abi/fortran_values.hpp"

#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace poe::mpi::foreign {
namespace {

struct Values {
    std::mutex lock;
    std::map<std::pair<MPI_Aint, int>, FortranValue> by_value;  // at fixed addresses
    std::set<const void*> addresses;
};
Values& values() {
    static auto* all = new Values;
    return *all;
}

}  // namespace

void* keep_fortran_value(MPI_Aint value, int type) {
    const std::lock_guard guard(values().lock);
    FortranValue& kept = values().by_value[{value, type}];
    kept = {value, type};
    values().addresses.insert(&kept);
    return &kept;
}

const FortranValue* find_fortran_value(const void* attribute) {
    const std::lock_guard guard(values().lock);
    return values().addresses.count(attribute) == 0 ? nullptr
                                                    : static_cast<const FortranValue*>(attribute);
}

}  // namespace poe::mpi::foreign
