/* Drives a fuzzer without libFuzzer: fuzz NAME [FILE|FOLDER...]. Without files it runs on the inputs in
 * tests/fuzz/seeds/NAME and tests/fuzz/corpus/NAME, and on random edits of them, about EXECUTIONS (20000) in
 * all, the same ones every time. Prints TAP. */
#include "tests/fuzz/table.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUT_LIMIT (1u << 20)
#define EXECUTIONS  20000

/* xorshift64*: the same inputs on every machine. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

static size_t edit(uint8_t *data, size_t size, size_t room, uint64_t *state)
{
    uint64_t r = next_random(state);
    size_t at = size ? (r >> 8) % size : 0;
    switch (r % 6) {
    case 0: /* flip */
        if (size)
            data[at] ^= (uint8_t)(1u << ((r >> 40) & 7));
        break;
    case 1: /* replace */
        if (size)
            data[at] = (uint8_t)(r >> 40);
        break;
    case 2: /* cut short */
        size = at;
        break;
    case 3: /* take out */
        if (size > 1) {
            memmove(data + at, data + at + 1, size - at - 1);
            size--;
        }
        break;
    case 4: /* put in */
        if (size < room) {
            memmove(data + at + 1, data + at, size - at);
            data[at] = (uint8_t) "{}[]\":,0919-.eE\n\\u \xff\x80"[(r >> 40) % 22];
            size++;
        }
        break;
    default: /* repeat a piece */
        if (size && size * 2 <= room) {
            memcpy(data + size, data, size - at);
            size += size - at;
        }
    }
    return size;
}

static size_t run_file(fuzz_function *fuzzer, const char *path, int edits)
{
    static uint8_t original[INPUT_LIMIT], data[INPUT_LIMIT];
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    size_t size = fread(original, 1, INPUT_LIMIT / 2, file), runs = 0;
    fclose(file);
    uint64_t state = 88172645463325252u + size;
    fuzzer(original, size);
    for (; runs < (size_t)edits; runs++) {
        size_t edited = size;
        memcpy(data, original, size);
        for (uint64_t i = 1 + next_random(&state) % 8; i; i--)
            edited = edit(data, edited, INPUT_LIMIT, &state);
        /* a copy of the exact size, so that the sanitizer sees a read past the end */
        uint8_t *exact = malloc(edited ? edited : 1);
        if (exact) {
            memcpy(exact, data, edited);
            fuzzer(exact, edited);
            free(exact);
        }
    }
    return runs + 1;
}

/* A file, or all files below a folder, in turn; the fuzzer may be NULL, to count them. Returns the number of
 * executions or files. */
static size_t run_path(fuzz_function *fuzzer, const char *path, int edits)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return 0;
    if (!S_ISDIR(status.st_mode))
        return fuzzer ? run_file(fuzzer, path, edits) : 1;
    size_t runs = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char *inner = NULL;
        if (entry->d_name[0] != '.' && asprintf(&inner, "%s/%s", path, entry->d_name) > 0)
            runs += run_path(fuzzer, inner, edits);
        free(inner);
    }
    if (folder)
        closedir(folder);
    return runs;
}

static size_t run_inputs(const struct fuzz_entry *entry)
{
    const char *wanted = getenv("EXECUTIONS");
    char seeds[256], corpus[256];
    snprintf(seeds, sizeof seeds, "tests/fuzz/seeds/%s", entry->name);
    snprintf(corpus, sizeof corpus, "tests/fuzz/corpus/%s", entry->name);
    size_t files = run_path(NULL, seeds, 0) + run_path(NULL, corpus, 0);
    int edits = files ? (int)((size_t)(wanted ? atoi(wanted) : EXECUTIONS) / files) : 0;
    return run_path(entry->run, seeds, edits) + run_path(entry->run, corpus, edits);
}

int main(int argc, char **argv)
{
    const struct fuzz_entry *entry = fuzz_table;
    size_t runs = 0;
    while (entry->name && (argc < 2 || strcmp(entry->name, argv[1]) != 0))
        entry++;
    if (!entry->name) {
        fprintf(stderr, "fuzz: needs the name of a fuzzer, a file of tests/fuzz/*/ without its .c\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        runs += run_path(entry->run, argv[i], 0);
    if (argc == 2)
        runs = run_inputs(entry);
    printf("%s 1 - %s: %zu inputs\n1..1\n", runs ? "ok" : "not ok", entry->name, runs);
    return runs == 0;
}
