// The choice between the mailbox of a window's member and single copy, with the costs of two kinds
// of machine.
#include "mpi/window/mail_choice.hpp"

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::mpi;

namespace {

// Microseconds of a put of 64 KB and of 1 MB. Measured on one virtual machine, whose two cores are
// at times two threads of one core and at times far from each other.
struct Machine {
    double mailbox_64k, mailbox_1m, single_64k, single_1m;
};
constexpr Machine kNear{1.6, 23, 5.6, 80};
constexpr Machine kFar{21, 270, 5.7, 82};

std::uint64_t nanoseconds(double us) {
    return static_cast<std::uint64_t>(us * 1000);
}

// How many of `count` operations try the mailbox if the target listens and each way costs so much.
int tried(MailChoice& choice, AccessKind kind, Bytes bytes, int count, double mailbox_us,
          double single_us) {
    int tries = 0;
    for (int i = 0; i < count; ++i) {
        if (choice.choose(kind, bytes).mailbox) {
            ++tries;
            choice.tried(kind, bytes, true, nanoseconds(mailbox_us));
        } else {
            choice.copied(kind, bytes, nanoseconds(single_us));
        }
    }
    return tries;
}

}  // namespace

TEST_CASE("long operations take the way that is cheaper between these cores", "[mail_choice]") {
    MailChoice choice;
    // The tasks may move from one kind of cores to the other.
    for (const Machine& machine : {kNear, kFar, kNear}) {
        const auto both = [&](int count) {
            return std::pair(tried(choice, AccessKind::kPut, 64 << 10, count, machine.mailbox_64k,
                                   machine.single_64k),
                             tried(choice, AccessKind::kPut, 1 << 20, count, machine.mailbox_1m,
                                   machine.single_1m));
        };
        both(2000);
        const auto [short_ones, long_ones] = both(1000);
        const bool by_mailbox = machine.mailbox_1m < machine.single_1m;
        // The other way is tried about once in a hundred times, because it costs more than three
        // times as much.
        CHECK(short_ones > (by_mailbox ? 980 : 0));
        CHECK(short_ones < (by_mailbox ? 1000 : 20));
        CHECK(long_ones > (by_mailbox ? 980 : 0));
        CHECK(long_ones < (by_mailbox ? 1000 : 20));
    }
}

TEST_CASE("slow first operations do not decide", "[mail_choice]") {
    MailChoice choice;
    // Memory and caches are cold.
    tried(choice, AccessKind::kPut, 1 << 20, 2, 900, 900);
    CHECK(tried(choice, AccessKind::kPut, 1 << 20, 100, kNear.mailbox_1m, kNear.single_1m) > 80);
    MailChoice other;
    tried(other, AccessKind::kPut, 1 << 20, 2, 900, 900);
    CHECK(tried(other, AccessKind::kPut, 1 << 20, 100, kFar.mailbox_1m, kFar.single_1m) < 20);
}

TEST_CASE("an operation during which a task loses its core does not decide", "[mail_choice]") {
    MailChoice choice;
    tried(choice, AccessKind::kPut, 1 << 20, 300, 23, 80);
    choice.tried(AccessKind::kPut, 1 << 20, true, nanoseconds(10000));
    CHECK(tried(choice, AccessKind::kPut, 1 << 20, 100, 23, 80) > 90);
}

TEST_CASE("kinds of operations and lengths are judged apart", "[mail_choice]") {
    MailChoice choice;
    tried(choice, AccessKind::kPut, 1 << 20, 200, 23, 80);
    tried(choice, AccessKind::kGet, 1 << 20, 200, 80, 23);
    tried(choice, AccessKind::kAccumulate, 1 << 20, 200, 23, 160);
    tried(choice, AccessKind::kPut, 16 << 10, 200, 9, 3);
    CHECK(tried(choice, AccessKind::kPut, 1 << 20, 100, 23, 80) > 90);
    CHECK(tried(choice, AccessKind::kGet, 1 << 20, 100, 80, 23) < 10);
    CHECK(tried(choice, AccessKind::kGetAccumulate, 1 << 20, 100, 23, 160) > 90);
    CHECK(tried(choice, AccessKind::kPut, 16 << 10, 100, 9, 3) < 10);
}

TEST_CASE("short operations try the mailbox and are not measured", "[mail_choice]") {
    MailChoice choice;
    CHECK(tried(choice, AccessKind::kPut, kLeastMeasured - 1, 100, 50, 1) == 100);
    CHECK_FALSE(choice.choose(AccessKind::kPut, kLeastMeasured - 1).measured);
    CHECK(choice.choose(AccessKind::kPut, kLeastMeasured).measured);
}

TEST_CASE("one in eight of shorter operations is measured, and all take the cheaper way",
          "[mail_choice]") {
    MailChoice choice;
    for (const auto& [mailbox_ns, single_ns] : {std::pair(600, 1700), std::pair(2000, 1700)}) {
        int measured = 0;
        int tries = 0;
        for (int i = 0; i < 10000; ++i) {
            const MailChoice::Way way = choice.choose(AccessKind::kPut, 4096);
            if (i >= 9000) measured += way.measured ? 1 : 0;
            if (i >= 9000) tries += way.mailbox ? 1 : 0;
            const auto took = static_cast<std::uint64_t>(!way.measured ? 0
                                                         : way.mailbox ? mailbox_ns
                                                                       : single_ns);
            if (way.mailbox) {
                choice.tried(AccessKind::kPut, 4096, true, took);
            } else {
                choice.copied(AccessKind::kPut, 4096, took);
            }
        }
        CHECK(measured == 125);
        CHECK(tries > (mailbox_ns < single_ns ? 980 : 0));
        CHECK(tries < (mailbox_ns < single_ns ? 1001 : 20));
    }
}

TEST_CASE("a target that does not listen is seldom tried", "[mail_choice]") {
    MailChoice choice;
    for (const Bytes bytes : {Bytes{8}, Bytes{1} << 20}) {
        int tries = 0;
        for (int i = 0; i < 1000; ++i) {
            if (choice.choose(AccessKind::kPut, bytes).mailbox) {
                ++tries;
                choice.tried(AccessKind::kPut, bytes, false, 81000);
            } else {
                choice.copied(AccessKind::kPut, bytes, 80000);
            }
        }
        CHECK(tries > 10);
        CHECK(tries < 30);
        // It listens again.
        CHECK(tried(choice, AccessKind::kPut, bytes, 300, 1, 80) > 200);
    }
}
