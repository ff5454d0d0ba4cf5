// The messages that make communicators; see exchange.hpp.
#include "mpi/communicator/exchange.hpp"

#include <string>

#include "collectives/engine/process_collectives.hpp"

namespace poe::mpi {
namespace {

constexpr auto kFlow = comm::FlowClass::kCollective;

comm::BufferView view_of_words(Words& words) noexcept {
    return {words.data(), words.size() * sizeof(std::int32_t)};
}

Fault receive_view(comm::Runtime& runtime, TaskId from, Route route, const comm::BufferView& view) {
    const comm::ReceiveRequest& receive =
        runtime.messages().receive(view, {route.context, from, route.type});
    return fault_of_exchange(runtime, receive.outcome, from);
}

// Words travel as two messages: their number, then the words.
Fault receive_words(comm::Runtime& runtime, TaskId from, Route route, Words& words) {
    std::int32_t count = 0;
    if (Fault fault = receive_view(runtime, from, route, {&count, sizeof count})) return fault;
    words.resize(static_cast<std::size_t>(count));
    if (count == 0) return {};
    return receive_view(runtime, from, route, view_of_words(words));
}

// The two messages that send words; does not block before wait().
class WordsSend {
  public:
    WordsSend(comm::Runtime& runtime, TaskId to, Route route, Words& words)
        : runtime_(runtime),
          count_(static_cast<std::int32_t>(words.size())),
          head_({&count_, sizeof count_}, to, route.type, route.context, kFlow),
          body_(view_of_words(words), to, route.type, route.context, kFlow) {
        runtime.messages().start(head_);
        if (count_ > 0) runtime.messages().start(body_);
    }
    Fault wait() {
        comm::Outcome outcome = runtime_.messages().wait(head_);
        if (count_ > 0) {
            const comm::Outcome rest = runtime_.messages().wait(body_);
            if (outcome == comm::Outcome::kDone) outcome = rest;
        }
        return fault_of_exchange(runtime_, outcome, head_.dest);
    }

  private:
    comm::Runtime& runtime_;
    std::int32_t count_;
    comm::SendRequest head_;
    comm::SendRequest body_;
};

}  // namespace

Fault fault_of_exchange(comm::Runtime& runtime, comm::Outcome outcome, TaskId task) {
    if (outcome == comm::Outcome::kDone) return {};
    const char* reason = runtime.messages().fault_of(task);
    return {MPI_ERR_PROC_ABORTED, "",
            runtime.name_of(task) + " no longer takes part (" +
                (reason != nullptr ? reason : "reason unknown") + ")",
            "find out whether that task has ended"};
}

TreePlace place_in_tree(int position, int size) {
    TreePlace place;
    if (position > 0) place.parent = position & (position - 1);
    for (int bit = 1; position + bit < size && (position & bit) == 0; bit <<= 1)
        place.children.push_back(position + bit);
    return place;
}

Fault swap_words(comm::Runtime& runtime, TaskId other, Route route, const Words& given,
                 Words& taken) {
    Words sent = given;
    WordsSend send(runtime, other, route, sent);
    const Fault fault = receive_words(runtime, other, route, taken);
    const Fault send_fault = send.wait();
    return fault ? fault : send_fault;
}

Fault bcast_words(comm::Runtime& runtime, std::span<const TaskId> members, int rank, int root,
                  Route route, Words& words) {
    const int size = static_cast<int>(members.size());
    const TreePlace place = place_in_tree((rank - root + size) % size, size);
    const auto task_at = [&](int position) {
        return members[static_cast<std::size_t>((position + root) % size)];
    };
    if (place.parent >= 0) {
        if (Fault fault = receive_words(runtime, task_at(place.parent), route, words)) return fault;
    }
    Fault first;
    // The largest part of the tree first.
    for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
        WordsSend send(runtime, task_at(*child), route, words);
        Fault fault = send.wait();
        if (fault && !first) first = std::move(fault);
    }
    return first;
}

Fault all_agree(comm::Runtime& runtime, std::span<const TaskId> members, int rank, Route route,
                bool own, bool& all) {
    const TreePlace place = place_in_tree(rank, static_cast<int>(members.size()));
    const auto task_of_rank = [&](int member) { return members[static_cast<std::size_t>(member)]; };
    Words vote{own ? 1 : 0};
    for (const int child : place.children) {
        Words other;
        if (Fault fault = receive_words(runtime, task_of_rank(child), route, other)) return fault;
        if (other.front() == 0) vote.front() = 0;
    }
    if (place.parent >= 0) {
        WordsSend send(runtime, task_of_rank(place.parent), route, vote);
        if (Fault fault = send.wait()) return fault;
    }
    const Fault fault = bcast_words(runtime, members, rank, 0, route, vote);
    all = !fault && vote.front() != 0;
    return fault;
}

Fault synchronize(comm::Runtime& runtime, std::span<const TaskId> members, int rank, Route route) {
    bool all = false;
    return all_agree(runtime, members, rank, route, true, all);
}

Fault collect_words(comm::Runtime& runtime, const Comm& comm, const Words& own, Words& all) {
    const Route up{making_context(comm, Making::kMembers), 2};
    const TreePlace place = place_in_tree(comm.rank, comm.size());
    all = own;
    for (const int child : place.children) {
        Words words;
        if (Fault fault = receive_words(runtime, comm.local->task(child), up, words)) return fault;
        all.insert(all.end(), words.begin(), words.end());
    }
    if (place.parent >= 0) {
        WordsSend send(runtime, comm.local->task(place.parent), up, all);
        if (Fault fault = send.wait()) return fault;
    }
    const Route down{up.context, 3};
    return bcast_words(runtime, comm.local->tasks(), comm.rank, 0, down, all);
}

Fault gather_words(comm::Runtime& runtime, Comm& comm, const Words& own, Contributions& all) {
    collectives::CollectiveContext& library = collectives::the_collectives(runtime);
    all.local.assign(own.size() * static_cast<std::size_t>(comm.size()), 0);
    if (comm.size() == 1) {
        all.local = own;
    } else {
        const collectives::Plan* wrong = library.allgather_internal(
            *comm.group, own.data(), all.local.data(), own.size() * sizeof(std::int32_t),
            library.next_type(*comm.group));
        if (wrong != nullptr) return fault_of_exchange(runtime, wrong->outcome(), wrong->culprit());
    }
    all.remote.clear();
    if (!comm.is_inter()) return {};
    const Route route{making_context(comm, Making::kMembers), 0};
    if (comm.rank == 0) {
        Fault fault = swap_words(runtime, comm.remote->task(0), route, all.local, all.remote);
        // An empty answer says that the leader has failed.
        if (fault) all.remote.clear();
        const Fault local = bcast_words(runtime, comm.local->tasks(), 0, 0, route, all.remote);
        return fault ? fault : local;
    }
    if (Fault fault = bcast_words(runtime, comm.local->tasks(), comm.rank, 0, route, all.remote))
        return fault;
    if (!all.remote.empty()) return {};
    return {MPI_ERR_PROC_ABORTED, "", "rank 0 of the remote group no longer takes part",
            "find out whether that task has ended"};
}

}  // namespace poe::mpi
