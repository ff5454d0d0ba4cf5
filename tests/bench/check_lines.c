/* check_lines read|check: reads standard input to its end; `check` counts lines whose text (behind
 * a label, if any) is not the 79 characters of write_lines, and prints the number. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char buffer[1 << 18];

int main(int argc, char** argv) {
    const int check = argc == 2 && strcmp(argv[1], "check") == 0;
    long torn = 0, marks = 0;
    int other = 0; /* characters of the line before its first x */
    ssize_t count;
    while ((count = read(0, buffer, sizeof buffer)) > 0) {
        for (ssize_t i = 0; check && i < count; ++i) {
            if (buffer[i] == '\n') {
                torn += marks != 79 || other;
                marks = other = 0;
            } else if (buffer[i] == 'x') {
                ++marks;
            } else if (marks > 0) {
                other = 1; /* a label in mid-line */
            }
        }
    }
    printf("%ld\n", torn);
    return 0;
}
