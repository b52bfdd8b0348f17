/* Names of driver statistics: any 32 bytes may stand there. */
#include "collectors/sources/source_ethtool.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct column_set columns = {0};
    struct ethtool s = {.count = (uint32_t)(size / ETH_GSTRING_LEN), .names = (char *)(uintptr_t)data};
    (void)add_columns(&s, &columns, NULL);
    for (size_t i = 0; i < columns.count; i++)
        if (columns.items[i].name[0] == '\0' || strlen(columns.items[i].name) >= ETH_GSTRING_LEN)
            abort();
    column_set_free(&columns);
    return 0;
}
