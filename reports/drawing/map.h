/*
 * The network of a run as a map: where it was paused, and in which order the pauses came. Nodes are in layers
 * by their distance from the hosts, which suits stars, dumbbells, leaf-spine networks and fat trees.
 */
#ifndef REPORTS_MAP_H
#define REPORTS_MAP_H

#include "lib/text.h"
#include "reports/results/run.h"

/* Write FOLDER/NAME.tsv and FOLDER/NAME.svg, as plot_write does; *most: the time for which the end
 * that was paused longest was, in per cent of the measure phase; NAN when the run has no topology, no
 * switches or no pauses: then nothing is written. `note`: what it has not, for its caption. */
int map_write(const struct run *run, const char *name, const char *title, const struct folder *folder,
              double *most, struct text *note, struct error *e);

#endif
