// The names and kinds of all calls. The list of MPI calls is generated from
// mpi/table/functions.tsv.
#include "base/calls.hpp"

#include <cstddef>
#include <iterator>

namespace poe {
namespace {

struct CallFacts {
    std::string_view name;
    CallKind kind;
};

// In the order of the numbers.
constexpr CallFacts kMplCalls[] = {
    {"computing", CallKind::kNone},           {"mpc_bsend", CallKind::kSends},
    {"mpc_brecv", CallKind::kReceives},       {"mpc_sync", CallKind::kCollective},
    {"mpc_bsendrecv", CallKind::kExchanges},  {"mpc_bvsend", CallKind::kSends},
    {"mpc_bvrecv", CallKind::kReceives},      {"mpc_send", CallKind::kSends},
    {"mpc_recv", CallKind::kReceives},        {"mpc_rcvncall", CallKind::kReceives},
    {"mpc_wait", CallKind::kCompletes},       {"mpc_status", CallKind::kCompletes},
    {"mpc_probe", CallKind::kReceives},       {"mpc_flush", CallKind::kFlushes},
    {"mpc_bcast", CallKind::kCollective},     {"mpc_combine", CallKind::kCollective},
    {"mpc_reduce", CallKind::kCollective},    {"mpc_prefix", CallKind::kCollective},
    {"mpc_concat", CallKind::kCollective},    {"mpc_index", CallKind::kCollective},
    {"mpc_gather", CallKind::kCollective},    {"mpc_scatter", CallKind::kCollective},
    {"mpc_shift", CallKind::kCollective},     {"mpc_group", CallKind::kCollective},
    {"mpc_partition", CallKind::kCollective}, {"mpc_collwait", CallKind::kCollective},
};

constexpr CallFacts kMpiCalls[] = {
#define MPI_CALL(enumerator, name, kind) {name, CallKind::kind},
#include "base/mpi_calls.inc"
#undef MPI_CALL
};

static_assert(kFirstMpiCall + std::size(kMpiCalls) <= kLastCall + 1);

constexpr CallFacts kUnknown = {"?", CallKind::kOther};

const CallFacts& facts_of(Call call) noexcept {
    const auto number = static_cast<std::size_t>(call);
    if (number < std::size(kMplCalls)) return kMplCalls[number];
    if (number < kFirstMpiCall || number - kFirstMpiCall >= std::size(kMpiCalls)) return kUnknown;
    return kMpiCalls[number - kFirstMpiCall];
}

}  // namespace

std::string_view call_name(Call call) noexcept {
    return facts_of(call).name;
}

CallKind call_kind(Call call) noexcept {
    return facts_of(call).kind;
}

}  // namespace poe
