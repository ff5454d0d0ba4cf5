// See postal_report.hpp.
#include "collectives/mptune/postal_report.hpp"

#include <algorithm>
#include <cstdio>

#include "collectives/api/api_context.hpp"
#include "collectives/mptune/candidate_timing.hpp"
#include "collectives/mptune/experiments.hpp"
#include "collectives/mptune/postal_text.hpp"
#include "collectives/schedule/postal.hpp"
#include "collectives/selection/catalogue.hpp"
#include "comm/api/mpproto.h"

namespace poe::collectives {
namespace {

constexpr double kAlphaBudget = 50e3;  // microseconds for one alpha

std::vector<double> alphas() {
    std::vector<double> all;
    for (int percent = 50; percent <= 90; percent += percent >= 54 && percent < 66 ? 2 : 4)
        all.push_back(percent / 100.0);
    return all;
}

// Returns lambda and t0 to predict with: the mean of the two experiments.
struct Fitted {
    double lambda = 1;
    double t0 = 0;
};
Fitted fitted(const Postal& postal) {
    return {postal.lambda(), (postal.first_t0 + postal.second_t0) / 2};
}

// Measures and prints lambda for all lengths up to `bytes`, and returns what is measured for
// `bytes`.
Fitted report_lambdas(const std::vector<int>& players, Bytes bytes, int me) {
    std::vector<Bytes> lengths = lengths_up_to(bytes);
    if (lengths.empty() || lengths.back() != bytes) lengths.push_back(bytes);
    if (me == 0)
        std::printf("%10s %22s %22s\n%10s %10s %11s %10s %11s\n", "", "blocking sends",
                    "non-blocking sends", "bytes", "t0 us", "lambda", "t0 us", "lambda");
    Fitted last;
    for (const Bytes length : lengths) {
        const LengthMeasured one = measure_length(players, length, Sends::kBlocking);
        const LengthMeasured two = measure_length(players, length, Sends::kNonBlocking);
        last = fitted(one.postal);
        if (me != 0) continue;
        std::printf("%10llu", static_cast<unsigned long long>(length));
        for (const Postal& postal : {one.postal, two.postal})
            std::printf(" %10.2f %10.2f%c", fitted(postal).t0, fitted(postal).lambda,
                        postal.disagree() ? '?' : ' ');
        std::printf("\n");
    }
    if (me == 0) std::printf("?  the two experiments disagree by more than a quarter\n\n");
    return last;
}

}  // namespace

int report_postal(const std::vector<int>& players, Bytes bytes, int me) {
    if (me == 0) std::printf("%s\n", postal_tables_text().c_str());
    const Fitted fitted = report_lambdas(players, bytes, me);
    const auto n = static_cast<std::uint32_t>(players.size());
    const bool plays = std::find(players.begin(), players.end(), me) != players.end();
    std::vector<double> measured;
    std::vector<Choice> choices;
    for (const double alpha : alphas())
        choices.push_back({find_algorithm(Operation::kBcast, "alpha"), alpha});
    if (plays) {
        std::vector<int> members = players;
        int gid = 0;
        if (mpc_group(static_cast<int>(n), members.data(), 1, &gid) != 0) return 1;
        in_call("mptune", [&](comm::ApiCall& call, CollectiveContext& library) {
            measured =
                time_choices(library, *group_of(call, library, gid),
                             usual_shape(Operation::kBcast, n, bytes), choices, kAlphaBudget);
            return 0;
        });
    }
    mpc_sync(ALLGRP);
    if (me != 0) return 0;
    const Lambda lambda = Lambda::nearest(fitted.lambda);
    std::vector<AlphaRow> rows;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const double alpha = choices[i].parameter;
        const double units = static_cast<double>(tree_time(split_by(alpha), lambda, n));
        rows.push_back({alpha, units / lambda.unit * fitted.t0, measured[i]});
    }
    std::printf("bcast of %llu bytes among %u tasks, lambda %.2f, t0 %.2f us\n%s",
                static_cast<unsigned long long>(bytes), n, fitted.lambda, fitted.t0,
                alpha_text(rows).c_str());
    return 0;
}

}  // namespace poe::collectives
