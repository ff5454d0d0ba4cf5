// AnalysisCache: the analysis of the whole trace that is shown, made when a view asks for it first.
#pragma once

#include <optional>

#include "tracer/analysis/session.hpp"
#include "tracer/diagnosis/diagnosis.hpp"

namespace poe::trace {

// For one thread. Session and symbols must outlive it.
class AnalysisCache {
  public:
    AnalysisCache(const Session& session, Symbols& symbols)
        : session_(session), symbols_(symbols) {}

    // The first call, and every call after the trace has grown by a tenth, reads the whole trace.
    const Analysis& get() {
        constexpr std::uint64_t kPart = 10;
        const std::uint64_t records = session_.source().records();
        if (!made_ || records > records_ + records_ / kPart) {
            made_ = analyse(session_.source(), symbols_, [](double) {});
            records_ = records;
        }
        return *made_;
    }

  private:
    const Session& session_;
    Symbols& symbols_;
    std::optional<Analysis> made_;
    std::uint64_t records_ = 0;
};

}  // namespace poe::trace
