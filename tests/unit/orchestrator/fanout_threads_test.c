/* Three loops with threads of their own give each other attempts, recall some, and each ends once. For ThreadSanitizer.
 */
#include "unit.h"

#include "agent_fixture.h"
#include "base/clock.h"
#include "fanout/fanout.h"
#include "loop/loop.h"

#include <semaphore.h>
#include <stdatomic.h>

#define LOOPS    3
#define ATTEMPTS 2000 /* of each loop */
#define AT_ONCE  100
#define AT_HOME  20 /* at work in its own loop, so that it gives away and asks both */

/* ---- a kind that ends soon --------------------------------------------------------------------------------------- */

struct quick {
    struct work work;
    struct task *task;
    bool cancelled;
};

static atomic_uint started;

static void quick_ends(struct work *work)
{
    struct quick *quick = (struct quick *)work;
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    struct status st = {.code = CANCELLED};
    response.update_json = task_request(quick->task)->state_json;
    task_token(quick->task, "t", "");
    if (quick->cancelled)
        task_fail(quick->task, &st);
    else
        task_finish(quick->task, &response);
}

static void quick_start(struct task *task)
{
    struct quick *quick = task_data(task);
    quick->task = task;
    quick->work.run = quick_ends;
    atomic_fetch_add(&started, 1);
    loop_defer(task_loop(task), &quick->work);
}

static void quick_cancel(struct task *task)
{
    ((struct quick *)task_data(task))->cancelled = true;
}

static const struct node_parameter no_parameters[] = {{.name = NULL}};
static const struct node_kind quick_kind = {.name = "quick",
                                            .help = "Ends soon.",
                                            .parameters = no_parameters,
                                            .size = sizeof(struct quick),
                                            .start = quick_start,
                                            .cancel = quick_cancel,
                                            .travels = true};
const struct node_kind *const node_kinds[] = {&quick_kind, NULL};
const struct node_kind *node_kind_find(const char *name)
{
    return strcmp(name, quick_kind.name) == 0 ? &quick_kind : NULL;
}

/* ---- those that give --------------------------------------------------------------------------------------------- */

struct giver;
struct given {
    struct dispatch dispatch;
    struct giver *giver;
    char state[64];
};
struct giver {
    struct loop *loop;
    struct fanout *fanout;
    struct given given[AT_ONCE];
    unsigned sent, ended, finished, tokens, wrong;
    struct timer again;
    struct work go;
};

static char version[65];
static sem_t all_ended;

static void give(struct given *given)
{
    static const struct trace_context none;
    struct giver *giver = given->giver;
    Renga__V1__NodePosition position = RENGA__V1__NODE_POSITION__INIT;
    Renga__V1__RunNodeRequest request = RENGA__V1__RUN_NODE_REQUEST__INIT;
    position.agent = position.graph = (char *)(uintptr_t) "a";
    position.graph_version = version;
    position.node = (char *)(uintptr_t) "n";
    request.position = &position;
    snprintf(given->state, sizeof given->state, "{\"loop\":%u,\"n\":%u}", loop_index(giver->loop), giver->sent);
    request.state_json = given->state;
    if (!fanout_send(giver->fanout, giver->loop, &given->dispatch, &request, TIME_NEVER, &none))
        return;
    if (giver->sent++ % 7 == 0)
        fanout_recall(&given->dispatch);
}

static void give_all(struct giver *giver)
{
    for (size_t i = 0; i < AT_ONCE && giver->sent < ATTEMPTS; i++)
        if (!giver->given[i].dispatch.number)
            give(&giver->given[i]);
    if (giver->sent < ATTEMPTS)
        loop_arm_after(giver->loop, &giver->again, 1); /* nobody has asked */
}

static void came(struct dispatch *dispatch, const Renga__V1__RunNodeEvent *event)
{
    ((struct given *)dispatch)->giver->tokens += event->event_case == RENGA__V1__RUN_NODE_EVENT__EVENT_TOKEN;
}

static void ended(struct dispatch *dispatch, const Renga__V1__RunNodeResponse *response, const struct status *st)
{
    struct given *given = (struct given *)dispatch;
    struct giver *giver = given->giver;
    if (response) {
        giver->finished++;
        giver->wrong += strcmp(response->update_json, given->state) != 0;
    } else {
        giver->wrong += st->code != CANCELLED;
    }
    if (++giver->ended == ATTEMPTS)
        sem_post(&all_ended);
    else if (giver->sent < ATTEMPTS)
        give(given);
}

static void again(struct timer *timer)
{
    give_all(CONTAINER_OF(timer, struct giver, again));
}

static void go(struct work *work)
{
    struct giver *giver = CONTAINER_OF(work, struct giver, go);
    fanout_local_attempts(giver->fanout, giver->loop, AT_HOME);
    give_all(giver);
}

static struct giver givers[LOOPS];

static void each_attempt_ends_once_with_its_own_result(void **state)
{
    static const struct dispatch_owner owner = {.came = came, .ended = ended};
    struct house house = house_open();
    struct loop *loops[LOOPS];
    struct status st = {0};
    house_write(&house, "a/graph.json",
                "{\"agent\": \"a\", \"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"quick\"}}}");
    house_load(&house);
    struct agent *agent = agents_find(house.agents, "a", NULL, &st);
    assert_non_null(agent);
    snprintf(version, sizeof version, "%s", agent->version);
    agent_release(house.agents, agent);
    for (unsigned i = 0; i < LOOPS; i++) {
        loops[i] = loop_create(i);
        assert_true(loop_start(loops[i], &st));
    }
    struct fanout_options options = {
        .loops = loops, .loop_count = LOOPS, .agents = house.agents, .message_max = (size_t)4 << 20};
    struct fanout *fanout = fanout_create(&options, &st);
    assert_non_null(fanout);
    sem_init(&all_ended, 0, 0);
    for (unsigned i = 0; i < LOOPS; i++) {
        struct giver *giver = &givers[i];
        *giver = (struct giver){.loop = loops[i], .fanout = fanout, .again.expired = again, .go.run = go};
        for (size_t j = 0; j < AT_ONCE; j++)
            giver->given[j] = (struct given){.dispatch.owner = &owner, .giver = giver};
        loop_enter(loops[i]);
        assert_true(fanout_join(fanout, loops[i], &st));
        loop_leave(loops[i]);
    }
    for (unsigned i = 0; i < LOOPS; i++)
        loop_post(loops[i], &givers[i].go);
    for (unsigned i = 0; i < LOOPS; i++)
        sem_wait(&all_ended);
    assert_int_equal(fanout_dispatched(fanout), 0);
    fanout_destroy(&fanout);
    for (unsigned i = 0; i < LOOPS; i++)
        loop_stop(loops[i]);
    for (unsigned i = 0; i < LOOPS; i++) {
        assert_int_equal(givers[i].ended, ATTEMPTS);
        assert_int_equal(givers[i].wrong, 0);
        assert_true(givers[i].finished >= ATTEMPTS - ATTEMPTS / 7 - 1);
        assert_true(givers[i].tokens >= ATTEMPTS - ATTEMPTS / 7 - 1);
        loop_destroy(&loops[i]);
    }
    assert_int_equal(atomic_load(&started), LOOPS * ATTEMPTS);
    sem_destroy(&all_ended);
    house_close(&house);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_attempt_ends_once_with_its_own_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
