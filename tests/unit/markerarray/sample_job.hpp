// A job to draw: eight tasks in all kinds of states, or as many as one likes.
#pragma once

#include <clocale>
#include <string>

#include "markerarray/model.hpp"
#include "markerarray/view.hpp"

namespace poe::markers::test {

// Widths of characters come from the locale.
inline const bool kLocaleSet = std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;

inline JobFacts facts_of(std::uint32_t tasks, std::uint32_t nodes) {
    JobFacts facts;
    facts.id = "mwqgurew-c5v-0";
    facts.program = "./heat2d";
    facts.tasks = tasks;
    for (std::uint32_t node = 0; node < nodes; ++node)
        facts.nodes.push_back("n" + std::to_string(node));
    return facts;
}

inline TaskRow row_of(TaskId task, Activity activity, const std::string& doing) {
    TaskRow row;
    row.task = task;
    row.activity = activity;
    row.doing = doing;
    row.pid = 4000 + task;
    return row;
}

// The eight, at second 5 and, further on, at second 15 of the job.
inline Model sample_job() {
    Model model;
    model.begin(facts_of(8, 2), Moment{0});
    const auto put = [&](TaskRow row, std::uint64_t done, Moment now) {
        row.node = row.task / 4;
        row.cpu_percent = 99 - row.task;
        row.memory = Bytes{3} << (18 + row.task);
        row.progress = {done, 100};
        for (int light = 0; light < 10; ++light)
            row.lights[static_cast<std::size_t>(light)] = static_cast<std::uint8_t>(
                light <= row.task ? 1 + 12 * ((row.task + light) % 9) : 0);
        row.text = "step " + std::to_string(done);
        row.text_count = done;
        model.put(std::move(row), now);
    };
    for (const Moment now : {Moment{5'000}, Moment{15'000}}) {
        const std::uint64_t done = now == Moment{5'000} ? 10 : 30;
        put(row_of(0, Activity::kComputing, "computing"), done, now);
        put(row_of(1, Activity::kSending, "mpc_bsend to 0 type 7"), done, now);
        TaskRow waits = row_of(2, Activity::kReceiving, "mpc_brecv from 1 type 7");
        waits.waits_ms = 12'345;
        put(waits, done + 1, now);
        put(row_of(3, Activity::kCollective, "mpc_sync"), done + 2, now);
        put(row_of(4, Activity::kIdle, "idle"), done, now);
        put(row_of(5, Activity::kStopped, "stopped, computing"), done, now);
        put(row_of(6, Activity::kEnded, "ended"), 100, now);
        put(row_of(7, Activity::kFailed, "killed by SIGSEGV"), done, now);
    }
    TaskRow wide = model.now().rows[3];
    wide.text =
        "größer, 語語語, e\xcc\x81, bad \xff\xc3 bytes, \t and a text that is longer than most "
        "windows are";
    model.put(wide, Moment{15'500});
    model.tick(Moment{16'000}, Moment{16'000}, false);
    return model;
}

// Draws a view as a display would: ordered, settled, then rendered.
inline Grid draw(const Model& model, View& view, Size size, bool unicode = true);

}  // namespace poe::markers::test

#include "markerarray/render.hpp"

inline poe::terminal::Grid poe::markers::test::draw(const Model& model, View& view, Size size,
                                                    bool unicode) {
    const Picture picture = view.standing ? model.at(*view.standing) : model.now();
    const Order order = order_of(picture, view);
    settle(view, order, size, model.any_progress());
    const auto marks = model.marks_of(view.selected, 50);
    const Scene scene{picture,        order, view, model.lights_used(), model.any_progress(),
                      model.now().at, &marks};
    return render(scene, size, Glyphs(unicode));
}
