/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the model takes from its surroundings: types, memory functions, byte order, and reads and writes of
 * memory that the driver or a program changes at the same time. The same code is compiled into the kernel
 * module and into programs.
 */
#ifndef VCX_BASE_H
#define VCX_BASE_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>
#define UINT8_MAX  U8_MAX
#define UINT16_MAX U16_MAX
#define UINT32_MAX U32_MAX
#define UINT64_MAX U64_MAX
#else
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#endif

#define VCX_COUNT(array) (sizeof(array) / sizeof *(array))

static inline uint64_t vcx_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t vcx_most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t vcx_divide_up(uint64_t n, uint64_t by)
{
    return n / by + (n % by ? 1 : 0);
}

/* ---- big-endian values in private memory */

static inline uint16_t vcx_be16(const void *at)
{
    const uint8_t *p = at;
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t vcx_be32(const void *at)
{
    const uint8_t *p = at;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t vcx_be64(const void *at)
{
    return (uint64_t)vcx_be32(at) << 32 | vcx_be32((const uint8_t *)at + 4);
}

static inline void vcx_put16(void *at, uint16_t value)
{
    uint8_t *p = at;
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static inline void vcx_put32(void *at, uint32_t value)
{
    vcx_put16(at, (uint16_t)(value >> 16));
    vcx_put16((uint8_t *)at + 2, (uint16_t)value);
}

static inline void vcx_put64(void *at, uint64_t value)
{
    vcx_put32(at, (uint32_t)(value >> 32));
    vcx_put32((uint8_t *)at + 4, (uint32_t)value);
}

/* ---- memory that others change at the same time */

/* One aligned access, big-endian; what follows a read of a producer index is read after it, what
 * precedes a write of an owner bit is written before it. */

static inline uint32_t vcx_shared32(const void *at)
{
    uint32_t value = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
    return __builtin_bswap32(value);
}

static inline void vcx_share32(void *at, uint32_t value)
{
    __atomic_store_n((uint32_t *)at, __builtin_bswap32(value), __ATOMIC_RELEASE);
}

static inline uint8_t vcx_shared8(const void *at)
{
    return __atomic_load_n((const uint8_t *)at, __ATOMIC_ACQUIRE);
}

static inline void vcx_share8(void *at, uint8_t value)
{
    __atomic_store_n((uint8_t *)at, value, __ATOMIC_RELEASE);
}

/* ---- each front has these */

/* Zeroed memory, or NULL. */
void *vcx_allocate(size_t bytes);
void vcx_release(void *memory);
/* CRC-32 of IEEE 802.3, reflected, without inversion before and after. */
uint32_t vcx_crc32(uint32_t crc, const void *data, size_t bytes);

#endif
