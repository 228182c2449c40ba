#include "patience.h"

#include "base/clock.h"

#include <stdio.h>
#include <time.h>

#define AGAIN_MS 500

static double silent_seconds(const struct patience *patience)
{
    return (double)(clock_now_ns() - patience->lost_ns) / NS_PER_SEC;
}

void patience_heard(struct patience *patience)
{
    patience->known = true;
    if (!patience->lost_ns)
        return;
    fprintf(stderr, "%s: %s answers again, after %.1f s\n", patience->orchestra->command,
            orchestra_target(patience->orchestra), silent_seconds(patience));
    patience->lost_ns = 0;
}

static int64_t patience_ms(const struct patience *patience)
{
    return config_duration_ms(patience->orchestra->config, "patience");
}

static void tell_of_loss(struct patience *patience)
{
    const struct orchestra *orchestra = patience->orchestra;
    patience->lost_ns = clock_now_ns();
    if (patience_ms(patience) > 0)
        fprintf(stderr, "%s: %s does not answer any more (%s); it is asked again for %.0f s\n", orchestra->command,
                orchestra_target(orchestra), orchestra->status.text, (double)patience_ms(patience) / 1000);
}

bool patience_again(struct patience *patience)
{
    static const struct timespec a_while = {.tv_nsec = AGAIN_MS * NS_PER_MS};
    const struct orchestra *orchestra = patience->orchestra;
    if (orchestra->status.code != UNAVAILABLE || !patience->known) {
        orchestra_report(orchestra);
        return false;
    }
    if (!patience->lost_ns)
        tell_of_loss(patience);
    if (clock_now_ns() - patience->lost_ns >= patience_ms(patience) * NS_PER_MS) {
        fprintf(stderr, "%s: UNAVAILABLE: %s has not answered for %.1f s: %s\n", orchestra->command,
                orchestra_target(orchestra), silent_seconds(patience), orchestra->status.text);
        return false;
    }
    nanosleep(&a_while, NULL);
    return true;
}
