/* State that the instances of all loops share: sessions and asset files. The first instance creates it. */
#ifndef RENGA_EDGE_SHARED_H
#define RENGA_EDGE_SHARED_H

#include "assets.h"
#include "sessions.h"

struct metrics;
struct stream_quota;

struct edge_shared {
    struct sessions *sessions;
    struct assets *assets;
    struct stream_quota *quota;
    struct metrics *metrics; /* borrowed; NULL: no counts */
    unsigned users;          /* instances: made and destroyed one after the other */
};

#endif
