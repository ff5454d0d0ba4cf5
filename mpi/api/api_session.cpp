// Sessions, their process sets, and communicators that are made from groups (MPI 5.0, sections
// 11.3, 7.4.2 and 7.6.2).
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <string>
#include <utility>

#include "comm/bootstrap/process_runtime.hpp"
#include "mpi/api/bodies.hpp"
#include "mpi/api/checks.hpp"
#include "mpi/api/communicator_call.hpp"
#include "mpi/api/start_library.hpp"
#include "mpi/communicator/from_group.hpp"
#include "mpi/communicator/hints.hpp"
#include "mpi/point/send_buffer.hpp"
#include "mpi/process/process_sets.hpp"

namespace poe::mpi {
namespace {

constexpr const char* kThreadLevel = "thread_level";

constexpr std::array<std::pair<const char*, int>, 4> kThreadLevels{{
    {"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
    {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
    {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
    {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE},
}};

// The value of a key; empty if the info does not have it.
std::string requested_value(MPI_Info info, const char* key) {
    Environment& mpi = environment();
    const Info* found = mpi.find_readable_info(info);
    if (found == nullptr) return {};
    const std::lock_guard guard(mpi.lock);
    const std::string* value = found->find(key);
    return value != nullptr ? *value : std::string();
}

// Without the key the program gets the level that costs nothing.
Fault read_thread_level(MPI_Info info, int& level) {
    const std::string text = requested_value(info, kThreadLevel);
    if (text.empty()) return {};
    const auto* const found =
        std::ranges::find(kThreadLevels, text, [](const auto& each) { return each.first; });
    if (found == kThreadLevels.end())
        return {MPI_ERR_INFO_VALUE, "info",
                "the value \"" + text + "\" of the key thread_level is no thread level",
                "give the name of a level, such as MPI_THREAD_MULTIPLE"};
    level = found->second;
    return {};
}

bool check_optional_info(Call& call, MPI_Info info) {
    return info == MPI_INFO_NULL || checks::check_info(call, info, "info");
}

const std::vector<ProcessSet>& sets_of(Call& call) {
    return process_sets(call.runtime().tasks());
}

const ProcessSet* find_set(Call& call, const char* name) {
    const ProcessSet* const found = find_process_set(sets_of(call), name);
    if (found == nullptr)
        call.fail(MPI_ERR_ARG, "pset_name",
                  "there is no process set \"" + std::string(name) + "\" in this job",
                  "MPI_Session_get_nth_pset gives the names");
    return found;
}

bool check_tag(Call& call, const char* tag) {
    if (std::strlen(tag) < MPI_MAX_STRINGTAG_LEN) return true;
    call.fail(MPI_ERR_ARG, "stringtag",
              "it has " + std::to_string(std::strlen(tag)) + " characters",
              "give at most " + std::to_string(MPI_MAX_STRINGTAG_LEN - 1) + " characters");
    return false;
}

// What both functions that make communicators from groups check. The error handler that the program
// gives takes care of all other errors.
bool check_creation(Call& call, const char* tag, MPI_Info info, MPI_Errhandler errhandler) {
    if (!checks::check_errhandler(call, errhandler, "errhandler")) return false;
    if (const auto* own = find<ErrorHandler>(errhandler);
        own != nullptr && own->target != Kind::kComm) {
        call.fail(MPI_ERR_ERRHANDLER, "errhandler", "it is not for communicators",
                  "make it with MPI_Comm_create_errhandler");
        return false;
    }
    call.handle_errors_by(errhandler);
    return checks::check_pointer(call, tag, "stringtag") && check_tag(call, tag) &&
           check_optional_info(call, info);
}

bool check_member(Call& call, const Members& group, const char* name) {
    if (group.rank_of(environment().task) != MPI_UNDEFINED) return true;
    call.fail(MPI_ERR_GROUP, name, "this task is no member of the group",
              "let the members of the group make the call");
    return false;
}

int store_with_hints(Call& call, const MadeComm& made, MPI_Info info, MPI_Comm* newcomm) {
    if (made.comm != nullptr) {
        const std::lock_guard guard(environment().lock);
        add_hints(*made.comm, environment().find_readable_info(info));
    }
    return store_comm(call, made, newcomm);
}

}  // namespace

int session_init(Call& call, MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
    if (!checks::check_errhandler(call, errhandler, "errhandler")) return call.code();
    if (const auto* own = find<ErrorHandler>(errhandler);
        own != nullptr && own->target != Kind::kSession)
        return call.fail(MPI_ERR_ERRHANDLER, "errhandler", "it is not for sessions",
                         "make it with MPI_Session_create_errhandler");
    call.handle_errors_by(errhandler);
    if (!check_optional_info(call, info)) return call.code();
    int level = MPI_THREAD_SINGLE;
    if (const Fault fault = read_thread_level(info, level)) return call.fail(fault);
    if (const Fault fault = start_library(level)) return call.fail(fault);
    if (comm::the_runtime().messages().shared()) level = MPI_THREAD_MULTIPLE;
    static std::atomic<int> made{0};
    Environment& mpi = environment();
    Session& opened = mpi.sessions.make();
    opened.number = ++made;
    opened.thread_level = level;
    opened.errhandler = errhandler;
    mpi.retain(errhandler);
    mpi.users.fetch_add(1);
    *session = handle_of<MPI_Session>(opened);
    return MPI_SUCCESS;
}

// Communicators of the session must have been freed, so the call need not wait for the other tasks.
// The exit of the process does (mpi/communicator/leaving.hpp).
int session_finalize(Call& call, MPI_Session* session) {
    if (!checks::check_session(call, *session, "session")) return call.code();
    Session& closed = *find<Session>(*session);
    call.about(ErrorObject(*session));
    detach_buffer_of_session(call.runtime(), closed.number);
    Environment& mpi = environment();
    mpi.release(std::exchange(closed.errhandler, MPI_ERRORS_ARE_FATAL));
    mpi.sessions.release(closed);
    *session = MPI_SESSION_NULL;
    mpi.users.fetch_sub(1);
    return MPI_SUCCESS;
}

int session_get_info(Call&, MPI_Session session, MPI_Info* info_used) {
    Environment& mpi = environment();
    Info& info = mpi.infos.make();
    const std::lock_guard guard(mpi.lock);
    const int level = find<Session>(session)->thread_level;
    for (const auto& [name, value] : kThreadLevels)
        if (value == level) info.set(kThreadLevel, name);
    *info_used = handle_of<MPI_Info>(info);
    return MPI_SUCCESS;
}

int session_get_num_psets(Call& call, MPI_Session, MPI_Info info, int* npset_names) {
    if (!check_optional_info(call, info)) return call.code();
    *npset_names = static_cast<int>(sets_of(call).size());
    return MPI_SUCCESS;
}

// The length that the program gets includes the terminating null character.
int session_get_nth_pset(Call& call, MPI_Session, MPI_Info info, int n, int* pset_len,
                         char* pset_name) {
    if (!check_optional_info(call, info)) return call.code();
    const auto& sets = sets_of(call);
    if (n < 0 || static_cast<std::size_t>(n) >= sets.size())
        return call.fail(MPI_ERR_ARG, "n",
                         std::to_string(n) + " is no number of one of the " +
                             std::to_string(sets.size()) + " process sets",
                         "give a number from 0 on");
    const std::string& name = sets[static_cast<std::size_t>(n)].name;
    if (*pset_len > 0) {
        if (pset_name == nullptr)
            return call.fail(MPI_ERR_ARG, "pset_name", "it is a null pointer");
        copy_info_value(name, {pset_name, static_cast<std::size_t>(*pset_len)});
    }
    *pset_len = static_cast<int>(name.size()) + 1;
    return MPI_SUCCESS;
}

int session_get_pset_info(Call& call, MPI_Session, const char* pset_name, MPI_Info* info) {
    const ProcessSet* const found = find_set(call, pset_name);
    if (found == nullptr) return call.code();
    Environment& mpi = environment();
    Info& made = mpi.infos.make();
    const std::lock_guard guard(mpi.lock);
    made.set("mpi_size", std::to_string(found->tasks.size()));
    *info = handle_of<MPI_Info>(made);
    return MPI_SUCCESS;
}

int group_from_session_pset(Call& call, MPI_Session session, const char* pset_name,
                            MPI_Group* newgroup) {
    *newgroup = MPI_GROUP_NULL;
    const ProcessSet* const found = find_set(call, pset_name);
    if (found == nullptr) return call.code();
    *newgroup = environment().make_group(
        std::make_shared<const Members>(found->tasks, find<Session>(session)->number));
    return MPI_SUCCESS;
}

int comm_create_from_group(Call& call, MPI_Group group, const char* stringtag, MPI_Info info,
                           MPI_Errhandler errhandler, MPI_Comm* newcomm) {
    *newcomm = MPI_COMM_NULL;
    if (!check_creation(call, stringtag, info, errhandler) ||
        !checks::check_group(call, group, "group"))
        return call.code();
    const MembersPtr members = environment().share_group(group);
    if (members->size() == 0) return MPI_SUCCESS;
    if (!check_member(call, *members, "group")) return call.code();
    CommBase parent;
    parent.errhandler = errhandler;
    const VisibleCall visible(call, {});
    return store_with_hints(
        call, create_from_group(call.runtime(), parent, members, FromGroup::kMembers, stringtag),
        info, newcomm);
}

int intercomm_create_from_groups(Call& call, MPI_Group local_group, int local_leader,
                                 MPI_Group remote_group, int remote_leader, const char* stringtag,
                                 MPI_Info info, MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
    *newintercomm = MPI_COMM_NULL;
    if (!check_creation(call, stringtag, info, errhandler) ||
        !checks::check_group(call, local_group, "local_group"))
        return call.code();
    Environment& mpi = environment();
    GroupPair pair;
    pair.local = mpi.share_group(local_group);
    pair.local_leader = local_leader;
    // An empty group at either side: there is no communicator.
    if (pair.local->size() == 0) return MPI_SUCCESS;
    if (!check_member(call, *pair.local, "local_group")) return call.code();
    if (local_leader < 0 || local_leader >= pair.local->size())
        return call.fail(MPI_ERR_RANK, "local_leader",
                         std::to_string(local_leader) + " is no rank of local_group, which has " +
                             std::to_string(pair.local->size()) + " members");
    if (pair.local->rank_of(mpi.task) == local_leader) {
        const Members* const remote = mpi.find_group(remote_group);
        if (remote == nullptr) {
            pair.wrong = {MPI_ERR_GROUP, "remote_group", "it is no group", ""};
        } else if (remote_leader < 0 || remote_leader >= remote->size()) {
            pair.wrong = {MPI_ERR_RANK, "remote_leader",
                          std::to_string(remote_leader) +
                              " is no rank of remote_group, which has " +
                              std::to_string(remote->size()) + " members",
                          ""};
        } else if (pair.local->rank_of(remote->task(remote_leader)) != MPI_UNDEFINED) {
            pair.wrong = {MPI_ERR_RANK, "remote_leader",
                          "it is task " + std::to_string(remote->task(remote_leader)) +
                              ", which is a member of local_group",
                          "connect groups without common members"};
        } else {
            pair.remote_leader = remote->task(remote_leader);
        }
    }
    CommBase parent;
    parent.errhandler = errhandler;
    const VisibleCall visible(call, {});
    return store_with_hints(call, connect_groups(call.runtime(), parent, pair, stringtag), info,
                            newintercomm);
}

}  // namespace poe::mpi
