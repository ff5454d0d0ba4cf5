// The description of datatypes; see target_type.hpp.
#include "mpi/window/target_type.hpp"

#include <stdexcept>

namespace poe::mpi {
namespace {

void describe_node(const Node& node, TypeNumbers& numbers) {
    numbers.push_back(static_cast<std::int64_t>(node.kind));
    switch (node.kind) {
        case Node::Kind::kRun:
            numbers.push_back(static_cast<std::int64_t>(node.size));
            return;
        case Node::Kind::kLoop:
            numbers.push_back(node.count);
            numbers.push_back(node.stride);
            return describe_node(*node.child, numbers);
        case Node::Kind::kBlocks:
            numbers.push_back(static_cast<std::int64_t>(node.block));
            numbers.push_back(static_cast<std::int64_t>(node.at.size()));
            numbers.insert(numbers.end(), node.at.begin(), node.at.end());
            if (node.block != 0) return;
            for (std::size_t i = 0; i < node.at.size(); ++i)
                numbers.push_back(static_cast<std::int64_t>(node.end_of(i) - node.start_of(i)));
            return;
        case Node::Kind::kSequence:
            numbers.push_back(static_cast<std::int64_t>(node.children.size()));
            for (std::size_t i = 0; i < node.children.size(); ++i) {
                numbers.push_back(node.at[i]);
                describe_node(*node.children[i], numbers);
            }
            return;
    }
}

// Reads a description. Every number that it reads is checked, because it comes from another task.
class DescriptionReader {
  public:
    explicit DescriptionReader(std::span<const std::int64_t> numbers) noexcept
        : numbers_(numbers) {}

    std::int64_t next() {
        if (numbers_.empty()) refuse();
        const std::int64_t value = numbers_.front();
        numbers_ = numbers_.subspan(1);
        return value;
    }

    Placed node(std::int64_t at, int depth = 0) {
        if (depth > kMostDepth) refuse();
        const Unit bytes;
        switch (static_cast<Node::Kind>(next())) {
            case Node::Kind::kRun:
                return {at, make_run(bytes, static_cast<Bytes>(positive(next())))};
            case Node::Kind::kLoop: {
                const std::int64_t count = positive(next());
                const std::int64_t stride = next();
                Placed placed = repeat(node(0, depth + 1), count, stride);
                placed.at += at;
                return placed;
            }
            case Node::Kind::kBlocks:
                return blocks(at);
            case Node::Kind::kSequence: {
                NodeJoiner joiner(false);
                for (std::int64_t left = next(); left > 0; --left) {
                    const std::int64_t place = next();
                    joiner.add(node(at + place, depth + 1));
                }
                return joiner.finish();
            }
        }
        refuse();
    }

  private:
    static constexpr int kMostDepth = 1000;

    [[noreturn]] static void refuse() {
        throw std::runtime_error("the description of a datatype from another task is damaged");
    }
    static std::int64_t positive(std::int64_t value) {
        if (value <= 0) refuse();
        return value;
    }

    Placed blocks(std::int64_t at) {
        const Unit bytes;
        const std::int64_t block = next();
        const auto count = static_cast<std::size_t>(next());
        if (numbers_.size() < count || (block == 0 && numbers_.size() - count < count)) refuse();
        const auto places = numbers_.first(count);
        numbers_ = numbers_.subspan(count);
        NodeJoiner joiner(false);
        for (const std::int64_t place : places)
            joiner.add(at + place,
                       make_run(bytes, static_cast<Bytes>(positive(block != 0 ? block : next()))));
        return joiner.finish();
    }

    std::span<const std::int64_t> numbers_;
};

}  // namespace

TypeNumbers describe_type(const Datatype& type) {
    TypeNumbers numbers;
    const Placed data = erase_types(type.map().data);
    numbers.push_back(type.extent());
    numbers.push_back(data.at);
    if (data.node != nullptr) describe_node(*data.node, numbers);
    return numbers;
}

TargetType::TargetType(std::span<const std::int64_t> numbers) {
    DescriptionReader reader(numbers);
    extent_ = reader.next();
    const std::int64_t at = reader.next();
    if (numbers.size() > 2) data_ = reader.node(at);
}

std::uint16_t element_of(const Datatype& type) noexcept {
    if (type.code() != 0) return static_cast<std::uint16_t>(type.code());
    const auto& parts = type.contents().types;
    const NodePtr& node = type.map().data.node;
    // A datatype of MPI_Type_create_f90_real and its relatives consists of no others.
    if (parts.empty()) return node != nullptr && node->uniform ? node->unit.basic : 0;
    std::uint16_t found = 0;
    for (const TypeReference& part : parts) {
        if (part->size() == 0) continue;
        const std::uint16_t element = element_of(*part);
        if (element == 0 || (found != 0 && element != found)) return 0;
        found = element;
    }
    return found;
}

}  // namespace poe::mpi
