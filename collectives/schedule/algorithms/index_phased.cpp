// Index in phases (phases.hpp). On a switched network, messages that arrive at one rank at the same
// time compete for its cable, and what the switch cannot queue is lost and sent again much later.
//
//   phased             n - 1 phases: in phase i, rank r sends to rank r + i + 1. With signals, a
//                      rank needs only its own row and column of the matrix of lengths. Blocks that
//                      are longer than a piece are cut into pieces, and the phases are repeated for
//                      each piece. Blocks that are shorter are all sent at the start.
//   greedy, all-to-all the phases of phases.hpp. A rank needs the whole matrix.
//
// Phases are separated by one of two means:
//   signals    A receiver sends a message without data to its next sender, once everything that it
//              received in earlier phases has arrived. So each rank receives at most one block at a
//              time, and no rank waits for ranks with which it does not communicate.
//   barriers   All ranks wait for all others between two phases, as in the CC-MPI paper. A barrier
//              costs ceil(log2 n) rounds, and every phase then takes as long as its longest
//              message.
//
// No deadlock: a rank completes its blocks in the order of the phases. The first phase that a rank
// has not completed needs only ranks that are in this phase or before it, so the ranks in the
// earliest phase always proceed.
#include <algorithm>
#include <memory>

#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/schedule/phases.hpp"

namespace poe::collectives {
namespace {

// A part of a block.
struct Part {
    Bytes at = 0;
    Bytes bytes = 0;
};

// The schedule of one rank, phase by phase.
class PhasedSchedule {
  public:
    PhasedSchedule(const Shape& shape, Rank rank, Schedule& into)
        : shape_(shape),
          into_(into),
          own_(static_cast<std::uint32_t>(rank)),
          row_(shape.n + 1),
          column_(shape.n + 1) {
        for (std::uint32_t other = 0; other < shape.n; ++other) {
            row_[other + 1] = row_[other] + shape.between(own_, other);
            column_[other + 1] = column_[other] + shape.between(other, own_);
        }
    }

    std::uint32_t own() const noexcept { return own_; }
    void receive(std::uint32_t from, Part part, int round) {
        into_.receive(static_cast<Rank>(from), {Buffer::kOutput, column_[from] + part.at},
                      part.bytes, round);
    }
    void send(std::uint32_t to, Part part, int round) {
        into_.send(static_cast<Rank>(to), {Buffer::kInput, row_[to] + part.at}, part.bytes, round);
    }
    void copy_own() {
        into_.copy({Buffer::kInput, row_[own_]}, {Buffer::kOutput, column_[own_]},
                   shape_.between(own_, own_));
    }

    struct End {
        std::uint32_t rank = 0;
        Part part;
    };
    // One phase, in which this rank receives at most one part and sends at most one; those of 0
    // bytes are omitted. With signals, the signal of the receiver precedes the part.
    void phase(End from, End to, bool signals, int round) {
        const bool receives = from.part.bytes > 0;
        const bool sends = to.part.bytes > 0;
        // The signal is awaited first, because a wait is for the messages that were started first.
        if (signals && sends) into_.await_signal(static_cast<Rank>(to.rank), round);
        const std::uint32_t until = into_.started();
        if (signals && receives) into_.signal(static_cast<Rank>(from.rank), round);
        if (receives) receive(from.rank, from.part, round);
        if (signals && sends) into_.wait_for(until);
        if (sends) send(to.rank, to.part, round);
        if (sends || receives) into_.wait();
    }

  private:
    const Shape& shape_;
    Schedule& into_;
    std::uint32_t own_;
    std::vector<Bytes> row_;
    std::vector<Bytes> column_;
};

// `threshold`: a phase of shorter messages has no signals, and may have conflicts.
Generator by_phases(const Shape& shape, std::vector<Phase> all, Bytes threshold) {
    // Shared, because generators are copied.
    const auto shared = std::make_shared<const std::vector<Phase>>(std::move(all));
    return [shape, shared, threshold](Rank rank, Schedule& into) {
        const std::vector<Phase>& phases = *shared;
        PhasedSchedule own(shape, rank, into);
        own.copy_own();
        for (std::size_t k = 0; k < phases.size(); ++k) {
            const int round = static_cast<int>(k);
            std::vector<std::uint32_t> sources;
            std::vector<std::uint32_t> destinations;
            for (const PhasedMessage& each : phases[k]) {
                if (each.to == own.own()) sources.push_back(each.from);
                if (each.from == own.own()) destinations.push_back(each.to);
            }
            // The first message of a phase is its longest one.
            if (phases[k].front().bytes < threshold) {
                for (const std::uint32_t from : sources)
                    own.receive(from, {0, shape.between(from, own.own())}, round);
                for (const std::uint32_t to : destinations)
                    own.send(to, {0, shape.between(own.own(), to)}, round);
                into.wait();
                continue;
            }
            PhasedSchedule::End from;
            if (!sources.empty()) from = {sources[0], {0, shape.between(sources[0], own.own())}};
            PhasedSchedule::End to;
            if (!destinations.empty())
                to = {destinations[0], {0, shape.between(own.own(), destinations[0])}};
            own.phase(from, to, k > 0, round);
        }
    };
}

}  // namespace

Generator index_phased(const Shape& shape, Bytes piece, Separation separation) {
    return [shape, piece, separation](Rank rank, Schedule& into) {
        const std::uint32_t n = shape.n;
        PhasedSchedule own(shape, rank, into);
        const auto in_phases = [&](Bytes bytes) { return bytes > 0 && bytes >= piece; };
        Bytes longest = 0;
        for (std::uint32_t step = 1; step < n; ++step) {
            const std::uint32_t to = (own.own() + step) % n;
            const std::uint32_t from = (own.own() + n - step) % n;
            const auto round = static_cast<int>(step) - 1;
            const Bytes in = shape.between(from, own.own());
            const Bytes out = shape.between(own.own(), to);
            if (!in_phases(in)) own.receive(from, {0, in}, round);
            if (!in_phases(out)) own.send(to, {0, out}, round);
            longest = std::max({longest, in, out});
        }
        own.copy_own();
        if (separation == Separation::kBarriers) longest = shape.longest();
        if (!in_phases(longest)) return into.wait();
        const Bytes whole = piece == 0 ? longest : piece;
        for (Bytes at = 0; at < longest; at += whole) {
            const auto part = [&](Bytes bytes) {
                return Part{at, in_phases(bytes) && bytes > at ? std::min(bytes - at, whole) : 0};
            };
            for (std::uint32_t step = 1; step < n; ++step) {
                const std::uint32_t to = (own.own() + step) % n;
                const std::uint32_t from = (own.own() + n - step) % n;
                const auto round = static_cast<int>((at / whole) * (n - 1) + step) - 1;
                const bool first = at == 0 && step == 1;
                if (separation == Separation::kBarriers && !first) {
                    into.wait();
                    sync_dissemination(shape)(rank, into);
                }
                own.phase({from, part(shape.between(from, own.own()))},
                          {to, part(shape.between(own.own(), to))},
                          separation == Separation::kSignals && !first, round);
            }
        }
        into.wait();
    };
}

Counts index_phased_counts(const Shape& shape, Bytes piece) {
    return piece == 0 ? index_pairwise_counts(shape) : index_pieces_counts(shape, piece);
}

Generator index_greedy(const Shape& shape, Bytes threshold) {
    return by_phases(shape, greedy_phases(shape.n, messages_between(shape), threshold), threshold);
}

Generator index_all_to_all(const Shape& shape, Bytes threshold) {
    return by_phases(shape, all_to_all_phases(shape.n, messages_between(shape), threshold),
                     threshold);
}

}  // namespace poe::collectives
