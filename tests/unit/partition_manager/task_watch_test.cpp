// The watch of tasks that are stuck: that it may go at any moment.
#include "partition_manager/daemon/task_watch.hpp"

#include <memory>

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <catch2/catch.hpp>

using namespace poe;
using namespace std::chrono_literals;

TEST_CASE("a watch that goes when its time has come looks no more") {
    NodeSegmentSpec spec;
    spec.job_id = "unit-1";
    spec.node_of_task = {0, 0};
    auto segment = std::make_unique<NodeSegment>(NodeSegment::create(spec));
    asio::io_context loop;
    int reports = 0;
    asio::steady_timer end(loop);
    auto watch = std::make_unique<pm::TaskWatch>(loop, *segment, 1s,
                                                 [&](const pm::TaskStates&) { ++reports; });
    // Expires a little before the watch's own timer, and is seen at the same time as that.
    end.expires_after(200ms);
    end.async_wait([&](const asio::error_code&) {
        watch.reset();
        segment.reset();
    });
    const auto both_expired = std::chrono::steady_clock::now() + 300ms;
    asio::post(loop, [&] {
        while (std::chrono::steady_clock::now() < both_expired) {
        }
    });
    loop.run();
    CHECK(watch == nullptr);
    CHECK(reports == 0);
}
