/* Metrics of the process itself: memory, processor time, descriptors, start, version. */
#ifndef RENGA_TELEMETRY_PROCESS_H
#define RENGA_TELEMETRY_PROCESS_H

#include "telemetry/metrics.h"

/* `service` is borrowed for as long as the metrics live. */
void process_metrics_add(struct metrics *metrics, const char *service);

#endif
