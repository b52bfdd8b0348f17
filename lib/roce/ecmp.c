#include "lib/roce/ecmp.h"

uint32_t ecmp_hash(const uint32_t words[3], uint32_t seed)
{
    uint32_t h = seed;
    for (int i = 0; i < 3; i++) {
        uint32_t k = words[i] * 0xcc9e2d51u;
        h ^= (k << 15 | k >> 17) * 0x1b873593u;
        h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
    }
    h ^= 12;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

uint32_t ecmp_address(uint32_t number)
{
    return 0x0b000001u + (number / 256 << 16) + (number % 256 << 8);
}
