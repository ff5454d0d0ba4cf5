// Rendezvous over PMIx. libpmix is opened only here, and only if the environment says that a PMIx
// server waits for this process. Therefore no program that is linked with MPL needs libpmix, and no
// program that poe starts loads it. Only its header is used, for the types.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>

#include <pmix.h>

#include "base/error.hpp"
#include "comm/bootstrap/rendezvous.hpp"

namespace poe::comm {
namespace {

constexpr const char* kLibrary = "libpmix.so.2";

// The functions of libpmix that are used. The library stays open until the process ends.
struct Pmix {
    Pmix() : library(::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL)) {
        if (library == nullptr) fail(::dlerror());
    }

    [[noreturn]] static void fail(const char* why) {
        throw Error(std::string("this task was started by a launcher that speaks PMIx, but the "
                                "PMIx library cannot be used (") +
                    (why != nullptr ? why : "no reason is known") +
                    "); install it on every node (Debian: libpmix2), or start the program with "
                    "poe");
    }
    template <typename Function>
    Function* find(const char* name) const {
        void* found = ::dlsym(library, name);
        if (found == nullptr) fail(::dlerror());
        return reinterpret_cast<Function*>(found);
    }

    void* library;
    decltype(PMIx_Init)* init = find<decltype(PMIx_Init)>("PMIx_Init");
    decltype(PMIx_Put)* put = find<decltype(PMIx_Put)>("PMIx_Put");
    decltype(PMIx_Commit)* commit = find<decltype(PMIx_Commit)>("PMIx_Commit");
    decltype(PMIx_Fence)* fence = find<decltype(PMIx_Fence)>("PMIx_Fence");
    decltype(PMIx_Get)* get = find<decltype(PMIx_Get)>("PMIx_Get");
    decltype(PMIx_Abort)* abort = find<decltype(PMIx_Abort)>("PMIx_Abort");
    decltype(PMIx_Finalize)* finalize = find<decltype(PMIx_Finalize)>("PMIx_Finalize");
    decltype(PMIx_Register_event_handler)* register_event_handler =
        find<decltype(PMIx_Register_event_handler)>("PMIx_Register_event_handler");
    decltype(PMIx_Error_string)* error_string =
        find<decltype(PMIx_Error_string)>("PMIx_Error_string");
};

// Blocks all signals while libpmix creates its thread, because only the program's own threads
// handle signals.
class NoSignals {
  public:
    NoSignals() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    NoSignals(const NoSignals&) = delete;
    NoSignals& operator=(const NoSignals&) = delete;

  private:
    sigset_t before_{};
};

// Written by libpmix's thread. Static, because that thread outlives every object.
struct Connection {
    pmix_nspace_t own_nspace{};  // set before the handler is registered
    std::atomic<bool> lost{false};
} connection;

// The server also reports other tasks whose connection it has lost; those are ignored.
void on_lost_connection(std::size_t, pmix_status_t, const pmix_proc_t* whose, pmix_info_t*,
                        std::size_t, pmix_info_t*, std::size_t,
                        pmix_event_notification_cbfunc_fn_t done, void* context) {
    if (whose == nullptr || !PMIX_CHECK_NSPACE(whose->nspace, connection.own_nspace))
        connection.lost.store(true, std::memory_order_relaxed);
    if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, context);
}

class PmixRendezvous final : public Rendezvous {
  public:
    PmixRendezvous() {
        {
            const NoSignals quiet;
            check(pmix_.init(&me_, nullptr, 0), "the first contact (PMIx_Init)");
        }
        PMIX_LOAD_NSPACE(connection.own_nspace, me_.nspace);
        pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;
        pmix_.register_event_handler(&lost, 1, nullptr, 0, on_lost_connection, nullptr, nullptr);
        pmix_value_t* value = fetch(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
        if (value->type == PMIX_UINT32) size_ = value->data.uint32;
        std::free(value);
        if (size_ == 0 || me_.rank >= size_)
            throw Error("the launcher's PMIx server says that this is task " +
                        std::to_string(me_.rank) + " of " + std::to_string(size_));
    }

    TaskId rank() const noexcept override { return static_cast<TaskId>(me_.rank); }
    std::uint32_t size() const noexcept override { return size_; }

    void put(const std::string& key, const std::string& text) override {
        pmix_value_t value{};
        value.type = PMIX_STRING;
        value.data.string = const_cast<char*>(text.c_str());
        check(pmix_.put(PMIX_GLOBAL, key.c_str(), &value), "storing " + key);
    }

    void fence() override {
        check(pmix_.commit(), "handing over what this task has stored");
        pmix_info_t collect{};
        PMIX_LOAD_KEY(collect.key, PMIX_COLLECT_DATA);
        collect.value.type = PMIX_BOOL;
        collect.value.data.flag = true;
        check(pmix_.fence(nullptr, 0, &collect, 1), "waiting for the other tasks (PMIx_Fence)");
    }

    std::string get(TaskId task, const std::string& key) override {
        pmix_value_t* value = fetch(static_cast<pmix_rank_t>(task), key.c_str());
        std::string text;
        if (value->type == PMIX_STRING && value->data.string != nullptr) {
            text = value->data.string;
            std::free(value->data.string);
        }
        std::free(value);
        return text;
    }

    bool alive() noexcept override { return !connection.lost.load(std::memory_order_relaxed); }

    void abort(int code, const std::string& why) noexcept override {
        pmix_.abort(code, why.c_str(), nullptr, 0);
    }

    void finalize() noexcept override { pmix_.finalize(nullptr, 0); }

  private:
    void check(pmix_status_t status, const std::string& what) const {
        if (status == PMIX_SUCCESS) return;
        throw Error("the launcher's PMIx server has failed in " + what + ": " +
                    pmix_.error_string(status));
    }

    // The caller owns the value and must free it.
    pmix_value_t* fetch(pmix_rank_t rank, const char* key) {
        pmix_proc_t owner = me_;
        owner.rank = rank;
        pmix_value_t* value = nullptr;
        check(pmix_.get(&owner, key, nullptr, 0, &value), std::string("looking up ") + key);
        if (value == nullptr) throw Error(std::string("the launcher's PMIx server has no ") + key);
        return value;
    }

    const Pmix pmix_;
    pmix_proc_t me_{};
    std::uint32_t size_ = 0;
};

}  // namespace

std::unique_ptr<Rendezvous> find_pmix(const Variables& variables) {
    if (variables("PMIX_NAMESPACE") == nullptr || variables("PMIX_RANK") == nullptr) return nullptr;
    return std::make_unique<PmixRendezvous>();
}

}  // namespace poe::comm
