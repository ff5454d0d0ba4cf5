// Objects that were never freed; see leaks.hpp.
#include "mpi/check/leaks.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/check/judge.hpp"
#include "mpi/check/ledger.hpp"
#include "mpi/check/place_words.hpp"
#include "mpi/communicator/exchange.hpp"

namespace poe::mpi::check {
namespace {

// What a task says about one source.
struct Rest {
    Source source;
    std::int64_t objects = 0;
    std::int64_t task = 0;
};
constexpr std::size_t kRestWords = sizeof(Rest) / sizeof(std::int32_t);

struct KindWords {
    const char* one;
    const char* several;
    const char* remedy;
};

KindWords words_of(Kind kind) {
    switch (kind) {
        case Kind::kComm:
            return {"communicator", "communicators", "MPI_Comm_free"};
        case Kind::kDatatype:
            return {"datatype", "datatypes", "MPI_Type_free"};
        case Kind::kErrhandler:
            return {"error handler", "error handlers", "MPI_Errhandler_free"};
        case Kind::kGroup:
            return {"group", "groups", "MPI_Group_free"};
        case Kind::kInfo:
            return {"info", "infos", "MPI_Info_free"};
        case Kind::kOp:
            return {"operation", "operations", "MPI_Op_free"};
        case Kind::kRequest:
            return {"request", "requests", "MPI_Wait or MPI_Request_free"};
        case Kind::kMessage:
            return {"message", "messages", "MPI_Mrecv"};
        case Kind::kWin:
            return {"window", "windows", "MPI_Win_free"};
        case Kind::kFile:
        case Kind::kSession:
            break;
    }
    return {"object", "objects", "its function for that"};
}

Words own_words(TaskId task) {
    Words words;
    for (const auto& [source, objects] : ledger().rest()) {
        const Rest rest{source, objects, task};
        words.resize(words.size() + kRestWords);
        std::memcpy(words.data() + words.size() - kRestWords, &rest, sizeof rest);
    }
    return words;
}

struct Sum {
    std::int64_t objects = 0;
    std::vector<TaskId> tasks;
};

std::string line_of(const Source& source, Sum& sum) {
    std::sort(sum.tasks.begin(), sum.tasks.end());
    const KindWords kind = words_of(source.its_kind());
    return "       " + std::to_string(sum.objects) + " " +
           (sum.objects == 1 ? kind.one : kind.several) + " of " + words_of_call(source.place) +
           " in " + words_of_tasks(sum.tasks) + "; free with " + kind.remedy + "\n";
}

}  // namespace

std::string report_leaks(comm::Runtime& runtime, const Comm& comm) {
    Words all;
    // A task that has ended has no say.
    if (collect_words(runtime, comm, own_words(runtime.task()), all) || comm.rank != 0) return {};
    std::map<Source, Sum> sums;
    for (std::size_t at = 0; at + kRestWords <= all.size(); at += kRestWords) {
        Rest rest;
        std::memcpy(static_cast<void*>(&rest), all.data() + at, sizeof rest);
        Sum& sum = sums[rest.source];
        sum.objects += rest.objects;
        sum.tasks.push_back(static_cast<TaskId>(rest.task));
    }
    if (sums.empty()) return {};
    std::string text = "ATTENTION: 0032-298 MPI_Finalize: these objects were never freed:\n";
    for (auto& [source, sum] : sums) text += line_of(source, sum);
    return text;
}

}  // namespace poe::mpi::check
