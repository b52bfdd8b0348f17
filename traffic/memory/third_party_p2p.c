#include "traffic/memory/third_party_p2p.h"

int p2p_make(struct p2p *p, uint32_t va_space, struct error *e)
{
    uint32_t flags = RM_P2P_TYPE_BAR1;
    struct rm_register_va_space space = {.va_space = va_space};
    if (rm_alloc_object(p->fd, p->client, p->subdevice, RM_CLASS_THIRD_PARTY_P2P, &flags, sizeof flags,
                        &p->object, "creating a third-party P2P object (class 0x503C)", e) != 0)
        return -1;
    p->own = true;
    if (rm_control(p->fd, p->client, p->object, RM_CONTROL_P2P_REGISTER_VA_SPACE, &space, sizeof space,
                   "registering the address space with the third-party P2P object", e) == 0)
        return 0;
    p2p_release(p);
    return -1;
}

int p2p_register(const struct p2p *p, uint32_t memory, uint64_t address, uint64_t bytes, struct error *e)
{
    struct rm_register_vidmem vidmem = {.memory = memory, .address = address, .size = bytes};
    return rm_control(p->fd, p->client, p->object, RM_CONTROL_P2P_REGISTER_VIDMEM, &vidmem, sizeof vidmem,
                      "registering the memory with the third-party P2P object", e);
}

void p2p_unregister(const struct p2p *p, uint32_t memory)
{
    rm_control(p->fd, p->client, p->object, RM_CONTROL_P2P_UNREGISTER_VIDMEM, &memory, sizeof memory,
               "unregistering the memory", NULL);
}

void p2p_release(struct p2p *p)
{
    if (p->own)
        rm_free_object(p->fd, p->client, p->subdevice, p->object);
    *p = (struct p2p){.fd = -1};
}
