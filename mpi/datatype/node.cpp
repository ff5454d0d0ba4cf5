#include "mpi/datatype/node.hpp"

#include <algorithm>
#include <unordered_map>

namespace poe::mpi {

namespace {

// Lists of at most this many blocks become part of a longer list; longer ones stay nodes of their
// own, because another type may share them.
constexpr std::size_t kFlattenLimit = 64;

std::int64_t elements_of(Unit unit, Bytes length) {
    return static_cast<std::int64_t>(length / unit.bytes);
}

Placed make_loop(const Placed& one, std::int64_t count, std::int64_t stride) {
    auto loop = std::make_shared<Node>();
    loop->kind = Node::Kind::kLoop;
    loop->uniform = one.node->uniform;
    loop->unit = one.node->unit;
    loop->size = one.node->size * static_cast<Bytes>(count);
    loop->elements = one.node->elements * count;
    loop->count = count;
    loop->stride = stride;
    loop->child = one.node;
    return {one.at, std::move(loop)};
}

// May wrap around: a type whose data is so far apart is refused when its extent is computed.
std::int64_t distance(std::int64_t from, std::int64_t to) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(to) -
                                     static_cast<std::uint64_t>(from));
}

// True if the displacements `at(0)`, `at(1)`, ... have equal distances.
template <typename At>
bool equal_distances(std::size_t n, At at) {
    for (std::size_t i = 2; i < n; ++i) {
        if (distance(at(i - 1), at(i)) != distance(at(0), at(1))) return false;
    }
    return true;
}

Placed make_sequence(std::vector<Placed> parts) {
    if (parts.empty()) return {};
    if (parts.size() == 1) return parts[0];
    const bool same_child = std::all_of(
        parts.begin(), parts.end(), [&](const Placed& part) { return part.node == parts[0].node; });
    if (same_child && equal_distances(parts.size(), [&](std::size_t i) { return parts[i].at; })) {
        return repeat(parts[0], static_cast<std::int64_t>(parts.size()),
                      distance(parts[0].at, parts[1].at));
    }
    auto sequence = std::make_shared<Node>();
    sequence->kind = Node::Kind::kSequence;
    sequence->unit = parts[0].node->unit;
    for (Placed& part : parts) {
        sequence->uniform =
            sequence->uniform && part.node->uniform && part.node->unit == sequence->unit;
        sequence->at.push_back(part.at);
        sequence->start.push_back(sequence->size);
        sequence->first_element.push_back(sequence->elements);
        sequence->size += part.node->size;
        sequence->elements += part.node->elements;
        sequence->children.push_back(std::move(part.node));
    }
    sequence->start.push_back(sequence->size);
    return {0, std::move(sequence)};
}

}  // namespace

std::size_t Node::find(Bytes offset) const noexcept {
    if (block != 0) return offset / block;
    const auto after = std::upper_bound(start.begin(), start.end(), offset);
    return static_cast<std::size_t>(after - start.begin()) - 1;
}

NodePtr make_run(Unit unit, Bytes length) {
    auto run = std::make_shared<Node>();
    run->unit = unit;
    run->size = length;
    run->elements = elements_of(unit, length);
    return run;
}

Placed repeat(const Placed& one, std::int64_t count, std::int64_t stride) {
    if (count == 0 || !one.node) return {};
    if (count == 1) return one;
    const Node& node = *one.node;
    if (node.kind == Node::Kind::kRun && stride == static_cast<std::int64_t>(node.size)) {
        return {one.at, make_run(node.unit, node.size * static_cast<Bytes>(count))};
    }
    std::int64_t length = 0;
    if (node.kind == Node::Kind::kLoop &&
        !__builtin_mul_overflow(node.count, node.stride, &length) && stride == length) {
        return make_loop({one.at, node.child}, node.count * count, node.stride);
    }
    return make_loop(one, count, stride);
}

void NodeJoiner::add(std::int64_t at, const NodePtr& node) {
    if (!node) return;
    if (node->kind == Node::Kind::kRun) {
        items_.push_back({at, node->size, nullptr, node->unit});
        return;
    }
    if (node->at.size() > kFlattenLimit || node->kind == Node::Kind::kLoop) {
        items_.push_back({at, node->size, node, node->unit});
        return;
    }
    for (std::size_t i = 0; i < node->at.size(); ++i) {
        if (node->kind == Node::Kind::kSequence) {
            add(at + node->at[i], node->children[i]);
        } else {
            items_.push_back(
                {at + node->at[i], node->end_of(i) - node->start_of(i), nullptr, node->unit});
        }
    }
}

// One node for runs of the same basic type. Adjacent runs are merged, unless that would merge only
// a few of many equal blocks: those are moved faster than blocks of different lengths.
Placed NodeJoiner::join_runs(std::span<const Item> all) const {
    std::vector<Item> merged;
    bool equal = true;
    for (const Item& run : all) {
        equal = equal && run.length == all[0].length;
        Item* last = merged.empty() ? nullptr : &merged.back();
        if (last != nullptr && last->at + static_cast<std::int64_t>(last->length) == run.at) {
            last->length += run.length;
        } else {
            merged.push_back(run);
        }
    }
    const bool keep = equal && merged.size() > all.size() / 2;
    const std::span<const Item> runs = keep ? all : merged;
    const Item& first = runs[0];
    if (runs.size() == 1) return {first.at, make_run(first.unit, first.length)};
    equal = std::all_of(runs.begin(), runs.end(),
                        [&](const Item& run) { return run.length == first.length; });
    if (equal && equal_distances(runs.size(), [&](std::size_t i) { return runs[i].at; })) {
        return repeat({first.at, make_run(first.unit, first.length)},
                      static_cast<std::int64_t>(runs.size()), distance(first.at, runs[1].at));
    }
    auto blocks = std::make_shared<Node>();
    blocks->kind = Node::Kind::kBlocks;
    blocks->unit = first.unit;
    if (equal) blocks->block = first.length;
    blocks->at.reserve(runs.size());
    if (!equal) blocks->start.reserve(runs.size() + 1);
    for (const Item& run : runs) {
        blocks->at.push_back(run.at);
        if (!equal) blocks->start.push_back(blocks->size);
        blocks->size += run.length;
    }
    if (!equal) blocks->start.push_back(blocks->size);
    blocks->elements = elements_of(first.unit, blocks->size);
    return {0, std::move(blocks)};
}

Placed NodeJoiner::finish() {
    std::vector<Placed> parts;
    for (std::size_t i = 0; i < items_.size();) {
        if (items_[i].node) {
            parts.push_back({items_[i].at, std::move(items_[i].node)});
            ++i;
            continue;
        }
        std::size_t end = i + 1;
        while (end < items_.size() && !items_[end].node && same(items_[end].unit, items_[i].unit)) {
            ++end;
        }
        parts.push_back(join_runs(std::span(items_).subspan(i, end - i)));
        i = end;
    }
    items_.clear();
    return make_sequence(std::move(parts));
}

namespace {

using Erased = std::unordered_map<const Node*, Placed>;

Placed erase(const NodePtr& node, Erased& known) {
    if (node->uniform) return {0, node};
    if (const auto found = known.find(node.get()); found != known.end()) return found->second;
    Placed result;
    if (node->kind == Node::Kind::kLoop) {
        result = repeat(erase(node->child, known), node->count, node->stride);
    } else {
        NodeJoiner joiner(false);
        for (std::size_t i = 0; i < node->children.size(); ++i) {
            Placed child = erase(node->children[i], known);
            joiner.add(node->at[i] + child.at, child.node);
        }
        result = joiner.finish();
    }
    known.emplace(node.get(), result);
    return result;
}

}  // namespace

Placed erase_types(const Placed& typed) {
    if (!typed.node) return {};
    Erased known;
    Placed result = erase(typed.node, known);
    result.at += typed.at;
    return result;
}

}  // namespace poe::mpi
