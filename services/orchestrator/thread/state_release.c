/* A state of many pieces is freed a part at a time, so that no visit of the loop is long. The runner is held meanwhile:
 * its loops go on until the last part is freed. */
#include "state_release.h"
#include "shard.h"
#include "state/state.h"

#include "base/memory.h"
#include "loop/loop.h"

#include <stdlib.h>

#define RELEASE_AT_ONCE 2048 /* pieces: some 100 us */

struct state_release {
    struct work work;
    struct shard *shard;
    struct state_values *values;
};

static void state_release_part(struct work *work)
{
    struct state_release *release = CONTAINER_OF(work, struct state_release, work);
    struct shard *shard = release->shard;
    while (!state_values_free(release->values, RELEASE_AT_ONCE))
        if (loop_should_yield(shard->loop)) {
            loop_defer(shard->loop, &release->work);
            return;
        }
    free(release);
    runner_release(shard->runner);
}

void state_release(struct shard *shard, struct state **state)
{
    if (!*state || state_pieces(*state) <= RELEASE_AT_ONCE) {
        state_destroy(state);
        return;
    }
    struct state_release *release = xcalloc(1, sizeof *release);
    *release = (struct state_release){.work.run = state_release_part, .shard = shard, .values = state_detach(state)};
    atomic_fetch_add(&shard->runner->holders, 1);
    loop_defer(shard->loop, &release->work);
}
