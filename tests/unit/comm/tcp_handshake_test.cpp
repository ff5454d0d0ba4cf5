// The handshake: two of one job agree, and no lie gets through.
#include "comm/tcp/tcp_handshake.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

using namespace poe::comm;
using poe::TaskId;

namespace {

using Wire = std::vector<std::byte>;

HandshakeIdentity identity_of(TaskId me, std::uint8_t key = 1, const std::string& job = "job-1") {
    HandshakeIdentity identity;
    identity.key.fill(key);
    identity.job_id = job;
    identity.me = me;
    identity.tasks = 8;
    return identity;
}

Wire taken_from(Handshake& from) {
    const auto out = from.output();
    Wire wire(out.begin(), out.end());
    from.sent(out.size());
    return wire;
}

// Hands over as much as is wanted, in pieces of at most `piece` bytes. False: refused.
bool give(Handshake& to, const Wire& wire, std::size_t piece = 1000) {
    for (std::size_t at = 0; at < wire.size();) {
        const std::size_t n = std::min({piece, wire.size() - at, to.missing()});
        if (n == 0) return true;
        if (!to.take(wire.data() + at, n)) return false;
        at += n;
    }
    return true;
}

// One whole handshake; what went over the wire is kept.
struct Run {
    Run(const HandshakeIdentity& caller_identity, const HandshakeIdentity& called_identity,
        TaskId towards, std::size_t piece = 1000)
        : caller(Handshake::call(caller_identity, towards, fresh_nonce())),
          called(Handshake::answer(called_identity, fresh_nonce())) {
        messages.push_back(taken_from(caller));
        if (!give(called, messages.back(), piece)) return;
        messages.push_back(taken_from(called));
        if (!give(caller, messages.back(), piece)) return;
        messages.push_back(taken_from(caller));
        give(called, messages.back(), piece);
    }
    Handshake caller;
    Handshake called;
    std::vector<Wire> messages;
};

}  // namespace

TEST_CASE("two tasks of a job come to a verdict", "[handshake]") {
    const auto two = identity_of(2);
    const auto five = identity_of(5);
    for (const std::size_t piece : {1, 7, 1000}) {
        for (const Verdict verdict : {Verdict::kAccepted, Verdict::kYield, Verdict::kRefused}) {
            Run run(two, five, 5, piece);
            REQUIRE(run.called.proven());
            CHECK(run.called.peer() == 2);
            CHECK_FALSE(run.caller.decided());
            run.called.decide(verdict);
            const Wire last = taken_from(run.called);
            CHECK(run.caller.missing() == last.size());
            REQUIRE(give(run.caller, last, piece));
            REQUIRE(run.caller.decided());
            CHECK(run.caller.verdict() == verdict);
            CHECK(run.caller.missing() == 0);
            CHECK(run.called.missing() == 0);
        }
    }
}

TEST_CASE("who has another key or job gets nowhere", "[handshake]") {
    const auto five = identity_of(5);
    const HandshakeIdentity strangers[] = {identity_of(2, 9), identity_of(2, 1, "job-2"),
                                           identity_of(2, 1, "job-"), identity_of(2, 1, "job-11")};
    for (const HandshakeIdentity& stranger : strangers) {
        Run asks(stranger, five, 5);
        CHECK_FALSE(asks.called.proven());
        CHECK(asks.messages.size() == 2);  // it sees the challenge and does not believe it
        Run answers(five, stranger, 2);
        CHECK_FALSE(answers.called.proven());
        CHECK_FALSE(answers.caller.decided());
    }
}

TEST_CASE("a caller that does not check the challenge cannot prove itself either", "[handshake]") {
    const auto five = identity_of(5);
    const auto liar = identity_of(2, 9);
    const auto two = identity_of(2);
    Handshake called = Handshake::answer(five, fresh_nonce());
    Handshake caller = Handshake::call(liar, 5, fresh_nonce());
    REQUIRE(give(called, taken_from(caller)));
    taken_from(called);
    // The proof of another run, and nonsense.
    const Run other(two, five, 5);
    CHECK_FALSE(give(called, other.messages[2]));
    CHECK_FALSE(called.proven());
}

TEST_CASE("ids that cannot be are refused at once", "[handshake]") {
    const auto five = identity_of(5);
    for (const TaskId me : {-1, 8, 5, 1000000}) {
        const auto liar = identity_of(me);
        Handshake called = Handshake::answer(five, fresh_nonce());
        Handshake caller = Handshake::call(liar, 5, fresh_nonce());
        CHECK_FALSE(give(called, taken_from(caller)));
    }
    const auto two = identity_of(2);
    Run wrong_number(two, five, 4);
    CHECK(wrong_number.messages.size() == 1);
    CHECK(wrong_number.called.missing() == 0);
}

TEST_CASE("a task cannot prove that it is another one", "[handshake]") {
    // 3 has the key, but the proof of 2 covers who says it: as 3 it cannot be used.
    const auto five = identity_of(5);
    const auto two = identity_of(2);
    const auto three = identity_of(3);
    Handshake called = Handshake::answer(five, fresh_nonce());
    const Nonce nonce = fresh_nonce();
    Handshake as_two = Handshake::call(two, 5, nonce);
    Handshake as_three = Handshake::call(three, 5, nonce);
    REQUIRE(give(called, taken_from(as_two)));
    taken_from(as_three);
    const Wire challenge = taken_from(called);
    REQUIRE_FALSE(give(as_three, challenge));  // it was made for 2
    REQUIRE(give(as_two, challenge));
    Wire proof = taken_from(as_two);
    Handshake again = Handshake::answer(five, fresh_nonce());
    Handshake once_more = Handshake::call(three, 5, nonce);
    REQUIRE(give(again, taken_from(once_more)));
    taken_from(again);
    CHECK_FALSE(give(again, proof));
}

TEST_CASE("a recorded handshake proves nothing", "[handshake]") {
    const auto two = identity_of(2);
    const auto five = identity_of(5);
    const Run recorded(two, five, 5);
    REQUIRE(recorded.messages.size() == 3);
    Handshake called = Handshake::answer(five, fresh_nonce());
    REQUIRE(give(called, recorded.messages[0]));
    taken_from(called);
    CHECK_FALSE(give(called, recorded.messages[2]));
    // Nor to a caller.
    Handshake caller = Handshake::call(two, 5, fresh_nonce());
    taken_from(caller);
    CHECK_FALSE(give(caller, recorded.messages[1]));
}

TEST_CASE("what a task says cannot be reflected to it", "[handshake]") {
    const auto two = identity_of(2);
    const auto five = identity_of(5);
    // The stranger calls 5 as 2 and is called by 5 as 2 at once, and passes messages on.
    Handshake five_called = Handshake::answer(five, fresh_nonce());
    Handshake five_calls = Handshake::call(five, 2, fresh_nonce());
    Handshake as_two = Handshake::call(two, 5, fresh_nonce());
    REQUIRE(give(five_called, taken_from(as_two)));
    const Wire challenge = taken_from(five_called);
    taken_from(five_calls);
    CHECK_FALSE(give(five_calls, challenge));
    CHECK_FALSE(give(five_called, Wire(challenge.end() - 32, challenge.end())));
}

TEST_CASE("every flipped bit is noticed", "[handshake]") {
    const auto two = identity_of(2);
    const auto five = identity_of(5);
    for (std::size_t message = 0; message < 4; ++message) {
        const std::size_t sizes[] = {56, 72, 32, 33};
        for (std::size_t bit = 0; bit < sizes[message] * 8; ++bit) {
            Handshake caller = Handshake::call(two, 5, fresh_nonce());
            Handshake called = Handshake::answer(five, fresh_nonce());
            bool noticed = false;
            for (std::size_t step = 0; step < 4 && !noticed; ++step) {
                Handshake& from = step % 2 == 0 ? caller : called;
                Handshake& to = step % 2 == 0 ? called : caller;
                if (step == 3) called.decide(Verdict::kAccepted);
                Wire wire = taken_from(from);
                REQUIRE(wire.size() == sizes[step]);
                if (step == message) wire[bit / 8] ^= std::byte{1} << (bit % 8);
                noticed = !give(to, wire);
                // Hello is checked by what follows.
                if (message == 0 && !noticed && step >= 1) break;
            }
            INFO("message " << message << ", bit " << bit);
            CHECK(noticed);
            CHECK_FALSE(caller.decided());
        }
    }
}

TEST_CASE("a handshake that is cut short stays undecided, and garbage is refused", "[handshake]") {
    const auto two = identity_of(2);
    const auto five = identity_of(5);
    Run whole(two, five, 5);
    for (std::size_t cut = 0; cut < 56; ++cut) {
        Handshake called = Handshake::answer(five, fresh_nonce());
        REQUIRE(give(called, Wire(whole.messages[0].begin(), whole.messages[0].begin() + cut)));
        CHECK(called.missing() == 56 - cut);
        CHECK(called.output().empty());
    }
    std::mt19937 random(1995);
    for (int round = 0; round < 20000; ++round) {
        Wire garbage(200);
        for (std::byte& byte : garbage) byte = static_cast<std::byte>(random());
        Handshake called = Handshake::answer(five, fresh_nonce());
        if (round % 2 == 0) std::copy_n(whole.messages[0].begin(), 56, garbage.begin());
        const bool taken = give(called, Wire(garbage.begin(), garbage.begin() + 56));
        taken_from(called);
        CHECK_FALSE((taken && give(called, Wire(garbage.begin() + 56, garbage.end()))));
        CHECK_FALSE(called.proven());
    }
}

namespace {

// The identities of a task that is a member of several links.
struct Known final : HandshakeIdentities {
    std::vector<HandshakeIdentity> all;
    const HandshakeIdentity* find(std::uint64_t link) const noexcept override {
        for (const HandshakeIdentity& each : all)
            if (each.link == link) return &each;
        return nullptr;
    }
};

HandshakeIdentity member_of(std::uint64_t link, TaskId me, std::uint8_t key) {
    HandshakeIdentity identity = identity_of(me, key, "link-" + std::to_string(link));
    identity.link = link;
    return identity;
}

// Lets both ends talk until one of them refuses; true if the caller is proven.
bool proves(Handshake& caller, Handshake& called) {
    return give(called, taken_from(caller)) && give(caller, taken_from(called)) &&
           give(called, taken_from(caller)) && called.proven();
}

}  // namespace

TEST_CASE("a caller names the link whose key both know", "[tcp_handshake]") {
    Known known;
    known.all = {member_of(0, 5, 1), member_of(77, 2, 2), member_of(78, 3, 3)};
    const HandshakeIdentity good = member_of(77, 1, 2);
    Handshake called = Handshake::answer(known, fresh_nonce());
    Handshake caller = Handshake::call(good, 2, fresh_nonce());
    CHECK(proves(caller, called));
    CHECK(called.peer() == 1);
    CHECK(&called.identity() == &known.all[1]);

    struct Lie {
        HandshakeIdentity identity;
        TaskId towards;
    };
    const Lie lies[] = {
        {member_of(79, 1, 2), 2},  // a link that the other end does not know
        {member_of(77, 1, 3), 2},  // the key of another link
        {member_of(77, 1, 2), 3},  // the place of another link
        {member_of(0, 1, 2), 5},   // the key of a link for the job
        {member_of(77, 2, 2), 2},  // the called task itself
        {member_of(77, 8, 2), 2},  // no member
    };
    for (const Lie& lie : lies) {
        Handshake answers = Handshake::answer(known, fresh_nonce());
        Handshake liar = Handshake::call(lie.identity, lie.towards, fresh_nonce());
        CHECK_FALSE(proves(liar, answers));
    }
}
