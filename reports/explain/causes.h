/* What went wrong in a run: causes by kind, with what tells of them. */
#ifndef REPORTS_EXPLAIN_CAUSES_H
#define REPORTS_EXPLAIN_CAUSES_H

#include "lib/text.h"
#include "reports/explain/roots.h"

enum cause_kind {
    CAUSE_DEADLOCK,
    CAUSE_LINK_DOWN,
    CAUSE_NO_ROUTE, /* a switch had no link left to send by */
    CAUSE_LINK_DAMAGES,
    CAUSE_PAUSES_LOST, /* PFC frames did not arrive, and none is known to be damaged */
    CAUSE_HEADROOM,
    CAUSE_NOT_LOSSLESS,
    CAUSE_DISOBEYS, /* it goes on sending in spite of pauses */
    CAUSE_NO_RECEIVE,
    CAUSE_LATE_ACKS, /* time-outs, and no packet that is known to be lost */
    CAUSE_LOSS,      /* where is not known */
    CAUSE_STORM,
    CAUSE_SLOW_RECEIVER,
    CAUSE_HOST_PAUSES,    /* one of the two before */
    CAUSE_RECEIVER_DROPS, /* and nothing pauses its link, or what pauses it is not obeyed */
    CAUSE_RECEIVER_HOLDS, /* its receive buffer stands, and pauses nothing */
    CAUSE_RECEIVER_MARKS, /* CNPs without a mark of a switch */
    CAUSE_INCAST,
    CAUSE_UPLINK,
    CAUSE_SLOWER_LINK,
    CAUSE_SLOWED_LINK, /* since some time, or between two */
    CAUSE_PRIORITIES,  /* higher ones go first at a port to which one host sends */
    CAUSE_SWITCH,      /* its pauses, and nothing that was sampled tells why */
    CAUSE_NETWORK_TO,  /* pauses or marks of what goes to a host, the same */
    CAUSE_NETWORK,     /* pauses or marks, and what is behind them was not sampled */
    CAUSE_DCQCN,       /* it holds senders down while the port that marks is idle */
    CAUSE_SENDER,
    CAUSES
};

/* What is said of a kind: `before` and `after` stand around the culprit. */
struct cause_words {
    const char *name; /* of --json: "slow-receiver" */
    const char *before, *after;
    const char *help; /* what may help; NULL: nothing that this project sets */
    const char *set;  /* of `harness run --set`, to see whether it does; NULL: nothing to set */
    const char *list; /* and behind it a list of priorities, this setting's and the cause's; NULL: none */
    bool spreads;     /* to flows that do not go there: they are its victims */
};
extern const struct cause_words cause_words[CAUSES];

enum sureness { POSSIBLE, LIKELY, SURE };

struct cause {
    enum cause_kind kind;
    enum sureness sureness;
    char *culprit; /* a host, switch, link ("leaf0 - spine1") or ring; of CAUSE_NOT_LOSSLESS "priority 4" */
    size_t port;   /* where it begins; NETWORK_NONE: unknown */
    int priority;  /* -1: all */
    int64_t from_ns, to_ns; /* from_ns > to_ns: not known */
    bool losses_charged, drops_told;
    unsigned watchdogs_told; /* switches whose PFC watchdog did not obey its pauses, in `evidence` */
    bool overridden;         /* a watchdog does not obey its pauses, which costs what is lost then */
    bool helpless;           /* what the words of its kind have as help does not help here */
    bool starved;            /* higher priorities go first at its port, and take what these lack */
    size_t told_port;        /* the port to name that waited; NETWORK_NONE: none */
    double told, told_held,  /* the share of the measure phase in which it did for this, and did at all */
        told_took;           /* and what that took from a flow */
    double worst;    /* of the ports that waited for it, the share of the measure phase in which one stood */
    double cost;     /* the sum of what it took from the flows, each a share of its line */
    double *cost_of; /* of each flow */
    struct text evidence; /* sentences, a line each */
};

struct causes {
    struct cause *items; /* by cost */
    size_t count, capacity;
};

void causes_find(struct seen *s, struct roots *roots, struct causes *causes);
void causes_free(struct causes *causes);
/* What may help here: DCQCN that is on, a watchdog that dropped, or another way that there is not, does not.
 * The caller frees `set`. */
struct help {
    const char *words; /* NULL: nothing */
    char *set;         /* of `harness run --set`, to see whether it does; NULL: nothing to set */
};
struct help cause_help(struct seen *s, const struct cause *cause);
/* Do the flow's packets pass where the cause begins, with whatever priority? */
bool cause_feeds(struct seen *s, const struct cause *cause, const struct flow_seen *flow);

#endif
