// Groups: the examples and rules of section 7.3.
#include <algorithm>
#include <mpi.h>
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include "tests/unit/mpi/process.hpp"

using namespace poe::mpi;

namespace {

std::vector<poe::TaskId> tasks_of(MPI_Group group) {
    const auto tasks = environment().find_group(group)->tasks();
    return {tasks.begin(), tasks.end()};
}

using Tasks = std::vector<poe::TaskId>;

// The result of a function that makes a group, as its tasks.
template <typename Make>
Tasks made(Make&& make) {
    MPI_Group group = MPI_GROUP_NULL;
    REQUIRE(make(&group) == MPI_SUCCESS);
    const Tasks tasks = tasks_of(group);
    REQUIRE(MPI_Group_free(&group) == MPI_SUCCESS);
    REQUIRE(group == MPI_GROUP_NULL);
    return tasks;
}

Tasks incl(MPI_Group group, std::vector<int> ranks) {
    return made([&](MPI_Group* to) {
        return MPI_Group_incl(group, static_cast<int>(ranks.size()), ranks.data(), to);
    });
}
Tasks excl(MPI_Group group, std::vector<int> ranks) {
    return made([&](MPI_Group* to) {
        return MPI_Group_excl(group, static_cast<int>(ranks.size()), ranks.data(), to);
    });
}

int incl_code(MPI_Group group, std::vector<int> ranks) {
    MPI_Group made = MPI_GROUP_NULL;
    const int code = MPI_Group_incl(group, static_cast<int>(ranks.size()), ranks.data(), &made);
    CHECK(made == MPI_GROUP_NULL);
    return code;
}

int range_code(MPI_Group group, int first, int last, int stride) {
    int ranges[][3] = {{first, last, stride}};
    MPI_Group made = MPI_GROUP_NULL;
    return MPI_Group_range_incl(group, 1, ranges, &made);
}

}  // namespace

TEST_CASE("Groups are included, excluded and freed") {
    const Process process;
    MPI_Group group = group_of({10, 11, 12, 13, 14, 5});
    int size = 0;
    int rank = 0;
    REQUIRE(MPI_Group_size(group, &size) == MPI_SUCCESS);
    CHECK(size == 6);
    REQUIRE(MPI_Group_rank(group, &rank) == MPI_SUCCESS);
    CHECK(rank == 5);
    MPI_Group others = group_of({1, 2});
    REQUIRE(MPI_Group_rank(others, &rank) == MPI_SUCCESS);
    CHECK(rank == MPI_UNDEFINED);
    REQUIRE(MPI_Group_free(&others) == MPI_SUCCESS);

    CHECK(incl(group, {3, 0, 2}) == Tasks{13, 10, 12});
    CHECK(incl(group, {}).empty());
    CHECK(excl(group, {3, 0, 2}) == Tasks{11, 14, 5});
    CHECK(excl(group, {}) == Tasks{10, 11, 12, 13, 14, 5});
    CHECK(excl(group, {5, 4, 3, 2, 1, 0}).empty());
    CHECK(incl_code(group, {0, 6}) == MPI_ERR_RANK);
    CHECK(incl_code(group, {-1}) == MPI_ERR_RANK);
    CHECK(incl_code(group, {1, 2, 1}) == MPI_ERR_RANK);
    MPI_Group made = MPI_GROUP_NULL;
    CHECK(MPI_Group_incl(group, -1, nullptr, &made) == MPI_ERR_ARG);
    CHECK(MPI_Group_incl(group, 1, nullptr, &made) == MPI_ERR_ARG);

    MPI_Group stale = group;
    REQUIRE(MPI_Group_free(&group) == MPI_SUCCESS);
    CHECK(MPI_Group_size(stale, &size) == MPI_ERR_GROUP);
    CHECK(MPI_Group_free(&stale) == MPI_ERR_GROUP);
    CHECK(MPI_Group_size(MPI_GROUP_NULL, &size) == MPI_ERR_GROUP);
}

TEST_CASE("The result without members is MPI_GROUP_EMPTY, which may be freed") {
    const Process process;
    MPI_Group group = group_of({1, 2});
    MPI_Group none = MPI_GROUP_NULL;
    REQUIRE(MPI_Group_incl(group, 0, nullptr, &none) == MPI_SUCCESS);
    CHECK(none == MPI_GROUP_EMPTY);
    int size = -1;
    REQUIRE(MPI_Group_size(none, &size) == MPI_SUCCESS);
    CHECK(size == 0);
    REQUIRE(MPI_Group_free(&none) == MPI_SUCCESS);
    CHECK(none == MPI_GROUP_NULL);
    REQUIRE(MPI_Group_size(MPI_GROUP_EMPTY, &size) == MPI_SUCCESS);
    REQUIRE(MPI_Group_free(&group) == MPI_SUCCESS);
    CHECK(environment().groups.in_use() == 0);
}

TEST_CASE("Set operations keep the order of the first group") {
    const Process process;
    MPI_Group one = group_of({1, 4, 2, 3});
    MPI_Group two = group_of({5, 3, 4, 0});
    using Operation = int (*)(MPI_Group, MPI_Group, MPI_Group*);
    const auto apply = [&](Operation operation, MPI_Group a, MPI_Group b) {
        return made([&](MPI_Group* to) { return operation(a, b, to); });
    };
    CHECK(apply(MPI_Group_union, one, two) == Tasks{1, 4, 2, 3, 5, 0});
    CHECK(apply(MPI_Group_union, two, one) == Tasks{5, 3, 4, 0, 1, 2});
    CHECK(apply(MPI_Group_intersection, one, two) == Tasks{4, 3});
    CHECK(apply(MPI_Group_intersection, two, one) == Tasks{3, 4});
    CHECK(apply(MPI_Group_difference, one, two) == Tasks{1, 2});
    CHECK(apply(MPI_Group_difference, one, one).empty());
    CHECK(apply(MPI_Group_union, one, MPI_GROUP_EMPTY) == Tasks{1, 4, 2, 3});
    CHECK(apply(MPI_Group_union, MPI_GROUP_EMPTY, MPI_GROUP_EMPTY).empty());
    CHECK(apply(MPI_Group_intersection, one, MPI_GROUP_EMPTY).empty());
    MPI_Group_free(&one);
    MPI_Group_free(&two);
}

TEST_CASE("Groups are identical, similar or unequal") {
    const Process process;
    MPI_Group one = group_of({1, 2, 3});
    const auto result = [&](Tasks tasks) {
        MPI_Group two = group_of(std::move(tasks));
        int compared = 0;
        REQUIRE(MPI_Group_compare(one, two, &compared) == MPI_SUCCESS);
        REQUIRE(MPI_Group_free(&two) == MPI_SUCCESS);
        return compared;
    };
    CHECK(result({1, 2, 3}) == MPI_IDENT);
    CHECK(result({2, 3, 1}) == MPI_SIMILAR);
    CHECK(result({1, 2, 4}) == MPI_UNEQUAL);
    CHECK(result({1, 2}) == MPI_UNEQUAL);
    CHECK(result({}) == MPI_UNEQUAL);
    int compared = 0;
    REQUIRE(MPI_Group_compare(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, &compared) == MPI_SUCCESS);
    CHECK(compared == MPI_IDENT);
    MPI_Group_free(&one);
}

TEST_CASE("Ranks are translated, also MPI_PROC_NULL") {
    const Process process;
    MPI_Group one = group_of({7, 8, 9, 3});
    MPI_Group two = group_of({3, 9, 20});
    const int ranks[] = {3, 0, MPI_PROC_NULL, 2, 3};
    int translated[5] = {};
    REQUIRE(MPI_Group_translate_ranks(one, 5, ranks, two, translated) == MPI_SUCCESS);
    CHECK(std::ranges::equal(translated,
                             std::vector{0, int{MPI_UNDEFINED}, int{MPI_PROC_NULL}, 1, 0}));
    const int wrong[] = {4};
    CHECK(MPI_Group_translate_ranks(one, 1, wrong, two, translated) == MPI_ERR_RANK);
    CHECK(MPI_Group_translate_ranks(one, 0, nullptr, two, nullptr) == MPI_SUCCESS);
    MPI_Group_free(&one);
    MPI_Group_free(&two);
}

TEST_CASE("Ranges stand for the ranks that the standard's formula gives") {
    const Process process;
    Tasks tasks;
    for (poe::TaskId task = 0; task < 20; ++task) tasks.push_back(100 + task);
    MPI_Group group = group_of(tasks);
    int ranges[][3] = {{6, 7, 1}, {1, 6, 2}, {0, 9, 4}};
    CHECK(made([&](MPI_Group* to) { return MPI_Group_range_incl(group, 3, ranges, to); }) ==
          Tasks{106, 107, 101, 103, 105, 100, 104, 108});
    int down[][3] = {{9, 0, -4}};
    CHECK(made([&](MPI_Group* to) { return MPI_Group_range_incl(group, 1, down, to); }) ==
          Tasks{109, 105, 101});
    int one[][3] = {{3, 3, 7}};
    CHECK(made([&](MPI_Group* to) { return MPI_Group_range_incl(group, 1, one, to); }) ==
          Tasks{103});
    int most[][3] = {{0, 18, 1}};
    CHECK(made([&](MPI_Group* to) { return MPI_Group_range_excl(group, 1, most, to); }) ==
          Tasks{119});

    CHECK(range_code(group, 0, 5, 0) == MPI_ERR_ARG);
    CHECK(range_code(group, 0, 5, -1) == MPI_ERR_ARG);
    CHECK(range_code(group, 5, 0, 1) == MPI_ERR_ARG);
    CHECK(range_code(group, 0, 20, 1) == MPI_ERR_RANK);
    CHECK(range_code(group, -1, 3, 1) == MPI_ERR_RANK);
    CHECK(range_code(group, 3, -2147483647 - 1, -1) == MPI_ERR_RANK);
    int twice[][3] = {{0, 3, 1}, {3, 4, 1}};
    MPI_Group none = MPI_GROUP_NULL;
    CHECK(MPI_Group_range_incl(group, 2, twice, &none) == MPI_ERR_RANK);
    CHECK(none == MPI_GROUP_NULL);
    MPI_Group_free(&group);
}

TEST_CASE("Random groups agree with sets") {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        const auto draw = [&] {
            Tasks all(12);
            for (int i = 0; i < 12; ++i) all[static_cast<std::size_t>(i)] = i;
            std::ranges::shuffle(all, random);
            all.resize(random() % 13);
            return all;
        };
        const Tasks a = draw();
        const Tasks b = draw();
        const auto one = std::make_shared<const Members>(a);
        const Members two(b);
        const std::set<poe::TaskId> sa(a.begin(), a.end());
        const std::set<poe::TaskId> sb(b.begin(), b.end());
        for (poe::TaskId task = -1; task < 13; ++task) {
            const auto at = std::ranges::find(a, task);
            CHECK(one->rank_of(task) ==
                  (at == a.end() ? int{MPI_UNDEFINED} : static_cast<int>(at - a.begin())));
        }
        std::set<poe::TaskId> both;
        std::ranges::set_intersection(sa, sb, std::inserter(both, both.end()));
        const MembersPtr common = intersect(one, two);
        CHECK(std::set(common->tasks().begin(), common->tasks().end()) == both);
        CHECK(unite(one, two)->tasks().size() == sa.size() + sb.size() - both.size());
        CHECK(subtract(one, two)->tasks().size() == sa.size() - both.size());
        CHECK((compare(*one, two) != MPI_UNEQUAL) == (sa == sb));
    }
}
