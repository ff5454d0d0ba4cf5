/* heat2d: how heat spreads on a plate, on a grid of tasks, with lights.
 *
 * Run:   pmarray                                  in another terminal, or not at all
 *        poe ./heat2d -procs 4                    a plate of 256 x 256 points, 2000 steps
 *        poe ./heat2d 512 5000 -procs 8           512 x 512 points, 5000 steps
 *        poe ./heat2d -procs 4 -pmarray yes       the lights above the output
 *
 * The left edge is hot (1), the others are cold (0). In each step every point becomes the mean of
 * its four neighbours. The plate is cut into as many blocks as there are tasks, nearly square ones;
 * each task has a frame of its neighbours' points around its block and exchanges it before each
 * step. Every 100 steps task 0 asks all how much has changed. The result is the same, to the last
 * bit, for any number of tasks: the checksum shows it.
 *
 * Light 0: blue while it exchanges, green while it computes, purple while all compare. Lights 1 to
 * 8: the temperature of eight columns of the block, from black (cold) to white (hot). */
#include <math.h>
#include <mp_marker.h>
#include <mpproto.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1, COLUMNS = 2, CHANGE = 3, GO_ON = 4, SUM = 5 };
enum { BLUE = 37, GREEN = 25, PURPLE = 50, HOT = 99 };
enum { COMPARE_EVERY = 100, STRIPES = 8 };

typedef struct {
    int tasks, me;
    int down, across;    /* the grid of tasks */
    int row, column;     /* of this task in it */
    int first_row, rows; /* of the plate, that are this task's */
    int first_column, columns;
    double *now, *next; /* (rows + 2) x (columns + 2) points */
    double *out, *in;   /* a column to send, to receive */
} Block;

/* The library has said on stderr what went wrong. */
static void stop(const char* call) {
    fprintf(stderr, "heat2d: %s failed (0032-%d)\n", call, mperrno);
    mpc_stopall(1);
}

static double* point(const Block* block, double* plate, int row, int column) {
    return plate + (size_t)row * (size_t)(block->columns + 2) + column;
}

/* The part of `length` things that is number `index` of `parts`. */
static int begin_of(int length, int parts, int index) {
    return (int)((long long)length * index / parts);
}

static void make_block(Block* block, int size) {
    if (mpc_environ(&block->tasks, &block->me) != 0) stop("mpc_environ");
    block->down = (int)sqrt((double)block->tasks);
    while (block->tasks % block->down != 0) --block->down;
    block->across = block->tasks / block->down;
    if (block->down > size || block->across > size) {
        fprintf(stderr, "heat2d: a plate of %d points is too small for %d tasks\n", size,
                block->tasks);
        exit(2);
    }
    block->row = block->me / block->across;
    block->column = block->me % block->across;
    block->first_row = begin_of(size, block->down, block->row);
    block->rows = begin_of(size, block->down, block->row + 1) - block->first_row;
    block->first_column = begin_of(size, block->across, block->column);
    block->columns = begin_of(size, block->across, block->column + 1) - block->first_column;
    const size_t points = (size_t)(block->rows + 2) * (size_t)(block->columns + 2);
    block->now = calloc(points, sizeof *block->now);
    block->next = calloc(points, sizeof *block->next);
    block->out = calloc((size_t)block->rows, sizeof *block->out);
    block->in = calloc((size_t)block->rows, sizeof *block->in);
    if (!block->now || !block->next || !block->out || !block->in) {
        fprintf(stderr, "heat2d: task %d has no memory for %zu points\n", block->me, points);
        mpc_stopall(1);
    }
    if (block->column == 0)
        for (int row = 0; row < block->rows + 2; ++row)
            *point(block, block->now, row, 0) = *point(block, block->next, row, 0) = 1;
}

/* Gives a neighbour `out` and gets its `in`. */
static void swap_with(int task, int type, const double* out, double* in, int count) {
    const size_t bytes = (size_t)count * sizeof *out;
    int source = task;
    size_t got = 0;
    if (mpc_bsendrecv(out, bytes, task, type, in, bytes, &source, &got) != 0 || got != bytes)
        stop("mpc_bsendrecv");
}

static void swap_rows(Block* block, int by) {
    const int row = block->row + by;
    if (row < 0 || row >= block->down) return;
    const int own = by < 0 ? 1 : block->rows;
    const int frame = by < 0 ? 0 : block->rows + 1;
    swap_with(block->me + by * block->across, ROWS, point(block, block->now, own, 1),
              point(block, block->now, frame, 1), block->columns);
}

static void swap_columns(Block* block, int by) {
    const int column = block->column + by;
    if (column < 0 || column >= block->across) return;
    const int own = by < 0 ? 1 : block->columns;
    const int frame = by < 0 ? 0 : block->columns + 1;
    for (int row = 0; row < block->rows; ++row)
        block->out[row] = *point(block, block->now, row + 1, own);
    swap_with(block->me + by, COLUMNS, block->out, block->in, block->rows);
    for (int row = 0; row < block->rows; ++row)
        *point(block, block->now, row + 1, frame) = block->in[row];
}

/* Neighbours swap at the same time: even ones begin on one side, odd ones on the other. */
static void exchange(Block* block) {
    const int first_row = block->row % 2 == 0 ? 1 : -1;
    const int first_column = block->column % 2 == 0 ? 1 : -1;
    swap_rows(block, first_row);
    swap_rows(block, -first_row);
    swap_columns(block, first_column);
    swap_columns(block, -first_column);
}

/* The largest change of a point. */
static double compute(Block* block) {
    double change = 0;
    for (int row = 1; row <= block->rows; ++row) {
        const double* above = point(block, block->now, row - 1, 0);
        const double* here = point(block, block->now, row, 0);
        const double* below = point(block, block->now, row + 1, 0);
        double* next = point(block, block->next, row, 0);
        for (int column = 1; column <= block->columns; ++column) {
            next[column] =
                0.25 * (above[column] + below[column] + here[column - 1] + here[column + 1]);
            const double by = fabs(next[column] - here[column]);
            if (by > change) change = by;
        }
    }
    double* last = block->now;
    block->now = block->next;
    block->next = last;
    return change;
}

/* Task 0 gets a number from each task, and tells all the largest. */
static double largest(const Block* block, double mine) {
    int type;
    size_t got;
    if (block->me == 0) {
        for (int task = 1; task < block->tasks; ++task) {
            double other;
            int source = task;
            type = CHANGE;
            if (mpc_brecv(&other, sizeof other, &source, &type, &got) != 0) stop("mpc_brecv");
            if (other > mine) mine = other;
        }
        for (int task = 1; task < block->tasks; ++task)
            if (mpc_bsend(&mine, sizeof mine, task, GO_ON) != 0) stop("mpc_bsend");
    } else {
        int source = 0;
        type = GO_ON;
        if (mpc_bsend(&mine, sizeof mine, 0, CHANGE) != 0) stop("mpc_bsend");
        if (mpc_brecv(&mine, sizeof mine, &source, &type, &got) != 0) stop("mpc_brecv");
    }
    return mine;
}

/* A sum over the bits of all points, in any order. */
static uint64_t checksum(const Block* block, int size) {
    uint64_t sum = 0;
    for (int row = 0; row < block->rows; ++row)
        for (int column = 0; column < block->columns; ++column) {
            uint64_t bits;
            memcpy(&bits, point(block, block->now, row + 1, column + 1), sizeof bits);
            const uint64_t place = (uint64_t)(block->first_row + row) * (uint64_t)size +
                                   (uint64_t)(block->first_column + column);
            sum += (bits ^ (bits >> 29)) * (2 * place + 1);
        }
    return sum;
}

static uint64_t checksum_of_all(const Block* block, int size) {
    uint64_t sum = checksum(block, size);
    if (block->me != 0) {
        if (mpc_bsend(&sum, sizeof sum, 0, SUM) != 0) stop("mpc_bsend");
        return sum;
    }
    for (int task = 1; task < block->tasks; ++task) {
        uint64_t other;
        int source = task;
        int type = SUM;
        size_t got;
        if (mpc_brecv(&other, sizeof other, &source, &type, &got) != 0) stop("mpc_brecv");
        sum += other;
    }
    return sum;
}

static void show_stripes(const Block* block) {
    for (int stripe = 0; stripe < STRIPES; ++stripe) {
        const int from = begin_of(block->columns, STRIPES, stripe);
        const int to = begin_of(block->columns, STRIPES, stripe + 1);
        double sum = 0;
        for (int row = 1; row <= block->rows; ++row)
            for (int column = from; column < to; ++column)
                sum += *point(block, block->now, row, column + 1);
        if (to > from)
            mpc_marker(1 + stripe, (int)(HOT * sum / ((double)block->rows * (to - from))), NULL);
    }
}

static int number(const char* text, const char* what, int least, int most) {
    char* end;
    const long value = strtol(text, &end, 10);
    if (*end == '\0' && value >= least && value <= most) return (int)value;
    fprintf(stderr, "heat2d: \"%s\" is not a number of %s (%d to %d)\n", text, what, least, most);
    exit(2);
}

int main(int argc, char** argv) {
    const int size = argc > 1 ? number(argv[1], "points", 8, 20000) : 256;
    const int steps = argc > 2 ? number(argv[2], "steps", 1, 1000000000) : 2000;
    Block block;
    make_block(&block, size);
    double change = 0;
    for (int step = 0; step < steps; ++step) {
        mpc_marker(0, BLUE, NULL);
        exchange(&block);
        mpc_marker(0, GREEN, NULL);
        change = compute(&block);
        mpc_progress(step + 1, steps);
        if ((step + 1) % COMPARE_EVERY != 0) continue;
        mpc_marker(0, PURPLE, NULL);
        change = largest(&block, change);
        char text[81];
        snprintf(text, sizeof text, "step %d, largest change %.2e", step + 1, change);
        mpc_marker(0, PURPLE, text);
        show_stripes(&block);
        if (block.me == 0) printf("%s\n", text);
        fflush(stdout);
    }
    show_stripes(&block);
    const uint64_t sum = checksum_of_all(&block, size);
    if (mpc_sync(ALLGRP) != 0) stop("mpc_sync");
    if (block.me == 0)
        printf("%d x %d points, %d steps, %d x %d tasks: checksum %016llx\n", size, size, steps,
               block.down, block.across, (unsigned long long)sum);
    mpc_marker(0, HOT, "done");
    free(block.now);
    free(block.next);
    free(block.out);
    free(block.in);
    return 0;
}
