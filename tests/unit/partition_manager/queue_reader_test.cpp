// The message queues of a task, read from memory: here from the memory of the test itself, in which
// the queues are made by hand, right and wrong.
#include "partition_manager/daemon/queue_reader.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "base/contexts.hpp"
#include "base/segment/match_queues.hpp"

using namespace poe;
using State = pm::MessageQueues::State;

namespace {

struct Receive {
    MatchKey wanted;
    Bytes room = 0;
    std::uint64_t order = 0;
    QueueLink link;
};
struct Message {
    Bytes length = 0;
    std::uint64_t order = 0;
    QueueLink link;
};

struct Task {
    std::array<KeyedQueue*, 4> posted_buckets{};
    std::array<KeyedQueue*, 4> unexpected_buckets{};
    std::vector<std::unique_ptr<KeyedQueue>> queues;
    std::vector<std::unique_ptr<Receive>> receives;
    std::vector<std::unique_ptr<Message>> messages;
    QueueTable posted{posted_buckets.data(), 4, 0};
    QueueTable unexpected{unexpected_buckets.data(), 4, 0};
    void* blocking = nullptr;
    MatcherTables tables;
    TaskSlot slot{};

    Task() {
        tables.posted = &posted;
        tables.unexpected = &unexpected;
        tables.blocking = &blocking;
        tables.wanted_at = offsetof(Receive, wanted);
        tables.room_at = offsetof(Receive, room);
        tables.order_at = offsetof(Receive, order);
        tables.length_at = offsetof(Message, length);
        tables.arrival_at = offsetof(Message, order);
        slot.attached = kOwnLibrary;
        slot.pid = ::getpid();
        slot.observed_tables = reinterpret_cast<std::uint64_t>(&tables);
    }

    static void push(QueueTable& table, std::array<KeyedQueue*, 4>& buckets,
                     std::vector<std::unique_ptr<KeyedQueue>>& queues, const MatchKey& key,
                     QueueLink& link, void* owner) {
        KeyedQueue*& bucket = buckets[static_cast<unsigned>(key.type + 1) % 4];
        KeyedQueue* queue = bucket;
        while (queue != nullptr && queue->key != key) queue = queue->next;
        if (queue == nullptr) {
            queues.push_back(std::make_unique<KeyedQueue>());
            queue = queues.back().get();
            queue->key = key;
            queue->next = bucket;
            bucket = queue;
        }
        link = {nullptr, queue->tail, queue, owner};
        (queue->tail != nullptr ? queue->tail->next : queue->head) = &link;
        queue->tail = &link;
        ++table.links;
    }
    Receive& post(const MatchKey& wanted, Bytes room) {
        receives.push_back(std::make_unique<Receive>());
        Receive& receive = *receives.back();
        receive.wanted = wanted;
        receive.room = room;
        receive.order = receives.size();
        push(posted, posted_buckets, queues, wanted, receive.link, &receive);
        return receive;
    }
    Message& arrive(const MatchKey& from, Bytes length) {
        messages.push_back(std::make_unique<Message>());
        Message& message = *messages.back();
        message.length = length;
        message.order = messages.size();
        push(unexpected, unexpected_buckets, queues, from, message.link, &message);
        return message;
    }
};

}  // namespace

TEST_CASE("queues are read in the order of posting and of arrival") {
    Task task;
    task.post({kMplContext, 3, 7}, 100);
    task.post({kMplContext, kWildcard, kWildcard}, 8);
    task.post({kCclContext, 1, 1}, 8);  // of a collective call
    task.post({kMplContext, 3, 7}, 200);
    Receive own{{kFirstMpiContext, 2, kWildcard}, 50, 9, {}};
    task.blocking = &own;
    task.arrive({kMplContext, 1, 5}, 10);
    task.arrive({kCclContext, 1, 5}, 11);
    task.arrive({kMplContext, 0, 4}, 12);
    const pm::MessageQueues queues = pm::read_message_queues(task.slot);
    CHECK(queues.state == State::kRead);
    CHECK(queues.posted == std::vector<pm::PostedNote>{{3, 7, 100, kMplContext, false},
                                                       {-1, -1, 8, kMplContext, false},
                                                       {3, 7, 200, kMplContext, false},
                                                       {2, -1, 50, kFirstMpiContext, true}});
    CHECK(queues.unexpected ==
          std::vector<UnexpectedNote>{{1, 5, 10, kMplContext}, {0, 4, 12, kMplContext}});
    CHECK(queues.posted_count == 4);
    CHECK(queues.unexpected_count == 2);
}

TEST_CASE("bytes that the library adds to messages of MPI are not counted") {
    constexpr ContextId kInternal = kFirstMpiContext | 0x70000000u;
    Task task;
    task.tables.envelope = 80;
    task.post({kMplContext, 3, 7}, 100);
    task.post({kFirstMpiContext, 3, 7}, 100);
    task.post({kInternal, 3, 7}, 100);
    task.arrive({kMplContext, 1, 5}, 84);
    task.arrive({kFirstMpiContext, 1, 5}, 84);
    task.arrive({kFirstMpiContext + 3, 1, 5}, 80);
    const pm::MessageQueues queues = pm::read_message_queues(task.slot);
    CHECK(queues.posted == std::vector<pm::PostedNote>{{3, 7, 100, kMplContext, false},
                                                       {3, 7, 20, kFirstMpiContext, false}});
    CHECK(queues.unexpected == std::vector<UnexpectedNote>{{1, 5, 84, kMplContext},
                                                           {1, 5, 4, kFirstMpiContext},
                                                           {1, 5, 0, kFirstMpiContext + 3}});
}

TEST_CASE("a list is cut, and its count is not") {
    Task task;
    for (int i = 0; i < 300; ++i) task.post({kMplContext, i % 9, i % 7}, 1);
    const pm::MessageQueues queues = pm::read_message_queues(task.slot);
    CHECK(queues.state == State::kRead);
    CHECK(queues.posted_count == 300);
    CHECK(queues.posted.size() == pm::MessageQueues::kMostNotes);
    CHECK(queues.posted.back().source == 99 % 9);
    task.posted.links = 1 << 20;
    CHECK(pm::read_message_queues(task.slot).state == State::kTooMany);
}

TEST_CASE("a state in the middle of a change is recognized") {
    Task task;
    Receive& first = task.post({kMplContext, 3, 7}, 100);
    Receive& second = task.post({kMplContext, 3, 7}, 100);
    Message& message = task.arrive({kMplContext, 1, 5}, 10);
    REQUIRE(pm::read_message_queues(task.slot).state == State::kRead);
    SECTION("the count is not adjusted yet") {
        ++task.posted.links;
    }
    SECTION("a link names another queue") {
        second.link.queue = message.link.queue;
    }
    SECTION("a link is not connected backwards") {
        second.link.previous = nullptr;
    }
    SECTION("the links form a circle") {
        second.link.next = &first.link;
    }
    SECTION("the queues form a circle") {
        first.link.queue->next = first.link.queue;
    }
    SECTION("the last link is not the tail") {
        first.link.queue->tail = &first.link;
    }
    SECTION("the count of messages is not adjusted yet") {
        ++task.unexpected.links;
    }
    SECTION("a link is nowhere") {
        second.link.next = reinterpret_cast<QueueLink*>(16);
    }
    SECTION("the buckets are nowhere") {
        task.posted.buckets = reinterpret_cast<KeyedQueue* const*>(16);
    }
    SECTION("the owner is nowhere") {
        first.link.owner = nullptr;
    }
    SECTION("too many buckets") {
        task.posted.bucket_count = ~std::uint64_t{0};
    }
    SECTION("a queue is empty") {
        first.link.queue->head = nullptr;
    }
    const pm::MessageQueues queues = pm::read_message_queues(task.slot);
    CHECK(queues.state == State::kChanging);
    CHECK(queues.posted.empty());
}

TEST_CASE("a task without these tables has no queues") {
    Task task;
    SECTION("not attached") {
        task.slot.attached = kNotAttached;
    }
    SECTION("another library") {
        task.slot.attached = kObserved;
    }
    SECTION("nothing published") {
        task.slot.observed_tables = 0;
    }
    SECTION("other memory") {
        task.tables.magic = 1;
    }
    SECTION("no memory") {
        task.slot.observed_tables = 16;
    }
    CHECK(pm::read_message_queues(task.slot).state == State::kUnread);
}
