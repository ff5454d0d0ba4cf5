/* Counts malloc and its like in this process, also those of the library, whose operator new uses
 * them. Include it in the one file of a program, after defining COUNTED_BELOW if allocations of so
 * many bytes and more are not counted. */
#include <stddef.h>
#include <stdint.h>

#ifndef COUNTED_BELOW
#define COUNTED_BELOW SIZE_MAX
#endif

#define EXPORT __attribute__((visibility("default")))

extern void* __libc_malloc(size_t bytes);
extern void* __libc_calloc(size_t number, size_t bytes);
extern void* __libc_realloc(void* old, size_t bytes);
extern void* __libc_memalign(size_t alignment, size_t bytes);

static unsigned long allocations;

static void count(size_t bytes) {
    if (bytes < COUNTED_BELOW) ++allocations;
}

EXPORT void* malloc(size_t bytes) {
    count(bytes);
    return __libc_malloc(bytes);
}
EXPORT void* calloc(size_t number, size_t bytes) {
    count(number * bytes);
    return __libc_calloc(number, bytes);
}
EXPORT void* realloc(void* old, size_t bytes) {
    count(bytes);
    return __libc_realloc(old, bytes);
}
EXPORT void* aligned_alloc(size_t alignment, size_t bytes) {
    count(bytes);
    return __libc_memalign(alignment, bytes);
}
EXPORT int posix_memalign(void** memory, size_t alignment, size_t bytes) {
    count(bytes);
    *memory = __libc_memalign(alignment, bytes);
    return *memory == NULL;
}
