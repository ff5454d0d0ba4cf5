// TracedPart: records in the trace that the task is in a part of a collective call, until the end of the
// object: the path that was selected, an algorithm, or a phase. Costs two loads while the job is not
// traced; the name is made only if it is.
#pragma once

#include <string>
#include <utility>

#include "tracer/probe/process_context.hpp"

namespace poe::collectives {

class TracedPart {
  public:
    // `name()` returns the name of the part. `phase`: it is a phase.
    template <typename Name>
    explicit TracedPart(Name&& name, bool phase = false) : phase_(phase) {
        trace::Tracer& tracer = process_context().tracer;
        if (tracer.on()) [[unlikely]] {
            std::string made = name();
            if (tracer.enter_part(made, phase)) name_ = std::move(made);
        }
    }
    ~TracedPart() {
        if (!name_.empty()) [[unlikely]]
            process_context().tracer.leave_part(name_, phase_);
    }
    TracedPart(const TracedPart&) = delete;
    TracedPart& operator=(const TracedPart&) = delete;

  private:
    const bool phase_;
    std::string name_;  // empty: not recorded
};

}  // namespace poe::collectives
