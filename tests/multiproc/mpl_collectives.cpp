// Random collective calls on random groups against an oracle: every task can compute what every
// other one gives, so it knows what must come. Functions that are not commutative, roots anywhere,
// lengths from none on, blocking and not, user messages under way at the same time. Arguments:
// first seed, number of seeds, calls per seed.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "mpl_test.h"

namespace {

int tasks = 0;
int me = 0;

// Byte `at` of what a task gives in call `call`.
unsigned char byte_of(int task, unsigned call, std::size_t at) {
    return static_cast<unsigned char>(task * 37u + call * 101u + at * 7u + at / 251u);
}
std::vector<unsigned char> bytes_of(int task, unsigned call, std::size_t length) {
    std::vector<unsigned char> all(length);
    for (std::size_t i = 0; i < length; ++i) all[i] = byte_of(task, call, i);
    return all;
}

// 2 x 2 matrices of integers: multiplication is associative, not commutative.
struct Matrix {
    unsigned long long a, b, c, d;
    bool operator==(const Matrix& o) const { return a == o.a && b == o.b && c == o.c && d == o.d; }
};
Matrix times(const Matrix& x, const Matrix& y) {
    return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
            x.c * y.b + x.d * y.d};
}
void multiply(void* one, void* two, void* out, int* len) {
    CHECK(*len % sizeof(Matrix) == 0);
    for (std::size_t i = 0; i < *len / sizeof(Matrix); ++i)
        static_cast<Matrix*>(out)[i] =
            times(static_cast<Matrix*>(one)[i], static_cast<Matrix*>(two)[i]);
}
Matrix matrix_of(int task, unsigned call, std::size_t at) {
    return {task + 1ull, call + at, task * 3ull + at, 2ull * task + call + 1};
}

// Strings: a length and the characters.
struct Text {
    char length;
    char letters[63];
};
void concatenate(void* one, void* two, void* out, int* len) {
    CHECK(*len % sizeof(Text) == 0);
    for (std::size_t i = 0; i < *len / sizeof(Text); ++i) {
        const Text& x = static_cast<Text*>(one)[i];
        const Text& y = static_cast<Text*>(two)[i];
        Text& z = static_cast<Text*>(out)[i];
        std::memset(&z, 0, sizeof z);
        z.length = static_cast<char>(x.length + y.length);
        std::memcpy(z.letters, x.letters, static_cast<std::size_t>(x.length));
        std::memcpy(z.letters + x.length, y.letters, static_cast<std::size_t>(y.length));
    }
}

// A call under way: its number, and what to do when it has ended.
struct Pending {
    int id = 0;
    std::vector<unsigned char> out, in, expected;
    std::vector<int> lengths, more_lengths;
    int what = 0;
};

struct Caller {
    int gid;
    std::vector<int> members;
    int rank;
    std::minstd_rand random;  // the same at all members
    unsigned call = 0;
    bool blocking = true;

    std::size_t n() const { return members.size(); }
    std::size_t some_length() {
        const std::size_t lengths[] = {0, 1, 8, 24, 100, 1000, 5000, 70'000, 200'000};
        return lengths[random() % (random() % 8 == 0 ? 9 : 7)];
    }

    // Reduces what the members 0 .. last give, with the function that `kind` stands for.
    std::vector<unsigned char> reduced(int kind, std::size_t count, int last);
    std::vector<unsigned char> given(int kind, std::size_t count, int task);
    void reduction(Pending& pending, int what);
    void start(Pending& pending);
    void finish(Pending& pending);
};

std::vector<unsigned char> Caller::given(int kind, std::size_t count, int task) {
    std::vector<unsigned char> all;
    for (std::size_t i = 0; i < count; ++i) {
        unsigned char item[64] = {};
        std::size_t size = 0;
        if (kind == 0) {
            const Matrix matrix = matrix_of(task, call, i);
            std::memcpy(item, &matrix, size = sizeof matrix);
        } else if (kind == 1) {
            Text text{};
            text.length = static_cast<char>((task + i) % 3);
            for (int k = 0; k < text.length; ++k)
                text.letters[k] = static_cast<char>('A' + task % 26);
            std::memcpy(item, &text, size = sizeof text);
        } else if (kind == 2) {
            const int number = static_cast<int>(task * 1000u + call * 17u + i) - 5000;
            std::memcpy(item, &number, size = sizeof number);
        } else {
            const double number = static_cast<double>(task + 1) * (1 + static_cast<double>(i % 9));
            std::memcpy(item, &number, size = sizeof number);
        }
        all.insert(all.end(), item, item + size);
    }
    return all;
}

mpl_reduction function_of(int kind) {
    const mpl_reduction functions[] = {multiply, concatenate, i_vadd, d_vmax};
    return functions[kind];
}

std::vector<unsigned char> Caller::reduced(int kind, std::size_t count, int last) {
    std::vector<unsigned char> sum = given(kind, count, members[0]);
    std::vector<unsigned char> next = sum;
    for (int r = 1; r <= last; ++r) {
        std::vector<unsigned char> other = given(kind, count, members[static_cast<std::size_t>(r)]);
        int length = static_cast<int>(sum.size());
        function_of(kind)(sum.data(), other.data(), next.data(), &length);
        sum = next;
    }
    return sum;
}

void Caller::reduction(Pending& pending, int what) {
    const int kind = static_cast<int>(random() % 4);
    const std::size_t counts[] = {0, 1, 2, 7, 100, 4000};
    std::size_t count = counts[random() % (random() % 6 == 0 ? 6 : 5)];
    if (kind > 1 && random() % 8 == 0) count = 30'000;
    const int root = static_cast<int>(random() % n());
    const int root_task = members[static_cast<std::size_t>(root)];
    const int last = what == 2 ? rank : static_cast<int>(n()) - 1;
    pending.out = given(kind, count, me);
    pending.expected = reduced(kind, count, last);
    pending.in.assign(pending.out.size() + 8, 0xee);
    const auto len = pending.out.size();
    void* out = pending.out.data();
    void* in = pending.in.data();
    mpl_reduction func = function_of(kind);
    if (what == 0 && root != rank) pending.expected.clear();
    int rc = 0;
    if (blocking) {
        rc = what == 0   ? mpc_reduce(out, root == rank ? in : nullptr, len, root_task, func, gid)
             : what == 1 ? mpc_combine(out, in, len, func, gid)
                         : mpc_prefix(out, in, len, func, gid);
    } else {
        rc = what == 0   ? mpc_ireduce(out, in, len, root_task, func, gid, &pending.id)
             : what == 1 ? mpc_icombine(out, in, len, func, gid, &pending.id)
                         : mpc_iprefix(out, in, len, func, gid, &pending.id);
    }
    CHECK(rc == 0);
}

void Caller::start(Pending& pending) {
    ++call;
    const int what = static_cast<int>(random() % 14);
    pending.what = what;
    if (what < 3) {
        reduction(pending, what);
        return;
    }
    const std::size_t len = some_length();
    const int root = static_cast<int>(random() % n());
    const int root_task = members[static_cast<std::size_t>(root)];
    const auto member = [&](std::size_t r) { return members[r % n()]; };
    auto& out = pending.out;
    auto& in = pending.in;
    auto& expected = pending.expected;
    const auto append = [](std::vector<unsigned char>& to, const std::vector<unsigned char>& from,
                           std::size_t offset, std::size_t length) {
        to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(offset),
                  from.begin() + static_cast<std::ptrdiff_t>(offset + length));
    };
    // Lengths of blocks: [i * n + j], from rank i to rank j; for the others the first row.
    std::vector<int> blocks(n() * n());
    for (int& each : blocks)
        each = static_cast<int>(random() % 3 == 0 ? random() % 3000 : random() % 9);
    const auto offset = [&](std::size_t r) {
        std::size_t sum = 0;
        for (std::size_t i = 0; i < r; ++i) sum += static_cast<std::size_t>(blocks[i]);
        return sum;
    };
    const auto own = static_cast<std::size_t>(rank);
    int rc = 0;
    int* id = &pending.id;
    switch (what) {
        case 3:
            expected = bytes_of(root_task, call, len);
            in = root == rank ? expected : std::vector<unsigned char>(len, 0xee);
            in.resize(len + 8, 0xee);
            rc = blocking ? mpc_bcast(in.data(), len, root_task, gid)
                          : mpc_ibcast(in.data(), len, root_task, gid, id);
            break;
        case 4:
            if (root == rank) out = bytes_of(me, call, len * n());
            append(expected, bytes_of(root_task, call, len * n()), len * own, len);
            in.assign(len + 8, 0xee);
            rc = blocking ? mpc_scatter(out.data(), in.data(), len, root_task, gid)
                          : mpc_iscatter(out.data(), in.data(), len, root_task, gid, id);
            break;
        case 5:
        case 6:
            out = bytes_of(me, call, len);
            if (what == 6 || root == rank) {
                for (std::size_t r = 0; r < n(); ++r)
                    append(expected, bytes_of(member(r), call, len), 0, len);
            }
            in.assign(len * n() + 8, 0xee);
            if (what == 5) {
                rc = blocking ? mpc_gather(out.data(), in.data(), len, root_task, gid)
                              : mpc_igather(out.data(), in.data(), len, root_task, gid, id);
            } else {
                rc = blocking ? mpc_concat(out.data(), in.data(), len, gid)
                              : mpc_iconcat(out.data(), in.data(), len, gid, id);
            }
            break;
        case 7:
            out = bytes_of(me, call, len * n());
            for (std::size_t r = 0; r < n(); ++r)
                append(expected, bytes_of(member(r), call, len * n()), len * own, len);
            in.assign(len * n() + 8, 0xee);
            rc = blocking ? mpc_index(out.data(), in.data(), len, gid)
                          : mpc_iindex(out.data(), in.data(), len, gid, id);
            break;
        case 8: {
            const int step = static_cast<int>(random() % (2 * n() + 1)) - static_cast<int>(n());
            const int flag = static_cast<int>(random() % 2);
            out = bytes_of(me, call, len);
            const int from = rank - step;
            const int size = static_cast<int>(n());
            if (flag == 0 || (from >= 0 && from < size)) {
                expected = bytes_of(member(static_cast<std::size_t>(((from % size) + size) % size)),
                                    call, len);
            }
            in.assign(len + 8, 0xee);
            rc = blocking ? mpc_shift(out.data(), in.data(), len, step, flag, gid)
                          : mpc_ishift(out.data(), in.data(), len, step, flag, gid, id);
            break;
        }
        case 9:
            rc = blocking ? mpc_sync(gid) : mpc_isync(gid, id);
            break;
        case 10: {
            const std::size_t all = offset(n());
            if (root == rank) out = bytes_of(me, call, all);
            append(expected, bytes_of(root_task, call, all), offset(own),
                   static_cast<std::size_t>(blocks[own]));
            in.assign(expected.size() + 8, 0xee);
            pending.lengths = blocks;
            rc = blocking ? mpc_scatterv(out.data(), in.data(), blocks.data(), root_task, gid)
                          : mpc_iscatterv(out.data(), in.data(), blocks.data(), root_task, gid, id);
            break;
        }
        case 11:
        case 12:
            out = bytes_of(me, call, static_cast<std::size_t>(blocks[own]));
            if (what == 12 || root == rank) {
                for (std::size_t r = 0; r < n(); ++r) {
                    const auto length = static_cast<std::size_t>(blocks[r]);
                    append(expected, bytes_of(member(r), call, length), 0, length);
                }
            }
            in.assign(offset(n()) + 8, 0xee);
            if (what == 11) {
                rc = blocking
                         ? mpc_gatherv(out.data(), in.data(), blocks.data(), root_task, gid)
                         : mpc_igatherv(out.data(), in.data(), blocks.data(), root_task, gid, id);
            } else {
                rc = blocking ? mpc_concatv(out.data(), in.data(), blocks.data(), gid)
                              : mpc_iconcatv(out.data(), in.data(), blocks.data(), gid, id);
            }
            break;
        default: {
            std::vector<int> to(n());
            std::vector<int> from(n());
            std::size_t all = 0;
            for (std::size_t r = 0; r < n(); ++r) {
                to[r] = blocks[own * n() + r];
                from[r] = blocks[r * n() + own];
                all += static_cast<std::size_t>(to[r]);
                std::size_t before = 0;
                for (std::size_t j = 0; j < own; ++j)
                    before += static_cast<std::size_t>(blocks[r * n() + j]);
                append(expected,
                       bytes_of(member(r), call, before + static_cast<std::size_t>(from[r])),
                       before, static_cast<std::size_t>(from[r]));
            }
            out = bytes_of(me, call, all);
            in.assign(expected.size() + 8, 0xee);
            rc = blocking ? mpc_indexv(out.data(), to.data(), in.data(), from.data(), gid)
                          : mpc_iindexv(out.data(), to.data(), in.data(), from.data(), gid, id);
        }
    }
    CHECK(rc == 0);
}

void Caller::finish(Pending& pending) {
    if (pending.id != 0) {
        if (random() % 2 == 0) {
            CHECK(mpc_collwait(&pending.id) == 0);
        } else {
            for (int done = 0; done == 0;) CHECK(mpc_colltest(pending.id, &done) == 0);
        }
    }
    const auto& in = pending.in;
    const auto& expected = pending.expected;
    const bool right =
        in.size() >= expected.size() && std::equal(expected.begin(), expected.end(), in.begin());
    if (!right) {
        std::fprintf(stderr, "task %d: call %u, operation %d, group of %zu, rank %d\n", me, call,
                     pending.what, n(), rank);
    }
    CHECK(right);
    for (std::size_t i = expected.size(); i < in.size() && !expected.empty(); ++i)
        CHECK(in[i] == 0xee);
}

void run(unsigned seed, int calls) {
    std::minstd_rand random(seed);
    // A group of some of the tasks, in any order.
    std::vector<int> list(static_cast<std::size_t>(tasks));
    for (int i = 0; i < tasks; ++i) list[static_cast<std::size_t>(i)] = i;
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random() % i]);
    list.resize(random() % list.size() + 1);
    int label = static_cast<int>(random() % 1000);
    std::size_t rank = 0;
    while (rank < list.size() && list[rank] != me) ++rank;
    const bool member = rank < list.size();
    // By its list, or as one part of all tasks.
    int gid = -1;
    if (random() % 2 == 0) {
        if (!member) return;
        CHECK(mpc_group(static_cast<int>(list.size()), list.data(), label, &gid) == 0);
    } else {
        CHECK(mpc_partition(ALLGRP, static_cast<int>(rank), member ? label : -1, &gid) == 0);
    }
    int got = -1;
    CHECK(mpc_getlabel(&got, gid) == 0 && got == (member ? label : -1));
    if (!member) {
        CHECK(mpc_freegroup(gid) == 0);
        return;
    }
    CHECK(mpc_getsize(&got, gid) == 0 && got == static_cast<int>(list.size()));
    std::vector<int> members(list.size());
    CHECK(mpc_getmembers(members.data(), gid) == 0 && members == list);
    Caller caller{gid, list, static_cast<int>(rank), std::minstd_rand(seed + 1)};
    // A message of the user's that nobody must take by mistake.
    int out = static_cast<int>(seed);
    const int next = list[(rank + 1) % list.size()];
    CHECK(mpc_bsend(&out, sizeof out, next, out) == 0);
    for (int i = 0; i < calls; ++i) {
        caller.blocking = caller.random() % 3 != 0;
        if (caller.blocking) {
            Pending pending;
            caller.start(pending);
            caller.finish(pending);
            continue;
        }
        std::vector<Pending> several(1 + caller.random() % 20);
        for (Pending& each : several) caller.start(each);
        for (std::size_t k = several.size(); k > 1; --k) {
            // Ended in any order.
            std::swap(several[k - 1], several[caller.random() % k]);
        }
        for (Pending& each : several) caller.finish(each);
    }
    int in = 0;
    int source = DONTCARE;
    int type = out;
    int nbytes = 0;
    CHECK(mpc_brecv(&in, sizeof in, &source, &type, &nbytes) == 0);
    CHECK(in == static_cast<int>(seed) && nbytes == 4);
    CHECK(source == list[(rank + list.size() - 1) % list.size()]);
    CHECK(mpc_freegroup(gid) == 0);
}

}  // namespace

int main(int argc, char** argv) {
    const unsigned first = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
    const int seeds = argc > 2 ? std::atoi(argv[2]) : 10;
    const int calls = argc > 3 ? std::atoi(argv[3]) : 20;
    CHECK(mpc_environ(&tasks, &me) == 0);
    for (int i = 0; i < seeds; ++i) run(first + static_cast<unsigned>(i), calls);
    CHECK(mpc_sync(ALLGRP) == 0);
    return 0;
}
