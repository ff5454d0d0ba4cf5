// Writes schedules from holdings; see staged_index.hpp.
#include "collectives/schedule/algorithms/staged_index.hpp"

#include <algorithm>
#include <numeric>

namespace poe::collectives {
namespace {

std::vector<std::uint32_t> common(const std::vector<std::uint32_t>& one,
                                  const std::vector<std::uint32_t>& other) {
    std::vector<std::uint32_t> both;
    std::set_intersection(one.begin(), one.end(), other.begin(), other.end(),
                          std::back_inserter(both));
    return both;
}

// The data that a rank sends to another rank, or to itself, in a stage.
struct Transfer {
    std::uint32_t peer = 0;
    int step = 0;
    Holding pieces;
    Bytes offset = 0;  // in the buffer for all transfers
    Bytes length = 0;
};

// The position of each piece of a holding.
class Positions {
  public:
    Positions(const Holding& holding, std::uint32_t n, std::uint32_t slices)
        : sources_(numbers(holding.sources, n)),
          slices_(numbers(holding.slices, slices)),
          destinations_(numbers(holding.destinations, n)),
          slices_held_(holding.slices.size()),
          destinations_held_(holding.destinations.size()),
          at_(holding.sources.size() * slices_held_ * destinations_held_) {}
    Bytes& operator()(std::uint32_t source, std::uint32_t slice, std::uint32_t destination) {
        return at_[(sources_[source] * destinations_held_ + destinations_[destination]) *
                       slices_held_ +
                   slices_[slice]];
    }

  private:
    // The index in the list of each value.
    static std::vector<std::uint32_t> numbers(const std::vector<std::uint32_t>& of,
                                              std::uint32_t values) {
        std::vector<std::uint32_t> all(values);
        for (std::uint32_t i = 0; i < of.size(); ++i) all[of[i]] = i;
        return all;
    }

    std::vector<std::uint32_t> sources_;
    std::vector<std::uint32_t> slices_;
    std::vector<std::uint32_t> destinations_;
    std::size_t slices_held_;
    std::size_t destinations_held_;
    std::vector<Bytes> at_;
};

class Writer {
  public:
    Writer(const Shape& shape, const StagedPlan& plan, StagedForm form, std::uint32_t rank,
           Schedule& into)
        : shape_(shape), plan_(plan), form_(form), me_(rank), into_(into) {}

    void write() {
        Holding held = plan_.holding(0, me_);
        Positions now(held, shape_.n, plan_.slices);
        place_rows(now);
        Buffer source = Buffer::kInput;
        std::vector<Transfer> out = transfers(0, held, true);
        Place send[2];
        reserve(send, held);
        // The first distribution, from the user's buffer.
        for (const Transfer& transfer : out)
            each(transfer.pieces,
                 [&](std::uint32_t i, std::uint32_t j, std::uint32_t s, Bytes at, Bytes length) {
                     into_.copy({source, now(i, s, j)}, send[0] + transfer.offset + at, length);
                 });
        for (int stage = 0; stage < plan_.stages; ++stage) {
            const Holding next = plan_.holding(stage + 1, me_);
            const std::vector<Transfer> in = transfers(stage, next, false);
            const bool last = stage + 1 == plan_.stages;
            Positions then(next, shape_.n, plan_.slices);
            std::vector<Transfer> out_next;
            if (last) {
                place_columns(then);
            } else {
                out_next = transfers(stage + 1, next, true);
                for (const Transfer& transfer : out_next)
                    each(transfer.pieces,
                         [&](std::uint32_t i, std::uint32_t j, std::uint32_t s, Bytes at, Bytes) {
                             then(i, s, j) = transfer.offset + at;
                         });
            }
            const Place from = send[stage % 2];
            const Place to = last ? Place{Buffer::kOutput, 0} : send[(stage + 1) % 2];
            exchange(out, in, from, [&](const Transfer& transfer) {
                each(transfer.pieces, [&](std::uint32_t i, std::uint32_t j, std::uint32_t s,
                                          Bytes at, Bytes length) {
                    into_.copy(receive_ + transfer.offset + at, to + then(i, s, j), length);
                });
            });
            out = std::move(out_next);
            into_.start_phase(into_.phase() + plan_.steps(stage));
        }
        into_.wait();
    }

  private:
    Bytes cut(Bytes bytes, std::uint32_t slice) const { return bytes * slice / plan_.slices; }
    // Slices that are one byte longer than others are distributed evenly (the start values of
    // count[] in figure 11 of the paper).
    std::uint32_t turned(std::uint32_t i, std::uint32_t j, std::uint32_t s) const {
        return (s + i + j) % plan_.slices;
    }
    Bytes start(std::uint32_t i, std::uint32_t j, std::uint32_t s) const {
        return cut(shape_.between(i, j), turned(i, j, s));
    }

    // Calls act() for all non-empty pieces, with their positions if they are stored one after the
    // other.
    template <typename Do>
    void each(const Holding& pieces, Do&& act) const {
        Bytes at = 0;
        for (const std::uint32_t i : pieces.sources) {
            for (const std::uint32_t j : pieces.destinations) {
                const Bytes bytes = shape_.between(i, j);
                if (bytes == 0) continue;
                for (const std::uint32_t s : pieces.slices) {
                    const std::uint32_t part = turned(i, j, s);
                    const Bytes length = cut(bytes, part + 1) - cut(bytes, part);
                    if (length == 0) continue;
                    act(i, j, s, at, length);
                    at += length;
                }
            }
        }
    }
    Bytes total(const Holding& pieces) const {
        Bytes sum = 0;
        each(pieces, [&](std::uint32_t, std::uint32_t, std::uint32_t, Bytes, Bytes length) {
            sum += length;
        });
        return sum;
    }

    // The positions of the pieces in the user's buffers.
    void place_rows(Positions& positions) const {
        Bytes row = 0;
        for (std::uint32_t j = 0; j < shape_.n; ++j) {
            for (std::uint32_t s = 0; s < plan_.slices; ++s)
                positions(me_, s, j) = row + start(me_, j, s);
            row += shape_.between(me_, j);
        }
    }
    void place_columns(Positions& positions) const {
        Bytes column = 0;
        for (std::uint32_t i = 0; i < shape_.n; ++i) {
            for (std::uint32_t s = 0; s < plan_.slices; ++s)
                positions(i, s, me_) = column + start(i, me_, s);
            column += shape_.between(i, me_);
        }
    }

    // Returns what this rank sends (or receives) in a stage, in the order of the steps. `own`: what
    // it holds before (or after) the stage.
    std::vector<Transfer> transfers(int stage, const Holding& own, bool sending) const {
        std::vector<Transfer> all;
        for (std::uint32_t other = 0; other < shape_.n; ++other) {
            const Holding theirs = plan_.holding(sending ? stage + 1 : stage, other);
            Transfer transfer;
            transfer.pieces.sources = common(own.sources, theirs.sources);
            if (transfer.pieces.sources.empty()) continue;
            transfer.pieces.slices = common(own.slices, theirs.slices);
            transfer.pieces.destinations = common(own.destinations, theirs.destinations);
            if (transfer.pieces.slices.empty() || transfer.pieces.destinations.empty()) continue;
            transfer.peer = other;
            transfer.step = sending ? plan_.step(stage, me_, other) : plan_.step(stage, other, me_);
            transfer.length = total(transfer.pieces);
            all.push_back(std::move(transfer));
        }
        std::sort(all.begin(), all.end(),
                  [](const Transfer& a, const Transfer& b) { return a.step < b.step; });
        Bytes offset = 0;
        for (Transfer& transfer : all) {
            transfer.offset = offset;
            offset += transfer.length;
        }
        return all;
    }

    // Reserves the send and receive buffers, as large as the largest holding.
    void reserve(Place (&send)[2], const Holding& first) {
        Bytes sent = total(first);
        Bytes received = 0;
        for (int stage = 1; stage <= plan_.stages; ++stage) {
            const Bytes held = total(plan_.holding(stage, me_));
            received = std::max(received, held);
            if (stage < plan_.stages) sent = std::max(sent, held);
        }
        send[0] = into_.work(sent);
        send[1] = form_ == StagedForm::kDualBuffer ? into_.work(sent) : send[0];
        receive_ = into_.work(received);
    }

    // Exchanges the messages of a stage, and calls distribute() for each one that has arrived.
    template <typename Distribute>
    void exchange(const std::vector<Transfer>& out, const std::vector<Transfer>& in, Place from,
                  Distribute&& distribute) {
        if (form_ == StagedForm::kBlocking) {
            auto next_in = in.begin();
            auto next_out = out.begin();
            while (next_in != in.end() || next_out != out.end()) {
                const int step = std::min(next_in != in.end() ? next_in->step : next_out->step,
                                          next_out != out.end() ? next_out->step : next_in->step);
                if (next_in != in.end() && next_in->step == step) receive(*next_in++);
                if (next_out != out.end() && next_out->step == step) send(*next_out++, in, from);
                into_.wait();
            }
            for (const Transfer& transfer : in) distribute(transfer);
            return;
        }
        const std::uint32_t before = into_.started();
        for (const Transfer& transfer : in) receive(transfer);
        for (const Transfer& transfer : out) send(transfer, in, from);
        if (form_ == StagedForm::kSingleBuffer) into_.wait();
        // Data are distributed into the buffer from which the previous stage has sent.
        into_.wait_for(before);
        std::uint32_t arrived = before;
        for (const Transfer& transfer : in) {
            if (form_ == StagedForm::kDualBuffer && transfer.peer != me_ && transfer.length > 0)
                into_.wait_for(++arrived);
            distribute(transfer);
        }
    }

    void receive(const Transfer& transfer) {
        if (transfer.peer == me_) return;
        into_.receive(static_cast<Rank>(transfer.peer), receive_ + transfer.offset, transfer.length,
                      transfer.step - 1);
    }
    void send(const Transfer& transfer, const std::vector<Transfer>& in, Place from) {
        if (transfer.peer != me_) {
            into_.send(static_cast<Rank>(transfer.peer), from + transfer.offset, transfer.length,
                       transfer.step - 1);
            return;
        }
        const auto own = std::find_if(in.begin(), in.end(),
                                      [&](const Transfer& each) { return each.peer == me_; });
        into_.copy(from + transfer.offset, receive_ + own->offset, transfer.length);
    }

    const Shape& shape_;
    const StagedPlan& plan_;
    StagedForm form_;
    std::uint32_t me_;
    Schedule& into_;
    Place receive_;
};

}  // namespace

std::vector<std::uint32_t> all_of(std::uint32_t n) {
    std::vector<std::uint32_t> all(n);
    std::iota(all.begin(), all.end(), 0u);
    return all;
}

Generator staged_index(const Shape& shape, const StagedPlan& plan, StagedForm form) {
    return [shape, plan, form](Rank rank, Schedule& into) {
        Writer(shape, plan, form, static_cast<std::uint32_t>(rank), into).write();
    };
}

}  // namespace poe::collectives
