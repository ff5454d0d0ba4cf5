// MPL's task management: task ids, limits, settings, and ending the job.
#include <algorithm>
#include <array>
#include <limits>
#include <unistd.h>

#include <climits>

#include "comm/api/api_checks.hpp"
#include "comm/api/mpproto.h"
#include "comm/api/program_output.hpp"

namespace poe::comm {
namespace {

constexpr int kOverflowSetting = 1;  // for mpc_task_set

int query(ApiCall& call, UserCount nbuf, int nelem, int qtype) {
    const Runtime& runtime = call.runtime();
    const auto clamp = [](Bytes bytes) {
        return static_cast<int>(std::min<Bytes>(bytes, std::numeric_limits<int>::max()));
    };
    std::array<int, 4> answer{};
    int known = 0;
    switch (qtype) {
        case 1:
            answer = {static_cast<int>(runtime.tasks()), runtime.task(), runtime.node(),
                      static_cast<int>(runtime.nodes())};
            known = 4;
            break;
        case 2:
            answer = {0, INT_MAX};
            known = 2;
            break;
        case 3:
            answer = {DONTCARE, ALLMSG, NULLTASK, ALLGRP};
            known = 4;
            break;
        case 4:
            answer = {clamp(runtime.eager_limit()), clamp(runtime.buffer_mem())};
            known = 2;
            break;
        case 5:
            answer = {runtime.overflow_is_error() ? 1 : 0};
            known = 1;
            break;
        default:
            return call.refuse(MplError::kQuery, "there is no query type " + std::to_string(qtype),
                               "query types are 1 to 5");
    }
    if (nbuf.is_null()) {
        return refuse_null(call, "nbuf", (std::to_string(nelem) + " ints").c_str());
    }
    if (nelem < 1 || nelem > known) {
        return call.refuse(MplError::kQuery,
                           "query type " + std::to_string(qtype) + " cannot answer " +
                               std::to_string(nelem) + " elements",
                           "ask for 1 to " + std::to_string(known));
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(nelem); ++i) nbuf.at(i).store(answer[i]);
    return 0;
}

}  // namespace

int api_environ(const Caller& name, UserCount numtask, UserCount taskid) {
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    if (numtask.is_null() || taskid.is_null()) {
        return refuse_null(call, numtask.is_null() ? "numtask" : "taskid", "an int");
    }
    numtask.store(call.runtime().tasks());
    taskid.store(call.runtime().task());
    return 0;
}

int api_task_query(const Caller& name, UserCount nbuf, int nelem, int qtype) {
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    return query(call, nbuf, nelem, qtype);
}

int api_task_set(const Caller& name, int nbuf, int stype) {
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    if (stype != kOverflowSetting) {
        return call.refuse(MplError::kQuery, "there is no setting " + std::to_string(stype),
                           "the only setting is 1, messages longer than the buffer");
    }
    if (nbuf != 0 && nbuf != 1) {
        return call.refuse(MplError::kQuery, "setting 1 cannot be " + std::to_string(nbuf),
                           "0 cuts messages that are too long, 1 makes them an error");
    }
    call.runtime().set_overflow_is_error(nbuf == 1);
    return 0;
}

int api_stopall(const Caller&, int errcode) {
    flush_program_output(true);
    the_runtime().stop_all(errcode);
}

}  // namespace poe::comm
