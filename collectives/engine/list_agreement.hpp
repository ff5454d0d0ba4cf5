// ListAgreement: how tasks that make a group from a list find out whether all of them give the same
// list. No group exists yet whose members could compare their calls: each task knows only the tasks
// that it names itself.
//
// Messages between each pair of tasks that name each other, in order:
//
//   LIST      the list of the sender's call. Sent to all tasks of the list when the call begins.
//   CLASH     the receiver's list differs from the sender's. The answer to LIST.
//   DONE      the sender has read the same list from all. Sent to all, with a hash of the calls.
//   FAILED    the sender's call fails. Sent to all, so that none of them waits forever.
//   REFUSED   the sender's arguments are wrong, and its call fails. Sent instead of LIST.
//
// A call ends well when DONE with the same calls has come from all. Until then its task stays in
// the call. So if two tasks stay in calls with different lists that name each other, neither call
// can ever end: that is the error. But a LIST may also be that of an earlier call, which has
// failed. Therefore a task that reads another list sends CLASH and waits for the answer:
//
//   answer of the other task                     meaning
//   CLASH that answers this call's LIST          it stays in its call: this call fails
//   FAILED for a new reason that answers this    this call was part of the one that failed: it fails
//   call's LIST, or no LIST and has the same
//   list
//   any other FAILED                             an earlier call: forget its LIST and wait for the
//                                                next one; if it answers this call's LIST, send
//                                                that again
//
// Each task numbers its calls. CLASH and FAILED name the number of the receiver's call that they
// answer. The reason of FAILED has the numbers of the two calls that differ; it is not new if this
// task has failed because of one of them before.
//
// Not found: tasks that wait for a task which never names them. That is no error as long as the
// task may still do so; the search for deadlocks reports it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "comm/matching/message_layer.hpp"

namespace poe::collectives {

// A list in words, "of tasks 0-3", with a hash. A long text is cut; the hash is that of the whole
// list.
struct ListInWords {
    std::uint64_t hash = 0;
    char text[64] = {};

    bool operator==(const ListInWords&) const = default;
};
ListInWords in_words(const std::vector<TaskId>& list);

// Where the messages travel.
struct ListRoute {
    ContextId context = 0;
    std::int32_t type = 0;
};

// What a task keeps between its calls on one route.
struct ListHistory {
    std::uint32_t calls = 0;  // of this task
    std::map<TaskId, std::uint32_t>
        failed;  // the number of the last call of a task that is known to
                 // have failed
};

// Two calls whose lists differ. `refused`: the arguments of `one` are wrong, and nothing else is
// known.
struct ListDifference {
    TaskId one = -1;
    TaskId other = -1;
    std::uint32_t one_call = 0;  // their numbers
    std::uint32_t other_call = 0;
    bool refused = false;
    ListInWords one_says;
    ListInWords other_says;

    // "task 2 calls NAME of tasks 0,1, task 0 of tasks 0-2".
    std::string words(const std::string& call) const;
};

// For the thread that has the turn. Must not be destroyed between start() and the end. The message
// layer and the history must outlive it.
class ListAgreement {
  public:
    // `self` is this task. `list` may name it, and names no task twice.
    ListAgreement(comm::MessageLayer& messages, const ListRoute& route, ListHistory& history,
                  TaskId self, const std::vector<TaskId>& list);
    ~ListAgreement();
    ListAgreement(const ListAgreement&) = delete;
    ListAgreement& operator=(const ListAgreement&) = delete;

    void start();
    // Instead of start(), if the arguments are wrong: only the other tasks learn of it.
    void refuse();
    // Advances the agreement. Returns true if it has ended. Never blocks.
    bool advance();
    // Blocks until it has ended.
    void finish();
    Awaited awaited() const;

    // After the end: empty if all lists are equal, or a task is lost.
    const std::optional<ListDifference>& difference() const noexcept { return difference_; }
    // After the end: the task that has ended and therefore never answers; -1: there is none.
    TaskId lost() const noexcept { return lost_; }

  private:
    struct Message;
    struct Outgoing;
    struct Partner;

    Message own_list() const;
    void send(const Partner& to, Message message);
    void send_to_all(Message message);
    bool read(Partner& from);
    void take(Partner& from, const Message& message);
    void fail(const ListDifference& difference);
    void forget(Partner& from);
    void tell_done();
    bool over_for(const Partner& partner) const;
    bool is_old(const ListDifference& difference) const;
    void remember(const ListDifference& difference);

    comm::MessageLayer& messages_;
    const ListRoute route_;
    ListHistory& history_;
    const std::uint32_t number_;  // of this call
    const TaskId self_;
    const ListInWords own_;
    std::deque<Partner> partners_;
    std::deque<Outgoing> outgoing_;
    std::size_t equal_ = 0;    // partners that have sent the same list
    std::uint64_t calls_ = 0;  // the hash in the last DONE
    bool ended_ = false;
    std::optional<ListDifference> difference_;
    TaskId lost_ = -1;
};

}  // namespace poe::collectives
