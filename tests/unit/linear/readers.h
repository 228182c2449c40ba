/* The tables of readers, one a room; each ends with an empty row. */
#ifndef RENGA_UNIT_READERS_H
#define RENGA_UNIT_READERS_H

#include "doubling.h"

extern const struct reader readers_words[], readers_documents[], readers_json[], readers_http[], readers_rpc[],
    readers_extractive[], readers_gateway[], readers_agents[], readers_thinking[], readers_methods[], readers_graphs[],
    readers_tools[], readers_settings[], readers_rows[], readers_acts[], readers_search[], readers_reports[],
    readers_datagrams[], readers_files[], readers_cite[], readers_form[], readers_playbooks[], readers_edge[];

#endif
