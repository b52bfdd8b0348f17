/* The mark of domains and networks that virt-provision created: an element in their metadata. Those without
 * it are never changed. */
#ifndef REMOTE_MARK_H
#define REMOTE_MARK_H

#include "lib/error.h"
#include <libvirt/libvirt.h>

#define MARK_URI "urn:pfc-dcqcn-harness:guest:1"

struct mark {
    char lab[80];
    char host[80];
    char user[40];    /* to log in as */
    char mac[18];     /* of the management interface */
    char address[64]; /* of ssh, if fixed; else empty */
    int port;         /* of ssh there; 0: 22 */
};

/* The mark as XML, for <metadata>; values are escaped. The caller frees. */
char *mark_xml(const struct mark *mark);
/* Read a mark from XML text. Returns 1; 0 if there is none; -1 if the XML is invalid. */
int mark_parse(const char *xml, struct mark *mark, struct error *e);
/* The mark of a domain: as mark_parse. */
int mark_read(virDomainPtr domain, struct mark *mark, struct error *e);

#endif
