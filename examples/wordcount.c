/* wordcount: counts the words of a text in parallel and prints the ten most frequent ones.
 *
 * Build: mpcc wordcount.c -o wordcount
 * Run:   poe ./wordcount /usr/share/common-licenses/GPL-3 -procs 4
 *
 * Task 0 reads the file and deals it out in pieces that end between words. Every task counts the
 * words of its piece and sends its table back; task 0 adds the tables up. A word is a run of
 * letters A-Z and a-z, in lower case. The same by hand, on one task: tr -cs A-Za-z '\n' <FILE | tr
 * A-Z a-z | sort | uniq -c | sort -k1,1nr -k2 */
#include <mpproto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1, TABLE = 2, TOP = 10 };

typedef struct {
    char* word;
    long count;
} Entry;

/* A hash table with open addressing; capacity is a power of two, at most half of it is used. */
typedef struct {
    Entry* entries;
    size_t capacity;
    size_t used;
    long words;
} Table;

static _Noreturn void stop(const char* what) {
    fprintf(stderr, "wordcount: %s\n", what);
    mpc_stopall(1);
    abort(); /* it does not return */
}

static void* allocate(size_t size) {
    void* memory = calloc(1, size > 0 ? size : 1);
    if (memory == NULL) stop("out of memory");
    return memory;
}

static size_t hash_of(const char* word, size_t length) {
    size_t hash = 1469598103934665603u;
    for (size_t i = 0; i < length; ++i) hash = (hash ^ (unsigned char)word[i]) * 1099511628211u;
    return hash;
}

static Entry* find(const Table* table, const char* word, size_t length) {
    size_t at = hash_of(word, length) & (table->capacity - 1);
    for (;; at = (at + 1) & (table->capacity - 1)) {
        Entry* entry = &table->entries[at];
        if (entry->word == NULL) return entry;
        if (strncmp(entry->word, word, length) == 0 && entry->word[length] == '\0') return entry;
    }
}

static void grow(Table* table) {
    Table larger = {NULL, table->capacity == 0 ? 1024 : table->capacity * 2, table->used,
                    table->words};
    larger.entries = allocate(larger.capacity * sizeof(Entry));
    for (size_t i = 0; i < table->capacity; ++i) {
        const Entry* entry = &table->entries[i];
        if (entry->word != NULL) *find(&larger, entry->word, strlen(entry->word)) = *entry;
    }
    free(table->entries);
    *table = larger;
}

static void add(Table* table, const char* word, size_t length, long count) {
    if (2 * (table->used + 1) > table->capacity) grow(table);
    Entry* entry = find(table, word, length);
    if (entry->word == NULL) {
        entry->word = allocate(length + 1);
        memcpy(entry->word, word, length);
        ++table->used;
    }
    entry->count += count;
    table->words += count;
}

static void clear(Table* table) {
    for (size_t i = 0; i < table->capacity; ++i) free(table->entries[i].word);
    free(table->entries);
}

static int is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void count_words(Table* table, char* text, size_t size) {
    size_t begin = 0;
    for (size_t i = 0; i <= size; ++i) {
        if (i < size && is_letter(text[i])) {
            text[i] = (char)(text[i] | 0x20);
            continue;
        }
        if (i > begin) add(table, text + begin, i - begin, 1);
        begin = i + 1;
    }
}

static char* read_file(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        stop("no text to count");
    }
    const long end = ftell(file);
    rewind(file);
    char* text = allocate(end > 0 ? (size_t)end : 0);
    *size = fread(text, 1, end > 0 ? (size_t)end : 0, file);
    if (end < 0 || ferror(file) || *size != (size_t)end) stop("cannot read the whole file");
    fclose(file);
    return text;
}

/* A message of unknown length comes as two: first how long it is. */
static void send_block(const void* data, size_t size, int to, int type) {
    if (mpc_bsend(&size, sizeof size, to, type) != 0 || mpc_bsend(data, size, to, type) != 0) {
        stop("cannot send");
    }
}

static char* receive_block(size_t* size, int from, int type) {
    size_t got = 0;
    if (mpc_brecv(size, sizeof *size, &from, &type, &got) != 0 || got != sizeof *size) {
        stop("cannot receive a length");
    }
    char* data = allocate(*size);
    if (mpc_brecv(data, *size, &from, &type, &got) != 0 || got != *size) stop("cannot receive");
    return data;
}

/* Piece `number` of `pieces`, both ends moved on to the end of a word. */
static size_t boundary(const char* text, size_t size, int number, int pieces) {
    size_t at = (size_t)((double)size * number / pieces);
    while (at > 0 && at < size && is_letter(text[at]) && is_letter(text[at - 1])) ++at;
    return number == pieces ? size : at;
}

/* The table as text, "count word\n" per word. */
static char* write_table(const Table* table, size_t* size) {
    size_t room = 1;
    for (size_t i = 0; i < table->capacity; ++i) {
        if (table->entries[i].word != NULL) room += strlen(table->entries[i].word) + 24;
    }
    char* text = allocate(room);
    *size = 0;
    for (size_t i = 0; i < table->capacity; ++i) {
        const Entry* entry = &table->entries[i];
        if (entry->word == NULL) continue;
        *size +=
            (size_t)snprintf(text + *size, room - *size, "%ld %s\n", entry->count, entry->word);
    }
    return text;
}

static void merge(Table* table, const char* text, size_t size) {
    const char *at = text, *const end = text + size;
    while (at < end) {
        char* word = NULL;
        const long count = strtol(at, &word, 10);
        const char* line_end = memchr(word, '\n', (size_t)(end - word));
        if (word == at || line_end == NULL) stop("a table arrived damaged");
        add(table, word + 1, (size_t)(line_end - word - 1), count);
        at = line_end + 1;
    }
}

static int by_count_then_word(const void* a, const void* b) {
    const Entry *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return strcmp(x->word, y->word);
}

static void print_top(Table* table) {
    size_t n = 0;
    for (size_t i = 0; i < table->capacity; ++i) {
        const Entry entry = table->entries[i];
        table->entries[i] = (Entry){NULL, 0};
        if (entry.word != NULL) table->entries[n++] = entry;
    }
    if (n > 0) qsort(table->entries, n, sizeof(Entry), by_count_then_word);
    for (size_t i = 0; i < n && i < TOP; ++i) {
        printf("%7ld %s\n", table->entries[i].count, table->entries[i].word);
    }
}

int main(int argc, char** argv) {
    const char* path = argc > 1 ? argv[1] : "/usr/share/common-licenses/GPL-3";
    int tasks, me;
    Table table = {NULL, 0, 0, 0};
    size_t size = 0;
    if (mpc_environ(&tasks, &me) != 0) stop("no MPL");

    if (me != 0) {
        char* piece = receive_block(&size, 0, TEXT);
        count_words(&table, piece, size);
        char* text = write_table(&table, &size);
        send_block(text, size, 0, TABLE);
        free(text);
        free(piece);
        clear(&table);
        return 0;
    }

    char* text = read_file(path, &size);
    for (int task = 1; task < tasks; ++task) {
        const size_t begin = boundary(text, size, task, tasks);
        send_block(text + begin, boundary(text, size, task + 1, tasks) - begin, task, TEXT);
    }
    count_words(&table, text, boundary(text, size, 1, tasks));
    printf("task 0 counted %ld words\n", table.words);
    for (int task = 1; task < tasks; ++task) {
        const long before = table.words;
        size_t length = 0;
        char* part = receive_block(&length, task, TABLE);
        merge(&table, part, length);
        printf("task %d counted %ld words\n", task, table.words - before);
        free(part);
    }
    print_top(&table);
    free(text);
    clear(&table);
    return 0;
}
