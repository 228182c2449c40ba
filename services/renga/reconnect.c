#include "reconnect.h"

#include "base/clock.h"

#include <stdio.h>
#include <time.h>

#define AGAIN_MS 500

static double silent_seconds(const struct reconnect *reconnect)
{
    return (double)(clock_now_ns() - reconnect->lost_ns) / NS_PER_SEC;
}

void reconnect_succeeded(struct reconnect *reconnect)
{
    reconnect->known = true;
    if (!reconnect->lost_ns)
        return;
    fprintf(stderr, "%s: %s answers again, after %.1f s\n", reconnect->client->command,
            orchestrator_client_target(reconnect->client), silent_seconds(reconnect));
    reconnect->lost_ns = 0;
}

static int64_t reconnect_limit_ms(const struct reconnect *reconnect)
{
    return config_duration_ms(reconnect->client->config, "patience");
}

static void report_loss(struct reconnect *reconnect)
{
    const struct orchestrator_client *client = reconnect->client;
    reconnect->lost_ns = clock_now_ns();
    if (reconnect_limit_ms(reconnect) > 0)
        fprintf(stderr, "%s: %s %s (%s); it is asked again for %.0f s\n", client->command,
                orchestrator_client_target(client), client->lost ? "does not answer any more" : "cannot serve it now",
                client->status.text, (double)reconnect_limit_ms(reconnect) / 1000);
}

bool reconnect_retry(struct reconnect *reconnect)
{
    static const struct timespec a_while = {.tv_nsec = AGAIN_MS * NS_PER_MS};
    const struct orchestrator_client *client = reconnect->client;
    if (client->status.code != UNAVAILABLE || !reconnect->known) {
        orchestrator_client_report(client);
        return false;
    }
    if (!reconnect->lost_ns)
        report_loss(reconnect);
    if (clock_now_ns() - reconnect->lost_ns >= reconnect_limit_ms(reconnect) * NS_PER_MS) {
        fprintf(stderr, "%s: UNAVAILABLE: %s has not answered for %.1f s: %s\n", client->command,
                orchestrator_client_target(client), silent_seconds(reconnect), client->status.text);
        return false;
    }
    nanosleep(&a_while, NULL);
    return true;
}
