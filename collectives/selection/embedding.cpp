// The embedding of schedules; see embedding.hpp.
#include "collectives/selection/embedding.hpp"

namespace poe::collectives {

void embed(Schedule& into, const Part& part) {
    Schedule own;
    part.generate(part.own, own);
    const Place work = into.work(own.work_bytes());
    const std::uint32_t before = into.started();
    const auto place = [&](Place of) {
        return (of.buffer == Buffer::kScratch ? work : part.buffer(of.buffer)) + of.offset;
    };
    for (const Step& step : own.steps()) {
        switch (step.kind) {
            case StepKind::kSend:
                if (step.length == 0) {
                    into.signal(part.rank_of(step.peer), step.round);
                } else {
                    into.send(part.rank_of(step.peer), place(step.from), step.length, step.round);
                }
                break;
            case StepKind::kReceive:
                if (step.length == 0) {
                    into.await_signal(part.rank_of(step.peer), step.round);
                } else {
                    into.receive(part.rank_of(step.peer), place(step.to), step.length, step.round);
                }
                break;
            case StepKind::kWait:
                into.wait_for(before + static_cast<std::uint32_t>(step.peer));
                break;
            case StepKind::kCopy:
                into.copy(place(step.from), place(step.to), step.length);
                break;
            case StepKind::kAppend:
                into.append(place(step.from), place(step.to), step.length);
                break;
            case StepKind::kPrepend:
                into.prepend(place(step.from), place(step.to), step.length);
                break;
        }
    }
    into.wait();
}

}  // namespace poe::collectives
