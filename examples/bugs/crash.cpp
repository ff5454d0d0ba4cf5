// A program with a mistake: it crashes in a collective call. Find it with pdbx; poe-tutorial(7)
// shows how.
//
//   mpicxx.poe -g -O0 crash.cpp -o crash
//   pdbx ./crash -procs 4
//
// Each task counts its words by their length, and the counts are added over all tasks.
#include <cstdio>
#include <mpi.h>
#include <string>
#include <vector>

constexpr int kLongest = 6;
// For tasks that do not need the result.
static const int kNothing[kLongest] = {};

std::vector<int> count_lengths(const std::vector<std::string>& words) {
    std::vector<int> counts(kLongest);
    for (const std::string& word : words) ++counts[word.size()];
    return counts;
}

void add_up(const std::vector<int>& counts, int* result) {
    // The mistake: this was MPI_Reduce once, which writes the result of one task only.
    MPI_Allreduce(counts.data(), result, kLongest, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int me = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    const std::vector<std::string> words = {"one", "three", "five", "seven"};
    std::vector<int> total(kLongest);
    add_up(count_lengths(words), me == 0 ? total.data() : const_cast<int*>(kNothing));
    if (me == 0) std::printf("%d words have five letters\n", total[5]);
    MPI_Finalize();
}
