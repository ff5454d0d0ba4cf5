#include "mpi/datatype/typed_layout.hpp"

#include <algorithm>
#include <cstdlib>

#include "mpi/datatype/copy_kernels.hpp"

namespace poe::mpi {

namespace {

// Moves data between memory and `packed`, which advances.
template <Direction kDirection>
class Mover {
  public:
    explicit Mover(std::byte* packed) noexcept : packed_(packed) {}

    // The bytes [offset, offset + n) of `count` copies of `child`. Requires n > 0.
    void part_of_loop(const Node& child, Address at, std::int64_t stride, Bytes offset,
                      Bytes n) noexcept {
        if (offset != 0) {
            const Bytes skipped = offset / child.size;
            const Bytes inside = offset - skipped * child.size;
            at = moved(at, static_cast<std::int64_t>(skipped) * stride);
            if (inside != 0) {
                const Bytes head = std::min(n, child.size - inside);
                part(child, at, inside, head);
                at = moved(at, stride);
                n -= head;
            }
        }
        if (n >= child.size) {
            const Bytes copies = n / child.size;
            loop(child, at, stride, static_cast<std::int64_t>(copies));
            at = moved(at, static_cast<std::int64_t>(copies) * stride);
            n -= copies * child.size;
        }
        if (n != 0) part(child, at, 0, n);
    }

  private:
    void run(Address at, Bytes n) noexcept {
        move_bytes<kDirection>(at, packed_, n);
        packed_ += n;
    }

    // `count` whole copies of `child`.
    void loop(const Node& child, Address at, std::int64_t stride, std::int64_t count) noexcept {
        if (child.kind == Node::Kind::kRun) {
            move_strided<kDirection>(at, stride, child.size, count, packed_, child.size);
            packed_ += child.size * static_cast<Bytes>(count);
            return;
        }
        if (child.kind == Node::Kind::kLoop && child.child->kind == Node::Kind::kRun) {
            move_strided_twice<kDirection>(at, {count, stride}, {child.count, child.stride},
                                           child.child->size, packed_);
            packed_ += child.size * static_cast<Bytes>(count);
            return;
        }
        if (child.kind == Node::Kind::kBlocks && child.at.size() <= kTransposedBlocks) {
            return transposed_loop(child, at, stride, count);
        }
        for (std::int64_t i = 0; i < count; ++i, at = moved(at, stride)) whole(child, at);
    }

    // Copies of a few blocks, for instance an array of structures with gaps: the first block of
    // many copies, then the second of the same copies, and so on. Each is one fast loop. A group of
    // copies stays in the first-level cache.
    void transposed_loop(const Node& child, Address at, std::int64_t stride,
                         std::int64_t count) noexcept {
        const auto group = static_cast<std::int64_t>(
            std::max<Bytes>(8, kGroupBytes / static_cast<Bytes>(std::abs(stride) + 1)));
        while (count > 0) {
            const std::int64_t now = std::min(count, group);
            for (std::size_t i = 0; i < child.at.size(); ++i) {
                move_strided<kDirection>(moved(at, child.at[i]), stride,
                                         child.end_of(i) - child.start_of(i), now,
                                         packed_ + child.start_of(i), child.size);
            }
            packed_ += child.size * static_cast<Bytes>(now);
            at = moved(at, now * stride);
            count -= now;
        }
    }

    void whole(const Node& node, Address at) noexcept {
        switch (node.kind) {
            case Node::Kind::kRun:
                return run(at, node.size);
            case Node::Kind::kLoop:
                return loop(*node.child, at, node.stride, node.count);
            case Node::Kind::kBlocks:
                return blocks(node, at, 0, node.at.size());
            case Node::Kind::kSequence:
                for (std::size_t i = 0; i < node.at.size(); ++i) {
                    whole(*node.children[i], moved(at, node.at[i]));
                }
        }
    }

    // The whole blocks [first, end).
    void blocks(const Node& node, Address at, std::size_t first, std::size_t end) noexcept {
        if (node.block != 0) {
            move_indexed<kDirection>(at, node.at.data() + first, node.block, end - first, packed_);
            packed_ += node.block * (end - first);
            return;
        }
        for (std::size_t i = first; i < end; ++i) {
            const Bytes n = node.start[i + 1] - node.start[i];
            const Address block = moved(at, node.at[i]);
            with_move<kDirection>(n, [=, to = packed_](auto move) { move(block, to); });
            packed_ += n;
        }
    }

    // The bytes [offset, offset + n) of one node. Requires n > 0.
    void part(const Node& node, Address at, Bytes offset, Bytes n) noexcept {
        if (offset == 0 && n == node.size) return whole(node, at);
        switch (node.kind) {
            case Node::Kind::kRun:
                return run(at + offset, n);
            case Node::Kind::kLoop:
                return part_of_loop(*node.child, at, node.stride, offset, n);
            case Node::Kind::kBlocks:
                return part_of_blocks(node, at, offset, n);
            case Node::Kind::kSequence:
                return part_of_sequence(node, at, offset, n);
        }
    }

    void part_of_blocks(const Node& node, Address at, Bytes offset, Bytes n) noexcept {
        std::size_t i = node.find(offset);
        const Bytes end = offset + n;
        if (const Bytes inside = offset - node.start_of(i); inside != 0) {
            const Bytes head = std::min(n, node.end_of(i) - offset);
            run(moved(at, node.at[i]) + inside, head);
            offset += head;
            ++i;
        }
        if (offset == end) return;
        const std::size_t last = end == node.size ? node.at.size() : node.find(end);
        blocks(node, at, i, last);
        if (last < node.at.size() && end > node.start_of(last)) {
            run(moved(at, node.at[last]), end - node.start_of(last));
        }
    }

    void part_of_sequence(const Node& node, Address at, Bytes offset, Bytes n) noexcept {
        for (std::size_t i = node.find(offset); n != 0; ++i) {
            const Bytes inside = offset - node.start[i];
            const Bytes now = std::min(n, node.start[i + 1] - offset);
            part(*node.children[i], moved(at, node.at[i]), inside, now);
            offset += now;
            n -= now;
        }
    }

    static constexpr std::size_t kTransposedBlocks = 16;
    static constexpr Bytes kGroupBytes = 8192;

    std::byte* packed_;
};

// Descends to the run that contains byte `offset` of `node`. Returns its address there and the
// bytes that are left of it.
Address find_piece(const Node* node, Address at, Bytes offset, Bytes& length) noexcept {
    for (;;) {
        switch (node->kind) {
            case Node::Kind::kRun:
                length = node->size - offset;
                return at + offset;
            case Node::Kind::kLoop: {
                const Bytes i = offset / node->child->size;
                at = moved(at, static_cast<std::int64_t>(i) * node->stride);
                offset -= i * node->child->size;
                node = node->child.get();
                break;
            }
            case Node::Kind::kBlocks: {
                const std::size_t i = node->find(offset);
                length = node->end_of(i) - offset;
                return moved(at, node->at[i]) + (offset - node->start_of(i));
            }
            case Node::Kind::kSequence: {
                const std::size_t i = node->find(offset);
                at = moved(at, node->at[i]);
                offset -= node->start[i];
                node = node->children[i].get();
                break;
            }
        }
    }
}

}  // namespace

TypedLayout::TypedLayout(const Placed& data, std::int64_t count, std::int64_t extent) noexcept {
    if (!data.node || count == 0) return;
    child_ = data.node.get();
    at_ = data.at;
    count_ = count;
    stride_ = extent;
    size_ = child_->size * static_cast<Bytes>(count);
    std::int64_t length = 0;
    if (child_->kind == Node::Kind::kLoop &&
        (count == 1 ||
         (!__builtin_mul_overflow(child_->count, child_->stride, &length) && length == extent))) {
        count_ *= child_->count;
        stride_ = child_->stride;
        child_ = child_->child.get();
    }
    contiguous_ = child_->kind == Node::Kind::kRun &&
                  (count_ == 1 || stride_ == static_cast<std::int64_t>(child_->size));
}

void TypedLayout::copy_out(const std::byte* base, Bytes offset, std::byte* to,
                           Bytes n) const noexcept {
    if (n == 0) return;
    const Address at = moved(reinterpret_cast<Address>(base), at_);
    if (contiguous_) return move_bytes<Direction::kPack>(at + offset, to, n);
    Mover<Direction::kPack>(to).part_of_loop(*child_, at, stride_, offset, n);
}

void TypedLayout::copy_in(std::byte* base, Bytes offset, const std::byte* from,
                          Bytes n) const noexcept {
    if (n == 0) return;
    const Address at = moved(reinterpret_cast<Address>(base), at_);
    // In this direction the packed form is only read.
    std::byte* packed = const_cast<std::byte*>(from);
    if (contiguous_) return move_bytes<Direction::kUnpack>(at + offset, packed, n);
    Mover<Direction::kUnpack>(packed).part_of_loop(*child_, at, stride_, offset, n);
}

std::byte* TypedLayout::piece(std::byte* base, Bytes offset, Bytes& length) const noexcept {
    const Address at = moved(reinterpret_cast<Address>(base), at_);
    if (contiguous_) {
        length = size_ - offset;
        return reinterpret_cast<std::byte*>(at + offset);
    }
    const Bytes copy = offset / child_->size;
    return reinterpret_cast<std::byte*>(
        find_piece(child_, moved(at, static_cast<std::int64_t>(copy) * stride_),
                   offset - copy * child_->size, length));
}

bool TypedLayout::strided(Strided& form) const noexcept {
    if (size_ == 0) {
        form = {};
        return true;
    }
    if (child_->kind != Node::Kind::kRun) return false;
    form = contiguous_ ? Strided{at_, size_, static_cast<std::int64_t>(size_), 1}
                       : Strided{at_, child_->size, stride_, count_};
    return true;
}

std::size_t TypedLayout::pieces(std::byte* base, Bytes offset, std::span<iovec> out,
                                Bytes& bytes) const noexcept {
    std::size_t n = 0;
    bytes = 0;
    while (offset < size_) {
        Bytes length = 0;
        std::byte* at = piece(base, offset, length);
        iovec* last = n != 0 ? &out[n - 1] : nullptr;
        if (last != nullptr && static_cast<std::byte*>(last->iov_base) + last->iov_len == at) {
            last->iov_len += length;
        } else if (n == out.size()) {
            break;
        } else {
            out[n++] = {at, length};
        }
        offset += length;
        bytes += length;
    }
    return n;
}

}  // namespace poe::mpi
