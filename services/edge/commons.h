/* State that the instances of all loops share: sessions and asset files. The first instance creates it. */
#ifndef RENGA_EDGE_COMMONS_H
#define RENGA_EDGE_COMMONS_H

#include "assets.h"
#include "sessions.h"

struct edge_commons {
    struct sessions *sessions;
    struct assets *assets;
    unsigned users; /* instances: made and destroyed one after the other */
};

#endif
