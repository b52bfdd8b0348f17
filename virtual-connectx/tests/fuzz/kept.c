#include "virtual-connectx/tests/fuzz/kept.h"

#include <sanitizer/asan_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_PLACES = 10, PLACES = 1 << LOG_PLACES, MOST_BLOCKS = PLACES / 2 };

struct block {
    uint8_t *at, *saved; /* saved: NULL where it was released before the end */
    size_t bytes, compared;
    bool held;
};

static struct block blocks[MOST_BLOCKS]; /* as they are made */
static struct block *places[PLACES];     /* by address */
static size_t made_now, made_first;
static bool making, saved;

static void fail(const struct block *block, const char *what)
{
    fprintf(stderr, "block %d of %zu that executions begin with, of %zu bytes: %s\n", (int)(block - blocks),
            made_first, block->bytes, what);
    abort();
}

static void hold(struct block *block, bool held)
{
    block->held = held;
    if (held)
        ASAN_UNPOISON_MEMORY_REGION(block->at, block->bytes);
    if (!held)
        ASAN_POISON_MEMORY_REGION(block->at, block->bytes);
}

/* Where the block with this address is, or will be. */
static struct block **place_of(const void *at)
{
    uint32_t place = (uint32_t)((uintptr_t)at >> 4) * 2654435769u >> (32 - LOG_PLACES);
    while (places[place] && places[place]->at != at)
        place = (place + 1) % PLACES;
    return &places[place];
}

bool kept_made(void)
{
    return saved && !making;
}

void *kept_allocate(void *at, size_t bytes, size_t compared)
{
    struct block *block = &blocks[made_now];
    if (!making || made_now++ == MOST_BLOCKS - 1)
        fail(block, "one too many, or too late");
    if (!block->at) {
        block->at = at ? at : malloc(bytes);
        block->bytes = bytes;
        block->compared = compared;
        *place_of(block->at) = block;
    }
    if (!block->at || block->bytes != bytes)
        fail(block, "no memory, or another size than at first");
    hold(block, true);
    return memset(block->at, 0, bytes);
}

bool kept_release(const void *memory)
{
    struct block *block = *place_of(memory);
    if (!block)
        return false;
    if (!block->held)
        fail(block, "it is released twice");
    hold(block, false);
    return true;
}

void kept_begin(void)
{
    for (size_t i = 0; i < made_now; i++)
        hold(&blocks[i], false);
    made_now = 0;
    making = true;
}

static void save(struct block *block)
{
    if (!block->held)
        return;
    block->saved = malloc(block->bytes);
    if (!block->saved)
        fail(block, "no memory for a copy");
    memcpy(block->saved, block->at, block->bytes);
}

static void compare(const struct block *block)
{
    if (block->held != (block->saved != NULL))
        fail(block, "it is released, or was at first");
    for (size_t i = 0; block->held && i < block->compared; i++)
        if (block->saved[i] != block->at[i]) {
            fprintf(stderr, "byte %zu: %u in place of %u\n", i, block->at[i], block->saved[i]);
            fail(block, "not as it was at first");
        }
}

void kept_end(void)
{
    if (saved && made_now != made_first)
        fail(&blocks[made_now], "fewer than at first");
    for (size_t i = 0; i < made_now; i++)
        if (saved)
            compare(&blocks[i]);
        else
            save(&blocks[i]);
    making = false;
    made_first = made_now;
    saved = true;
}

void kept_restore(void)
{
    for (size_t i = 0; i < made_now; i++)
        if (blocks[i].saved) {
            hold(&blocks[i], true);
            memcpy(blocks[i].at, blocks[i].saved, blocks[i].bytes);
        }
}
