// The exchange of descriptions; see agreement.hpp.
#include "mpi/check/agreement.hpp"

#include <deque>
#include <string>
#include <utility>

#include "mpi/communicator/exchange.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi::check {
namespace {

constexpr auto kFlow = comm::FlowClass::kCollective;

// A verdict travels as a description; no bytes if there is no fault.
std::vector<std::byte> encode_verdict(const Fault& fault) {
    if (!fault) return {};
    Description carrier;
    carrier.fault = fault.code;
    carrier.reason = fault.what;
    carrier.function = fault.remedy;
    return encode(carrier);
}

Fault decode_verdict(const std::vector<std::byte>& bytes) {
    Description carrier;
    if (bytes.empty()) return {};
    if (!decode(bytes, carrier)) return {MPI_ERR_INTERN, "", "the verdict cannot be read", ""};
    return {carrier.fault, "", carrier.reason, carrier.function};
}

bool in_first_group(const Comm& comm) noexcept {
    return !comm.is_inter() || context_of(comm.group->gid) == comm.context;
}

}  // namespace

struct Agreement::Exchange {
    // A text of any length as two messages: its length, then its bytes.
    struct Outgoing {
        std::uint64_t length = 0;
        std::vector<std::byte> bytes;
        comm::SendRequest head;
        comm::SendRequest body;

        void start(comm::Runtime& runtime, TaskId to, Route route) {
            length = bytes.size();
            head =
                comm::SendRequest({&length, sizeof length}, to, route.type, route.context, kFlow);
            runtime.messages().start(head);
            body = comm::SendRequest({bytes.data(), bytes.size()}, to, route.type, route.context,
                                     kFlow);
            if (length > 0) runtime.messages().start(body);
        }
        bool ended(comm::Runtime& runtime) {
            for (comm::SendRequest* each : {&head, &body}) {
                if (each == &body && length == 0) break;
                if (each->outcome == comm::Outcome::kPending)
                    runtime.messages().end_if_hopeless(*each);
                if (each->outcome == comm::Outcome::kPending) return false;
            }
            return true;
        }
    };

    struct Incoming {
        std::uint64_t length = 0;
        std::vector<std::byte> bytes;
        comm::ReceiveRequest head;
        comm::ReceiveRequest body;
        bool in_body = false;
        TaskId from = 0;
        comm::Outcome lost = comm::Outcome::kDone;

        void start(comm::Runtime& runtime, TaskId its_source, Route route) {
            from = its_source;
            head.reset({&length, sizeof length}, {route.context, from, route.type});
            runtime.messages().start(head);
        }
        const comm::ReceiveRequest& current() const noexcept { return in_body ? body : head; }
        // True if it has come, or never will; then `lost` says so.
        bool ended(comm::Runtime& runtime) {
            for (;;) {
                comm::ReceiveRequest& request = in_body ? body : head;
                if (request.outcome == comm::Outcome::kPending)
                    runtime.messages().end_if_hopeless(request);
                if (request.outcome == comm::Outcome::kPending) return false;
                if (request.outcome != comm::Outcome::kDone) {
                    lost = request.outcome;
                    return true;
                }
                if (in_body || length == 0) return true;
                bytes.resize(length);
                in_body = true;
                body.reset({bytes.data(), bytes.size()}, head.wanted);
                runtime.messages().start(body);
            }
        }
    };

    Route route;
    bool judges = false;
    Description own;
    TaskId judge = 0;
    Outgoing to_judge;
    Incoming verdict;
    // The judge's. The others, in the order of Member.
    std::deque<Incoming> from_members;
    std::deque<Outgoing> to_members;
    std::size_t arrived = 0;
    std::size_t answered = 0;
    bool judged = false;
};

Agreement::Agreement(comm::Runtime& runtime, Comm& comm, const Description& own, const void* site,
                     Report report)
    : runtime_(runtime),
      comm_(comm),
      site_(site),
      report_(report),
      exchange_(std::make_unique<Exchange>()) {
    exchange_->route = {making_context(comm, Making::kAgreement),
                        static_cast<std::int32_t>(comm.agreements++ & 0x7fffffffu)};
    exchange_->own = own;
    exchange_->judges = in_first_group(comm) && comm.rank == 0;
    exchange_->judge = in_first_group(comm) ? comm.local->task(0) : comm.remote->task(0);
}

Agreement::~Agreement() = default;

void Agreement::start() {
    Exchange& exchange = *exchange_;
    if (!exchange.judges) {
        exchange.verdict.start(runtime_, exchange.judge, exchange.route);
        exchange.to_judge.bytes = encode(exchange.own);
        exchange.to_judge.start(runtime_, exchange.judge, exchange.route);
        return;
    }
    for (const Members* group : {comm_.local.get(), comm_.remote.get()}) {
        if (group == nullptr) continue;
        for (const TaskId task : group->tasks()) {
            if (group == comm_.local.get() && task == exchange.judge) continue;
            exchange.from_members.emplace_back().start(runtime_, task, exchange.route);
        }
    }
}

bool Agreement::advance() {
    Exchange& exchange = *exchange_;
    if (!exchange.judges) {
        if (!exchange.verdict.ended(runtime_)) return false;
        // A judge that has died receives nothing.
        if (!exchange.to_judge.ended(runtime_)) return false;
        if (!exchange.judged) {
            exchange.judged = true;
            fault_ = exchange.verdict.lost == comm::Outcome::kDone
                         ? decode_verdict(exchange.verdict.bytes)
                         : fault_of_exchange(runtime_, exchange.verdict.lost, exchange.judge);
        }
        return true;
    }
    for (; exchange.arrived < exchange.from_members.size(); ++exchange.arrived)
        if (!exchange.from_members[exchange.arrived].ended(runtime_)) return false;
    if (!exchange.judged) {
        exchange.judged = true;
        judge_all();
    }
    for (; exchange.answered < exchange.to_members.size(); ++exchange.answered)
        if (!exchange.to_members[exchange.answered].ended(runtime_)) return false;
    return true;
}

void Agreement::judge_all() {
    Exchange& exchange = *exchange_;
    std::vector<Member> members;
    Fault verdict;
    members.push_back({exchange.judge, 0, 0, exchange.own});
    for (Exchange::Incoming& each : exchange.from_members) {
        const auto position = static_cast<int>(members.size());
        const int local = comm_.size();
        Member& member = members.emplace_back();
        member.task = each.from;
        member.group = position < local ? 0 : 1;
        member.rank = position < local ? position : position - local;
        if (each.lost != comm::Outcome::kDone) {
            if (!verdict) verdict = fault_of_exchange(runtime_, each.lost, each.from);
        } else if (!decode(each.bytes, member.description) && !verdict) {
            verdict = {MPI_ERR_INTERN, "", "the description of a call cannot be read", ""};
        }
    }
    if (!verdict) {
        verdict = judge(members);
        if (verdict) report_(comm_, exchange.own.place.called(), site_, verdict);
    }
    answer(verdict);
}

void Agreement::answer(const Fault& verdict) {
    Exchange& exchange = *exchange_;
    fault_ = verdict;
    const std::vector<std::byte> bytes = encode_verdict(verdict);
    for (const Exchange::Incoming& each : exchange.from_members) {
        Exchange::Outgoing& out = exchange.to_members.emplace_back();
        out.bytes = bytes;
        out.start(runtime_, each.from, exchange.route);
    }
}

Awaited Agreement::awaited() const {
    const Exchange& exchange = *exchange_;
    if (!exchange.judges) return runtime_.messages().awaited_by(exchange.verdict.current());
    if (exchange.arrived < exchange.from_members.size())
        return runtime_.messages().awaited_by(exchange.from_members[exchange.arrived].current());
    return {};
}

}  // namespace poe::mpi::check
