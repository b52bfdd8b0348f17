#include "harness/doctor/gid.h"

#include "harness/doctor/doctor.h"
#include "lib/text.h"
#include <inttypes.h>
#include <string.h>

static const char *word(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static bool is_of_address(const json_t *gid, const char *address)
{
    size_t length = strcspn(address, "/");
    return strncmp(word(gid, "address"), address, length) == 0 && word(gid, "address")[length] == '\0';
}

/* Is it the one that flows need? Without an address in the lab any RoCE v2 GID is. */
static bool fits(const json_t *gid, const char *address)
{
    return strcmp(word(gid, "type"), "RoCE v2") == 0 && (!address || is_of_address(gid, address));
}

/* The GIDs of the lab's NIC: that of its network device, or without one the first with the address. NULL: not read. */
static const json_t *gids_of(const struct lab_nic *nic, const json_t *facts)
{
    const json_t *item, *gid;
    size_t i, k;
    json_array_foreach(json_object_get(facts, "nics"), i, item)
    {
        const json_t *gids = json_object_get(json_object_get(item, "rdma"), "gids");
        if (nic->netdev && strcmp(word(item, "netdev"), nic->netdev) == 0)
            return gids;
        json_array_foreach(gids, k, gid)
        {
            if (!nic->netdev && nic->address && is_of_address(gid, nic->address))
                return gids;
        }
    }
    return NULL;
}

static const json_t *gid_at(const json_t *gids, int64_t index)
{
    const json_t *gid;
    size_t i;
    json_array_foreach(gids, i, gid)
    {
        const json_t *there = json_object_get(gid, "index");
        if (json_is_integer(there) && json_integer_value(there) == index)
            return gid;
    }
    return NULL;
}

/* The index of a GID that fits, or -1. */
static int64_t better(const json_t *gids, const char *address)
{
    const json_t *gid;
    size_t i;
    json_array_foreach(gids, i, gid)
    {
        if (fits(gid, address) && json_is_integer(json_object_get(gid, "index")))
            return json_integer_value(json_object_get(gid, "index"));
    }
    return -1;
}

static void say_moved(const struct lab_host *host, const json_t *gids, json_t *entries)
{
    const json_t *gid = gid_at(gids, host->nic.gid_index);
    const char *address = host->nic.address ? host->nic.address : "the NIC";
    int64_t now = better(gids, host->nic.address);
    struct text reason = {0}, fix = {0};
    text_add(&reason, "nic.gid_index of the lab is %" PRId64 ", which ", host->nic.gid_index);
    if (gid)
        text_add(&reason, "is a %s GID of %s now", word(gid, "type"), word(gid, "address"));
    else
        text_add(&reason, "has no GID now");
    if (now >= 0) {
        text_add(&reason, "; the RoCE v2 GID of %s has index %" PRId64, address, now);
        text_add(&fix,
                 "leave nic.gid_index out of the lab: the GID is found by its type and address; or set it to "
                 "%" PRId64,
                 now);
    } else {
        text_add(&reason, "; there is no RoCE v2 GID of %s", address);
        text_add(&fix,
                 "give the interface its address again, and set it up: ip address add ADDRESS dev INTERFACE");
    }
    preflight_say(entries, host->name, "gid-index", "failure", text_string(&fix), "%s", text_string(&reason));
    text_free(&reason);
    text_free(&fix);
}

void gid_examine(const struct lab_host *host, const json_t *facts, json_t *entries)
{
    const struct lab_nic *nic = &host->nic;
    if (nic->vlan || nic->gid_index == FIELD_UNSET)
        return;
    const json_t *gids = gids_of(nic, facts), *gid = gid_at(gids, nic->gid_index);
    if (!json_is_array(gids))
        preflight_say(entries, host->name, "gid-index", "unknown", NULL,
                      "the GIDs of the lab's NIC were not read: whether index %" PRId64
                      " is that of %s is not known",
                      nic->gid_index, nic->address ? nic->address : "its address");
    else if (gid && fits(gid, nic->address))
        preflight_say(entries, host->name, "gid-index", "ok", NULL,
                      "index %" PRId64 " is the RoCE v2 GID of %s", nic->gid_index, word(gid, "address"));
    else
        say_moved(host, gids, entries);
    preflight_read(
        entries,
        "nic.gid_index of the lab; /sys/class/infiniband/*/ports/*/gids and gid_attrs by host-facts");
}
