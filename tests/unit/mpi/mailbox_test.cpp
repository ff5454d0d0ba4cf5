// The mailbox of a window's member: threads take the places of the origins and of the target.
#include "mpi/window/mailbox.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <random>
#include <sched.h>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "mpi/object/handle.hpp"
#include "mpi/window/batch.hpp"

using namespace poe;
using namespace poe::mpi;

namespace {

using Word = std::uint64_t;

// The window of the target: words, each operation adds to them under the lock.
struct Memory {
    std::mutex lock;
    std::vector<Word> words = std::vector<Word>(1 << 14);

    void carry_out(const Mail& mail, std::byte* data) {
        if (mail.batch) {
            Batch::for_each({data, mail.bytes}, [&](const Mail& each, const std::byte* its_data) {
                carry_out(each, const_cast<std::byte*>(its_data));
            });
            return;
        }
        const std::lock_guard guard(lock);
        Word* const at = words.data() + mail.displacement / 8;
        for (Bytes i = 0; i < mail.bytes / 8; ++i) {
            Word given = 0;
            std::memcpy(&given, data + 8 * i, 8);
            std::byte* const result = data + mail.sent() + 8 * i;
            if (gives_data(mail.kind)) std::memcpy(result, at + i, 8);
            at[i] += given;
        }
    }
};

// An origin that carries out by itself what the target does not take.
class Sender final : public MailSender, public MailWait {
  public:
    Sender(Memory& memory, const Mail& mail, const std::byte* data, std::byte* fetched) noexcept
        : memory_(memory), mail_(mail), data_(data), fetched_(fetched) {}
    MailWait& wait() override { return *this; }
    Fault by_copy(Bytes at, Bytes length) override {
        Mail part = mail_;
        part.bytes = static_cast<std::uint32_t>(length);
        part.displacement += static_cast<std::int64_t>(at);
        std::vector<std::byte> held(part.held());
        std::memcpy(held.data(), data_ + at, part.sent());
        memory_.carry_out(part, held.data());
        if (gives_data(part.kind))
            std::memcpy(fetched_ + at, held.data() + part.sent(), part.bytes);
        copied += length;
        return {};
    }
    void serve_own() override {}
    bool target_lost() override { return lost; }
    Fault lost_fault() override { return {MPI_ERR_PROC_ABORTED, "", "", ""}; }

    Bytes copied = 0;
    bool lost = false;

  private:
    Memory& memory_;
    const Mail& mail_;
    const std::byte* const data_;
    std::byte* const fetched_;
};

Mail fetch_of(std::int64_t displacement) {
    Mail mail;
    mail.kind = AccessKind::kGetAccumulate;
    mail.displacement = displacement;
    return mail;
}

}  // namespace

TEST_CASE("an operation takes effect once, by the target or by the origin") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        auto box = std::make_unique<Mailbox>();
        Memory memory;
        std::atomic<bool> over{false};
        // The target polls, and at times it does not.
        std::thread target([&] {
            std::mt19937 random(seed);
            while (!over) {
                const auto looks = random() % 3000;
                for (unsigned i = 0; i < looks; ++i)
                    empty_mailbox(*box, [&](const Mail& mail, std::byte* data) {
                        memory.carry_out(mail, data);
                    });
                for (unsigned i = 0; i < random() % 20; ++i) ::sched_yield();
            }
        });
        constexpr unsigned kOrigins = 3;
        constexpr unsigned kRounds = 200;
        std::array<std::vector<Word>, kOrigins> fetched;
        std::array<bool, kOrigins> right{};
        std::vector<std::thread> origins;
        for (unsigned origin = 0; origin < kOrigins; ++origin) {
            origins.emplace_back([&, origin] {
                std::mt19937 random(100 * seed + origin);
                bool all_right = true;
                Word own = 0;
                for (unsigned round = 0; round < kRounds; ++round) {
                    // The first word belongs to all origins, the others to this one.
                    const bool is_long = round % 16 == 7;
                    const std::size_t words = is_long ? 4000 + random() % 90 : 1;
                    const std::size_t first = is_long ? 1 + 4096 * origin : 0;
                    std::vector<Word> given(words, is_long ? round : 1);
                    std::vector<Word> result(words);
                    Mail mail = fetch_of(static_cast<std::int64_t>(8 * first));
                    const auto* data = reinterpret_cast<const std::byte*>(given.data());
                    auto* place = reinterpret_cast<std::byte*>(result.data());
                    Sender sender(memory, mail, data, place);
                    bool listens = false;
                    mail.bytes = 8;
                    const bool is_done =
                        !is_long && random() % 2 == 0 &&
                        hand_over_short(*box, mail, data, place, sender) == Handed::kDone;
                    const Fault fault =
                        is_done ? Fault{}
                                : hand_over(*box, mail, 8 * words, 8, data, place, sender, listens);
                    all_right = all_right && !fault && sender.copied <= 8 * words;
                    if (is_long) {
                        // 4000 words were changed by each long operation of this origin.
                        all_right = all_right && result[0] == own && result[3999] == own;
                        own += round;
                    } else {
                        fetched[origin].push_back(result[0]);
                    }
                }
                right[origin] = all_right;
            });
        }
        for (std::thread& each : origins) each.join();
        over = true;
        target.join();
        std::vector<bool> seen(kOrigins * kRounds);
        Word count = 0;
        for (const auto& each : fetched) {
            Word last = 0;
            for (const Word value : each) {
                REQUIRE(value < seen.size());
                REQUIRE_FALSE(seen[value]);
                seen[value] = true;
                // Operations of one origin take effect in their order.
                REQUIRE((value >= last));
                last = value;
                ++count;
            }
        }
        CHECK(memory.words[0] == count);
        for (const bool each : right) CHECK(each);
        CHECK(box->claims == 0);
    }
}

TEST_CASE("nothing is lost if the target never looks, or if all slots are in use") {
    auto box = std::make_unique<Mailbox>();
    Memory memory;
    const std::vector<Word> given(9000, 3);
    std::vector<Word> result(given.size());
    Mail mail = fetch_of(0);
    mail.bytes = 8;
    const auto* data = reinterpret_cast<const std::byte*>(given.data());
    auto* place = reinterpret_cast<std::byte*>(result.data());
    for (const std::uint32_t claims : {0u, 15u}) {
        box->claims = claims;
        Sender sender(memory, mail, data, place);
        bool listens = true;
        CHECK_FALSE(hand_over(*box, mail, 8 * given.size(), 8, data, place, sender, listens));
        CHECK_FALSE(listens);
        CHECK(hand_over_short(*box, mail, data, place, sender) == Handed::kNotTaken);
        CHECK(sender.copied == 8 * given.size());
        CHECK(box->claims == claims);
    }
    CHECK(memory.words[8999] == 6);
    CHECK(result[8999] == 3);
}

TEST_CASE("an origin does not wait for a target that has ended after it took the operation") {
    auto box = std::make_unique<Mailbox>();
    Memory memory;
    const Word given = 1;
    Word result = 0;
    const Mail mail = fetch_of(0);
    const auto* data = reinterpret_cast<const std::byte*>(&given);
    auto* place = reinterpret_cast<std::byte*>(&result);
    Sender sender(memory, mail, data, place);
    sender.lost = true;
    std::thread target([&] {
        MailState posted = MailState::kPosted;
        while (!box->slots[0].state.compare_exchange_weak(posted, MailState::kTaken))
            posted = MailState::kPosted;
    });
    bool listens = false;
    Fault fault;
    // The origin may withdraw its operation before the target takes it.
    do {
        fault = hand_over(*box, mail, 8, 8, data, place, sender, listens);
    } while (!fault);
    target.join();
    CHECK(fault.code == MPI_ERR_PROC_ABORTED);
    Mail short_mail = mail;
    short_mail.bytes = 8;
    std::thread again([&] {
        MailState posted = MailState::kPosted;
        while (!box->slots[1].state.compare_exchange_weak(posted, MailState::kTaken))
            posted = MailState::kPosted;
    });
    Handed handed = Handed::kNotTaken;
    while (handed == Handed::kNotTaken)
        handed = hand_over_short(*box, short_mail, data, place, sender);
    again.join();
    CHECK(handed == Handed::kLost);
}

TEST_CASE("the records of a batch come back in their order") {
    Batch batch;
    std::vector<std::byte> data(kMostBatchedBytes, std::byte{7});
    for (std::uint32_t i = 0; batch.has_room(i); i = (i + 3) % 100) {
        Mail mail;
        mail.bytes = i;
        mail.displacement = static_cast<std::int64_t>(batch.count());
        batch.add(mail, data.data());
    }
    CHECK(batch.bytes().size() <= kMailPieceBytes);
    std::size_t count = 0;
    std::uint32_t bytes = 0;
    Batch::for_each(batch.bytes(), [&](const Mail& mail, const std::byte* at) {
        CHECK(mail.displacement == static_cast<std::int64_t>(count));
        CHECK(mail.bytes == bytes);
        bytes = (bytes + 3) % 100;
        CHECK((mail.bytes == 0 || at[mail.bytes - 1] == std::byte{7}));
        ++count;
    });
    CHECK(count == batch.count());
    batch.clear();
    CHECK(batch.empty());
}
