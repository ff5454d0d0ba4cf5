// The measurement of messages; see experiments.hpp.
#include "collectives/mptune/experiments.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "collectives/selection/multicast_cost.hpp"
#include "comm/api/mpproto.h"

namespace poe::collectives {
namespace {

constexpr int kType = 1;
constexpr Bytes kShortest = 8;
constexpr Bytes kLengths[] = {kShortest, kLeastLongest, 1024,   4096,
                              16384,     65536,         262144, kLongestMeasured};

double now() {
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

int own_task() {
    int tasks = 0;
    int me = 0;
    mpc_environ(&tasks, &me);
    return me;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// For times measured while others share a core: the scheduler favours different tasks at different
// times.
double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

class Messages {
  public:
    Messages() : buffer_(kLongestMeasured) {}
    void send(int to, Bytes bytes) { mpc_bsend(buffer_.data(), bytes, to, kType); }
    // Sends to all of them, one after the other, and returns when the last message has left.
    void send_to(std::span<const int> all, Bytes bytes, Sends sends) {
        if (sends == Sends::kBlocking) {
            for (const int to : all) send(to, bytes);
            return;
        }
        started_.resize(all.size());
        for (std::size_t i = 0; i < all.size(); ++i)
            mpc_send(buffer_.data(), bytes, all[i], kType, &started_[i]);
        for (int& message : started_) {
            std::size_t sent = 0;
            mpc_wait(&message, &sent);
        }
    }
    void receive(int from, Bytes bytes) {
        int source = from;
        int type = kType;
        std::size_t got = 0;
        mpc_brecv(buffer_.data(), bytes, &source, &type, &got);
    }
    void exchange(int to, int from, Bytes bytes) {
        int source = from;
        std::size_t got = 0;
        other_.resize(bytes);
        mpc_bsendrecv(buffer_.data(), bytes, to, kType, other_.data(), bytes, &source, &got);
    }

  private:
    std::vector<std::byte> buffer_;
    std::vector<std::byte> other_;
    std::vector<int> started_;
};

// The k others in one repetition: a different choice each time, because the experiment requires
// randomly chosen tasks.
std::vector<int> chosen(const std::vector<int>& players, std::size_t k, std::size_t repetition) {
    std::vector<int> all{players[0]};
    const std::size_t others = players.size() - 1;
    for (std::size_t i = 0; i < k; ++i) all.push_back(players[1 + (repetition * 7 + i) % others]);
    return all;
}

// One run of experiment 1 or 2, in all tasks of `who`. The time is that of who[0].
double run(Messages& messages, const std::vector<int>& who, int experiment, Bytes bytes,
           Sends sends) {
    const int me = own_task();
    const std::size_t k = who.size() - 1;
    const auto at = std::find(who.begin(), who.end(), me);
    if (at == who.end()) return 0;
    const auto place = static_cast<std::size_t>(at - who.begin());
    const double start = now();
    if (place == 0) {
        messages.send_to(std::span(who).subspan(1), bytes, sends);
        messages.receive(who[k], bytes);
        return now() - start;
    }
    messages.receive(who[0], bytes);
    if (place == k) {
        // To P(k-1), .., P1 and P0, or to P0 only.
        std::vector<int> others(who.begin(), who.begin() + (experiment == 1 ? 1 : place));
        std::reverse(others.begin(), others.end());
        messages.send_to(others, bytes, sends);
    } else if (experiment == 2) {
        messages.receive(who[k], bytes);
    }
    return 0;
}

std::size_t repetitions(Bytes bytes) {
    return bytes <= 4096 ? 101 : bytes <= 65536 ? 31 : 11;
}

double time_of(Messages& messages, const std::vector<int>& players, std::size_t k, int experiment,
               Bytes bytes, Sends sends) {
    // Tasks that do not take part wait for the end of the experiment, and soon sleep.
    mpc_sync(ALLGRP);
    std::vector<double> times;
    for (std::size_t i = 0; i < repetitions(bytes) + 2; ++i) {
        const double time = run(messages, chosen(players, k, i), experiment, bytes, sends);
        if (i >= 2) times.push_back(time);
    }
    return median(times);
}

// The microseconds of an exchange of the first `n` players with their neighbours, all at once.
double exchange_time(Messages& messages, const std::vector<int>& players, std::size_t n,
                     Bytes bytes) {
    constexpr int kInRow = 10;
    const int me = own_task();
    const auto end = players.begin() + static_cast<std::ptrdiff_t>(n);
    const auto at = std::find(players.begin(), end, me);
    mpc_sync(ALLGRP);
    if (at == end) return 0;
    const auto place = static_cast<std::size_t>(at - players.begin());
    std::vector<double> times;
    for (std::size_t i = 0; i < repetitions(bytes); ++i) {
        const double start = now();
        for (int round = 0; round < kInRow; ++round)
            messages.exchange(players[(place + 1) % n], players[(place + n - 1) % n], bytes);
        times.push_back((now() - start) / kInRow);
    }
    return mean(times);
}

struct Line {
    double slope = 0;
    double at_one = 0;  // the value for k = 1
};
Line line_through(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    double sum_x = 0;
    double sum_y = 0;
    double sum_xx = 0;
    double sum_xy = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto x = static_cast<double>(i);
        sum_x += x;
        sum_y += values[i];
        sum_xx += x * x;
        sum_xy += x * values[i];
    }
    const double spread = n * sum_xx - sum_x * sum_x;
    if (spread <= 0) return {0, values.empty() ? 0 : values[0]};
    const double slope = (n * sum_xy - sum_x * sum_y) / spread;
    return {slope, (sum_y - slope * sum_x) / n};
}

struct LineOfTimes {
    double start_up = 0;
    double per_byte = 0;
};
// The line through times by length for which the logarithms of the quotients of time and line have
// the least sum of squares; neither number is negative. So short messages count as much as long
// ones, and a length that is far too fast, because a network lets short bursts pass, does not count
// more than one that is as much too slow. Times of 0 do not count. Empty: there are fewer than two
// lengths.
std::optional<LineOfTimes> fitted_line(std::vector<std::pair<Bytes, double>> times) {
    std::erase_if(times, [](const auto& each) { return each.second <= 0; });
    const auto other = [&](const auto& each) { return each.first != times.front().first; };
    if (times.empty() || std::none_of(times.begin(), times.end(), other)) return std::nullopt;
    // For a known quotient of the cost of a byte and the start-up, the start-up is a mean.
    const auto log_start_up = [&](double quotient) {
        double sum = 0;
        for (const auto& [bytes, time] : times)
            sum += std::log(time / (1 + quotient * static_cast<double>(bytes)));
        return sum / static_cast<double>(times.size());
    };
    const auto error = [&](double quotient) {
        const double mean = log_start_up(quotient);
        double sum = 0;
        for (const auto& [bytes, time] : times) {
            const double off = std::log(time / (1 + quotient * static_cast<double>(bytes))) - mean;
            sum += off * off;
        }
        return sum;
    };
    // The quotient is searched for in steps of a tenth, and then between the neighbours of the best
    // one.
    constexpr double kStep = 0.1;
    constexpr double kLeast = -25;  // logarithms
    constexpr double kMost = 7;
    constexpr int kHalvings = 60;
    double best = kLeast;
    for (double at = kLeast; at <= kMost; at += kStep)
        if (error(std::exp(at)) < error(std::exp(best))) best = at;
    double low = best - kStep;
    double high = best + kStep;
    for (int i = 0; i < kHalvings; ++i) {
        const double third = (high - low) / 3;
        const bool left = error(std::exp(low + third)) < error(std::exp(high - third));
        (left ? high : low) += left ? -third : third;
    }
    double quotient = std::exp((low + high) / 2);
    if (error(0) <= error(quotient)) quotient = 0;
    const double start_up = std::exp(log_start_up(quotient));
    return LineOfTimes{start_up, quotient * start_up};
}

// The cost of a byte between the two longest lengths; 0 if the times do not grow, or if there is
// one length only. A network that lets bursts pass, and lets a burst grow again while the answer is
// on its way, makes the shorter messages of a round trip cheaper than those of a collective call,
// which follow each other.
double per_byte_of_longest(std::vector<std::pair<Bytes, double>> times) {
    if (times.size() < 2) return 0;
    std::sort(times.begin(), times.end());
    const auto& [longest, time] = times[times.size() - 1];
    const auto& [shorter, its_time] = times[times.size() - 2];
    if (longest == shorter || its_time <= 0) return 0;
    return std::max(0.0, (time - its_time) / static_cast<double>(longest - shorter));
}

// Solves at_one = 2 lambda t0.
void solve(const Line& line, double t0, double& out_t0, double& lambda) {
    out_t0 = t0 > 0 ? t0 : line.at_one / 2;
    lambda = out_t0 > 0 ? std::max(1.0, line.at_one / (2 * out_t0)) : 1;
}

}  // namespace

bool Postal::disagree() const noexcept {
    return std::abs(first_lambda - second_lambda) > 0.25 * std::min(first_lambda, second_lambda);
}

Postal postal_of(const Times& times) {
    Postal postal;
    const Line first = line_through(times.first);
    const Line second = line_through(times.second);
    solve(first, first.slope, postal.first_t0, postal.first_lambda);
    solve(second, second.slope / 2, postal.second_t0, postal.second_lambda);
    return postal;
}

void fit_messages(const std::vector<LengthMeasured>& lengths, CostModel& model) {
    std::vector<std::pair<Bytes, double>> times;
    for (const LengthMeasured& each : lengths) times.emplace_back(each.bytes, each.one_way);
    const auto line = fitted_line(times);
    if (!line) return;
    model.start_up = line->start_up;
    model.transfer = std::max(line->per_byte, per_byte_of_longest(std::move(times)));
}

void fit_multicast(const std::vector<MulticastMeasured>& lengths, std::uint32_t n,
                   CostModel& model) {
    std::vector<std::pair<Bytes, double>> times;
    for (const MulticastMeasured& each : lengths) times.emplace_back(each.bytes, each.time);
    const auto line = fitted_line(times);
    if (!line || line->per_byte <= 0) return;
    const double waits = multicast_waits(n);
    model.multicast = line->start_up / waits;
    model.multicast_byte = line->per_byte;
    const MulticastMeasured& longest = *std::max_element(
        lengths.begin(), lengths.end(),
        [](const auto& left, const auto& right) { return left.bytes < right.bytes; });
    const double per_byte =
        (longest.time - waits * model.start_up) / static_cast<double>(longest.bytes);
    if (model.multicast >= model.start_up || per_byte <= 0) return;
    model.multicast = model.start_up;
    model.multicast_byte = per_byte;
}

void fit_lambdas(const std::vector<LengthMeasured>& lengths, CostModel& model) {
    constexpr double kLargest = 1000;
    std::vector<MeasuredLambda> fitted;
    bool agreed = false;
    for (const LengthMeasured& each : lengths) {
        if (!each.postal.disagree()) {
            fitted.push_back({each.bytes, std::min(each.postal.lambda(), kLargest)});
            agreed = true;
            continue;
        }
        for (const MeasuredLambda& old : model.lambdas)
            if (old.bytes == each.bytes) fitted.push_back(old);
    }
    if (agreed) model.lambdas = std::move(fitted);
}

LengthMeasured measure_length(const std::vector<int>& players, Bytes bytes, Sends sends) {
    constexpr std::size_t kMostOthers = 7;
    Messages messages;
    Times times;
    for (std::size_t k = 1; k <= std::min(players.size() - 1, kMostOthers); ++k) {
        times.first.push_back(time_of(messages, players, k, 1, bytes, sends));
        times.second.push_back(time_of(messages, players, k, 2, bytes, sends));
    }
    return {bytes, postal_of(times), times.first[0] / 2};
}

std::vector<Bytes> lengths_up_to(Bytes longest) {
    std::vector<Bytes> all;
    for (const Bytes bytes : kLengths)
        if (bytes <= longest) all.push_back(bytes);
    return all;
}

std::vector<LengthMeasured> measure_lengths(const std::vector<int>& players, Bytes longest) {
    std::vector<LengthMeasured> all;
    for (const Bytes bytes : lengths_up_to(longest))
        all.push_back(measure_length(players, bytes, Sends::kBlocking));
    return all;
}

void measure_sharing(const std::vector<int>& players, Bytes longest, CostModel& model) {
    const Bytes more_bytes = std::min(Bytes{65536}, longest);
    const std::size_t n = players.size();
    if (n < 3) return;
    Messages messages;
    const auto more = static_cast<double>(n - 2);
    const auto grows = [&](Bytes bytes) {
        const double two = exchange_time(messages, players, 2, bytes);
        return std::max(0.0, exchange_time(messages, players, n, bytes) - two) / more;
    };
    model.message = grows(kShortest);
    model.load = std::max(0.0, grows(more_bytes) - model.message) / static_cast<double>(more_bytes);
}

}  // namespace poe::collectives
