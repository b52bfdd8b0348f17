/* Control messages of roce-traffic: any line may come from the network. What is taken must survive a second
 * trip. */
#include "traffic/connection/wire.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct message message, again;
    struct error e;
    if (wire_decode((const char *)data, size, &message, &e) != 0)
        return 0;
    char *text = wire_encode(&message);
    if (!text || wire_decode(text, strlen(text), &again, &e) != 0 || again.type != message.type)
        abort();
    free(text);
    wire_free(&again);
    wire_free(&message);
    return 0;
}
