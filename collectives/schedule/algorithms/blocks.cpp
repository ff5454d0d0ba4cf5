// Trees, rings and butterflies as parts of schedules; see blocks.hpp.
#include "collectives/schedule/algorithms/blocks.hpp"

#include <algorithm>

namespace poe::collectives {

void fan_out(Schedule& schedule, const Members& members, std::uint32_t root, std::uint32_t member,
             const SplitRule& split, Place data, Bytes length) {
    const TreePlace tree = place_in_tree(split, members.count, root, member);
    if (!tree.is_root) {
        schedule.receive(members.rank(tree.parent.member), data, length, tree.parent.depth);
        schedule.wait();
    }
    for (const Branch& child : tree.children)
        schedule.send(members.rank(child.member), data, length, child.depth);
    schedule.wait();
}

// The fan-out reversed: the subtree that was split off last comes in first. Therefore a member
// always holds the sum of an interval of ranks, and the next subtree is adjacent to it.
int fan_in(Schedule& schedule, const Members& members, std::uint32_t root, std::uint32_t member,
           const SplitRule& split, Place data, Place received, Bytes length) {
    const TreePlace tree = place_in_tree(split, members.count, root, member);
    const int rounds = tree_depth(split, members.count).rounds;
    for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child) {
        schedule.receive(members.rank(child->member), received, length, rounds - 1 - child->depth);
        schedule.wait();
        if (child->first > member) {
            schedule.append(received, data, length);
        } else {
            schedule.prepend(received, data, length);
        }
    }
    if (!tree.is_root) {
        schedule.send(members.rank(tree.parent.member), data, length,
                      rounds - 1 - tree.parent.depth);
        schedule.wait();
    }
    return rounds;
}

void sync_out(Schedule& schedule, const Members& members, std::uint32_t root, std::uint32_t member,
              const SplitRule& split) {
    const TreePlace tree = place_in_tree(split, members.count, root, member);
    if (!tree.is_root) {
        schedule.await_signal(members.rank(tree.parent.member), tree.parent.depth);
        schedule.wait();
    }
    for (const Branch& child : tree.children)
        schedule.signal(members.rank(child.member), child.depth);
    schedule.wait();
}

int sync_in(Schedule& schedule, const Members& members, std::uint32_t root, std::uint32_t member,
            const SplitRule& split) {
    const TreePlace tree = place_in_tree(split, members.count, root, member);
    const int rounds = tree_depth(split, members.count).rounds;
    for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child)
        schedule.await_signal(members.rank(child->member), rounds - 1 - child->depth);
    schedule.wait();
    if (!tree.is_root) {
        schedule.signal(members.rank(tree.parent.member), rounds - 1 - tree.parent.depth);
        schedule.wait();
    }
    return rounds;
}

void tree_scatter(Schedule& schedule, const Members& members, std::uint32_t root,
                  std::uint32_t member, const SplitRule& split, const BytesOf& bytes,
                  const PlaceOf& place) {
    const TreePlace tree = place_in_tree(split, members.count, root, member);
    if (!tree.is_root) {
        const Branch& own = tree.parent;
        schedule.receive(members.rank(own.member), place(own.first), bytes(own.first, own.count),
                         own.depth);
        schedule.wait();
    }
    for (const Branch& child : tree.children) {
        schedule.send(members.rank(child.member), place(child.first),
                      bytes(child.first, child.count), child.depth);
    }
    schedule.wait();
}

void tree_gather(Schedule& schedule, const Members& members, std::uint32_t root,
                 std::uint32_t member, const SplitRule& split, const BytesOf& bytes,
                 const PlaceOf& place) {
    const TreePlace tree = place_in_tree(split, members.count, root, member);
    const int last = tree_depth(split, members.count).rounds - 1;
    for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child) {
        schedule.receive(members.rank(child->member), place(child->first),
                         bytes(child->first, child->count), last - child->depth);
    }
    schedule.wait();
    if (!tree.is_root) {
        const Branch& own = tree.parent;
        schedule.send(members.rank(own.member), place(own.first), bytes(own.first, own.count),
                      last - own.depth);
        schedule.wait();
    }
}

Filled::Filled(std::uint32_t n, const BytesOf& bytes) : below_(n, n) {
    std::uint32_t distance = n;
    // Two rounds, because the first blocks must find the last ones.
    for (std::uint32_t i = 0; i < 2 * n; ++i) {
        distance = bytes(i % n, 1) > 0 ? 0 : std::min(distance + 1, n);
        below_[i % n] = distance;
    }
}

void ring_concat(Schedule& schedule, const Members& members, std::uint32_t member,
                 const BytesOf& bytes, const Filled& filled, const PlaceOf& place) {
    const std::uint32_t n = members.count;
    const Rank next = members.rank((member + 1) % n);
    const Rank previous = members.rank((member + n - 1) % n);
    for_ring_rounds(
        n, member, filled, [&](std::uint32_t round, std::uint32_t out, std::uint32_t in) {
            schedule.receive(previous, place(in), bytes(in, 1), static_cast<int>(round));
            schedule.send(next, place(out), bytes(out, 1), static_cast<int>(round));
            schedule.wait();
        });
}

// If the number of members is not a power of two, the first members form pairs: the odd member of a
// pair gives its data to the even one at the start and gets the result from it at the end. Every
// member of the butterfly thus stands for adjacent members, and partners stand for adjacent
// intervals.
void butterfly(Schedule& schedule, const Members& members, std::uint32_t member, Place data,
               Place received, Bytes length) {
    const int log = log2_down(members.count);
    const std::uint32_t inside = 1u << log;
    const std::uint32_t extra = members.count - inside;
    const int first = extra > 0 ? 1 : 0;
    const bool paired = member < 2 * extra;
    if (paired && member % 2 == 1) {
        schedule.send(members.rank(member - 1), data, length, 0);
        schedule.wait();
        schedule.receive(members.rank(member - 1), data, length, first + log);
        schedule.wait();
        return;
    }
    if (paired) {
        schedule.receive(members.rank(member + 1), received, length, 0);
        schedule.wait();
        schedule.append(received, data, length);
    }
    const std::uint32_t place = paired ? member / 2 : member - extra;
    for (int bit = 0; bit < log; ++bit) {
        const std::uint32_t other = place ^ (1u << bit);
        const Rank partner = members.rank(other < extra ? other * 2 : other + extra);
        schedule.receive(partner, received, length, first + bit);
        schedule.send(partner, data, length, first + bit);
        schedule.wait();
        if (other > place) {
            schedule.append(received, data, length);
        } else {
            schedule.prepend(received, data, length);
        }
    }
    if (paired) {
        schedule.send(members.rank(member + 1), data, length, first + log);
        schedule.wait();
    }
}

Counts butterfly_counts(std::uint32_t members, Bytes length) {
    const auto log = static_cast<std::uint64_t>(log2_down(members));
    const std::uint64_t inside = std::uint64_t{1} << log;
    const std::uint64_t extra = members - inside;
    const std::uint64_t rounds = log + (extra > 0 ? 2 : 0);
    return {rounds, rounds * length, (inside * log + 2 * extra) * length};
}

Segments::Segments(Bytes all, std::uint32_t wanted, Bytes whole) : bytes(all) {
    const Bytes element = std::max<Bytes>(whole, 1);
    const Bytes elements = std::max<Bytes>((all + element - 1) / element, 1);
    const Bytes most = std::clamp<Bytes>(wanted, 1, elements);
    const Bytes each = (elements + most - 1) / most;
    size = each * element;
    count = static_cast<std::uint32_t>((elements + each - 1) / each);
}

}  // namespace poe::collectives
