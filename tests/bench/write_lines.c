/* write_lines BYTES: that many bytes of 80-byte lines on standard output, in writes of 32,000. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kLine = 80, kLines = 400 };

int main(int argc, char** argv) {
    static char block[kLine * kLines];
    if (argc != 2) return fprintf(stderr, "usage: write_lines BYTES\n"), 2;
    memset(block, 'x', sizeof block);
    for (int i = 1; i <= kLines; ++i) block[i * kLine - 1] = '\n';
    for (long left = atol(argv[1]); left > 0;) {
        size_t size = left < (long)sizeof block ? (size_t)left : sizeof block;
        for (size_t at = 0; at < size;) {
            ssize_t count = write(1, block + at, size - at);
            if (count <= 0) return 1;
            at += (size_t)count;
        }
        left -= (long)size;
    }
    return 0;
}
