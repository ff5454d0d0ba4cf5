// Completing several requests (MPI 5.0, sections 3.7.5 and 3.7.6).
#include <algorithm>
#include <mpi.h>
#include <span>
#include <string>

#include "mpi/api/bodies.hpp"
#include "mpi/api/request_call.hpp"
#include "mpi/object/status.hpp"
#include "mpi/point/completion.hpp"
#include "mpi/point/waiting.hpp"

namespace poe::mpi {
namespace {

using Handles = std::span<MPI_Request>;

// How many of the requests are active, and how many of these have ended. `first` is the index of
// the first one that has ended.
struct Tally {
    int active = 0;
    int ended = 0;
    int first = MPI_UNDEFINED;
};

Tally tally(std::span<const MPI_Request> handles) noexcept {
    Tally all;
    for (std::size_t i = 0; i < handles.size(); ++i) {
        const Request* request = find_request(handles[i]);
        if (request == nullptr || !request->active) continue;
        ++all.active;
        if (!has_ended(*request)) continue;
        if (all.ended++ == 0) all.first = static_cast<int>(i);
    }
    return all;
}

// Reports an error and returns false if the count or one of the handles is wrong.
bool check_handles(Call& call, int count, const MPI_Request* handles) {
    if (count < 0) {
        call.fail(MPI_ERR_COUNT, "count", std::to_string(count) + " is negative");
        return false;
    }
    if (handles == nullptr && count > 0) {
        call.fail(MPI_ERR_ARG, "array_of_requests", "it is a null pointer");
        return false;
    }
    for (int i = 0; i < count; ++i) {
        if (handles[i] == MPI_REQUEST_NULL || find_request(handles[i]) != nullptr) [[likely]]
            continue;
        const std::string name = "array_of_requests[" + std::to_string(i) + "]";
        return refuse_request(call, handles[i], name.c_str());
    }
    return true;
}

// Looks for progress once if `enough` is false for what has ended.
template <typename Enough>
Tally tally_with_look(Call& call, std::span<const MPI_Request> handles, Enough&& enough) {
    Tally now = tally(handles);
    if (enough(now)) return now;
    look(call.runtime(), handles);
    now = tally(handles);
    if (enough(now)) return now;
    pause_after_look(call.runtime());
    return tally(handles);
}

bool all_ended(const Tally& now) noexcept {
    return now.ended == now.active;
}
bool any_ended(const Tally& now) noexcept {
    return now.ended > 0 || now.active == 0;
}

// The errors of several requests: the code of each goes into its status, and the first one is
// reported with the class MPI_ERR_IN_STATUS.
class SeveralErrors {
  public:
    SeveralErrors(Call& call, MPI_Status* statuses) noexcept : call_(call), statuses_(statuses) {}

    MPI_Status* status(int index) const noexcept {
        return statuses_ == MPI_STATUSES_IGNORE ? nullptr : statuses_ + index;
    }
    // The result of the request whose status has this index. Indexes come in order.
    void add(int index, Fault fault) {
        if (!fault && first_ < 0) [[likely]]
            return;
        if (first_ < 0) {
            first_ = index;
            fault_ = fault;
            for (int i = 0; i < index; ++i) set(i, MPI_SUCCESS);
        }
        set(index, fault.code);
    }
    bool none() const noexcept { return first_ < 0; }
    int report() {
        if (first_ < 0) [[likely]]
            return MPI_SUCCESS;
        return call_.fail(MPI_ERR_IN_STATUS, "",
                          "request " + std::to_string(first_) + " failed: " + fault_.what,
                          fault_.remedy);
    }

  private:
    void set(int index, int code) const noexcept {
        if (MPI_Status* to = status(index)) to->MPI_ERROR = code;
    }

    Call& call_;
    MPI_Status* statuses_;
    int first_ = -1;
    Fault fault_;
};

// Finishes the request with this index, which has ended or is not active.
void finish_of_all(Call& call, MPI_Request& handle, int index, SeveralErrors& errors) {
    Request* request = find_request(handle);
    MPI_Status* status = errors.status(index);
    if (request == nullptr || !request->active) {
        if (status != nullptr) set_empty(*status);
        errors.add(index, {});
    } else if (errors.none() && request->common) {
        // A send that had ended when MPI_Isend returned.
        if (status != nullptr) set_status_of(*status, *request);
        handle = MPI_REQUEST_NULL;
    } else if (errors.none() && is_surely_successful(*request)) [[likely]] {
        // Without the construction of a fault.
        if (status != nullptr) set_status_of(*status, *request);
        retire(handle, *request);
    } else {
        errors.add(index, finish(call, handle, *request, status));
    }
}

int finish_all(Call& call, Handles handles, MPI_Status* statuses) {
    SeveralErrors errors(call, statuses);
    for (int i = 0; i < static_cast<int>(handles.size()); ++i)
        finish_of_all(call, handles[static_cast<std::size_t>(i)], i, errors);
    return errors.report();
}

int finish_some(Call& call, Handles handles, int* outcount, int* indices, MPI_Status* statuses) {
    SeveralErrors errors(call, statuses);
    int done = 0;
    for (std::size_t i = 0; i < handles.size(); ++i) {
        Request* request = find_request(handles[i]);
        if (request == nullptr || !request->active || !has_ended(*request)) continue;
        indices[done] = static_cast<int>(i);
        errors.add(done, finish(call, handles[i], *request, errors.status(done)));
        ++done;
    }
    *outcount = done;
    return errors.report();
}

// The result if no request is active.
void store_none(int* index, MPI_Status* status) noexcept {
    *index = MPI_UNDEFINED;
    if (status != MPI_STATUS_IGNORE) set_empty(*status);
}

int finish_indexed(Call& call, MPI_Request* handles, int index, MPI_Status* status) {
    MPI_Request& handle = handles[index];
    return finish_one(call, handle, *find_request(handle), status);
}

}  // namespace

int waitall(Call& call, int count, MPI_Request* requests, MPI_Status* statuses) {
    if (!check_handles(call, count, requests)) return call.code();
    Noted noted(call);
    SeveralErrors errors(call, statuses);
    bool has_waited = false;
    for (int i = 0; i < count; ++i) {
        Request* request = find_request(requests[i]);
        if (request != nullptr && request->active) {
            note_end(noted, *request);
            // A wait ends with the message that it is for. Others have often arrived meanwhile, and
            // to take them all at once costs less than a wait for each.
            if (has_waited && !has_ended(*request)) call.runtime().messages().progress();
            if (!has_ended(*request)) {
                const Shown shown(call, about_request(*request));
                wait_for(call.runtime(), *request);
                has_waited = true;
            }
        }
        finish_of_all(call, requests[i], i, errors);
    }
    return errors.report();
}

int testall(Call& call, int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    if (!check_handles(call, count, requests)) return call.code();
    const Noted noted(call);
    const Handles handles(requests, static_cast<std::size_t>(count));
    *flag = all_ended(tally_with_look(call, handles, all_ended)) ? 1 : 0;
    return *flag != 0 ? finish_all(call, handles, statuses) : MPI_SUCCESS;
}

int waitany(Call& call, int count, MPI_Request* requests, int* index, MPI_Status* status) {
    if (!check_handles(call, count, requests)) return call.code();
    const Noted noted(call);
    const Handles handles(requests, static_cast<std::size_t>(count));
    Tally now = tally(handles);
    if (now.active == 0) {
        store_none(index, status);
        return MPI_SUCCESS;
    }
    if (now.ended == 0) {
        const Shown shown(call, {});
        wait_for_any(call.runtime(), handles);
        now = tally(handles);
    }
    *index = now.first;
    return finish_indexed(call, requests, now.first, status);
}

int testany(Call& call, int count, MPI_Request* requests, int* index, int* flag,
            MPI_Status* status) {
    if (!check_handles(call, count, requests)) return call.code();
    const Noted noted(call);
    const Handles handles(requests, static_cast<std::size_t>(count));
    const Tally now = tally_with_look(call, handles, any_ended);
    *flag = any_ended(now) ? 1 : 0;
    *index = MPI_UNDEFINED;
    if (now.active == 0) store_none(index, status);
    if (now.ended == 0) return MPI_SUCCESS;
    *index = now.first;
    return finish_indexed(call, requests, now.first, status);
}

int waitsome(Call& call, int incount, MPI_Request* requests, int* outcount, int* indices,
             MPI_Status* statuses) {
    if (!check_handles(call, incount, requests)) return call.code();
    const Noted noted(call);
    const Handles handles(requests, static_cast<std::size_t>(incount));
    const Tally now = tally(handles);
    *outcount = MPI_UNDEFINED;
    if (now.active == 0) return MPI_SUCCESS;
    if (now.ended == 0) {
        const Shown shown(call, {});
        wait_for_any(call.runtime(), handles);
    }
    return finish_some(call, handles, outcount, indices, statuses);
}

int testsome(Call& call, int incount, MPI_Request* requests, int* outcount, int* indices,
             MPI_Status* statuses) {
    if (!check_handles(call, incount, requests)) return call.code();
    const Noted noted(call);
    const Handles handles(requests, static_cast<std::size_t>(incount));
    const Tally now = tally_with_look(call, handles, any_ended);
    *outcount = MPI_UNDEFINED;
    if (now.active == 0) return MPI_SUCCESS;
    return finish_some(call, handles, outcount, indices, statuses);
}

int request_get_status_all(Call& call, int count, const MPI_Request* requests, int* flag,
                           MPI_Status* statuses) {
    if (!check_handles(call, count, requests)) return call.code();
    const std::span<const MPI_Request> handles(requests, static_cast<std::size_t>(count));
    *flag = all_ended(tally_with_look(call, handles, all_ended)) ? 1 : 0;
    if (*flag == 0) return MPI_SUCCESS;
    SeveralErrors errors(call, statuses);
    for (int i = 0; i < count; ++i) {
        Request* request = find_request(requests[i]);
        MPI_Status* status = errors.status(i);
        if (request != nullptr) {
            errors.add(i, peek(call, *request, status));
        } else if (status != nullptr) {
            set_empty(*status);
        }
    }
    return errors.report();
}

int request_get_status_any(Call& call, int count, const MPI_Request* requests, int* index,
                           int* flag, MPI_Status* status) {
    if (!check_handles(call, count, requests)) return call.code();
    const std::span<const MPI_Request> handles(requests, static_cast<std::size_t>(count));
    const Tally now = tally_with_look(call, handles, any_ended);
    *flag = any_ended(now) ? 1 : 0;
    *index = MPI_UNDEFINED;
    if (now.active == 0) store_none(index, status);
    if (now.ended == 0) return MPI_SUCCESS;
    *index = now.first;
    return call.finish(peek(call, *find_request(requests[now.first]), status));
}

int request_get_status_some(Call& call, int incount, const MPI_Request* requests, int* outcount,
                            int* indices, MPI_Status* statuses) {
    if (!check_handles(call, incount, requests)) return call.code();
    const std::span<const MPI_Request> handles(requests, static_cast<std::size_t>(incount));
    const Tally now = tally_with_look(call, handles, any_ended);
    *outcount = MPI_UNDEFINED;
    if (now.active == 0) return MPI_SUCCESS;
    SeveralErrors errors(call, statuses);
    int done = 0;
    for (int i = 0; i < incount; ++i) {
        Request* request = find_request(requests[i]);
        if (request == nullptr || !request->active || !has_ended(*request)) continue;
        indices[done] = i;
        errors.add(done, peek(call, *request, errors.status(done)));
        ++done;
    }
    *outcount = done;
    return errors.report();
}

}  // namespace poe::mpi
