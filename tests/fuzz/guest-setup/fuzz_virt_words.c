/* What people write in labs about a machine: lists of CPUs, PCI addresses, subnets; and words for a shell. */
#include "guest-setup/guest/domain_xml.h"
#include "lib/words.h"
#include "remote/ssh.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* NOLINTNEXTLINE(readability-non-const-parameter): the struct's words are not const */
static void plan_with(char *subnet)
{
    struct lab_host host = {.name = subnet, .domain = subnet, .nic = {.gid_index = FIELD_UNSET}};
    struct lab lab = {.name = subnet,
                      .uri = subnet,
                      .driver = (int)(lab_kind_named("libvirt") - lab_kinds),
                      .hosts = {&host, 1},
                      .management = {.subnet = subnet}};
    struct wiring_network *networks = NULL;
    struct wiring plan;
    struct error e;
    size_t count;
    (void)wiring_of_guest(&lab, &host, &plan, &e);
    (void)wiring_networks(&lab, &networks, &count, &e);
    free(networks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *word = malloc(size + 1), text[16];
    struct pci_address address, again;
    struct text line = {0};
    struct error e;
    unsigned *cpus;
    size_t count;
    if (!word)
        return 0;
    memcpy(word, data, size);
    word[size] = '\0';
    if (cpu_list_parse(word, &cpus, &count, &e) == 0)
        free(cpus);
    if (pci_parse(word, &address, &e) == 0 && (pci_parse(pci_format(&address, text), &again, &e) != 0 ||
                                               again.bus != address.bus || again.domain != address.domain))
        abort();
    plan_with(word);
    shell_quote(&line, word);
    if (line.length < strlen(word))
        abort();
    text_free(&line);
    free(word);
    return 0;
}
