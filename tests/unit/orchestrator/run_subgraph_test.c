/* Interrupts, branches and sub-graphs. */
#include "unit.h"

#include "run_subgraph_fixture.h"
#include "state/state.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/shard.h"
#include "thread/snapshot.h"
#include "thread/thread.h"

/* ---- interrupts ---------------------------------------------------------------------------------------------------
 */

static void an_answer_is_delivered_whatever_it_is(void **state)
{
    static const char *const answers[] = {"0", "false", "\"\"", "null", "{\"a\":[1]}"};
    stage_set(&stage, LOG "\"start\": \"q\", \"nodes\": {\"q\": {\"kind\": \"ask\", \"question\": \"Well?\", \"into\": "
                          "\"x\", \"on\": {\"answered\": \"z\"}}, \"z\": {\"kind\": \"noop\"}}");
    for (size_t i = 0; i < COUNT(answers); i++) {
        char thread[8], wanted[64], id[64];
        snprintf(thread, sizeof thread, "t%zu", i);
        char *run = start(&stage, thread, "");
        Renga__V1__Run *waiting = get(&stage, run);
        assert_int_equal(waiting->state, WAITING);
        assert_int_equal(waiting->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_QUESTION);
        assert_int_equal(waiting->n_interrupts, 1);
        assert_string_equal(waiting->interrupts[0]->question, "Well?");
        snprintf(id, sizeof id, "%s", waiting->interrupts[0]->interrupt_id);
        resume(&stage, run, NULL);
        waiting = get(&stage, run);
        assert_int_equal(waiting->state, WAITING);
        assert_string_equal(waiting->interrupts[0]->interrupt_id, id);
        assert_non_null(resume(&stage, run, answers[i]));
        snprintf(wanted, sizeof wanted, "{\"log\":[],\"x\":%s}", answers[i]);
        assert_run(&stage, run, SUCCEEDED, wanted);
        assert_null(resume(&stage, run, "1"));
        assert_string_equal(last_reason, "NOT_RESUMABLE");
    }
    stage_clear(&stage);
}

static void two_interrupts_of_one_node_wait_for_both(void **state)
{
    static const char *const keys[] = {"k1", "k2"};
    char ids[2][64];
    stage_set(&stage, LOG "\"start\": \"a\", \"nodes\": {\"a\": {" S "}}");
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_ask(script_find("a", NULL, -1), keys, 2));
    Renga__V1__Run *waiting = get(&stage, run);
    assert_int_equal(waiting->n_interrupts, 2);
    for (int i = 0; i < 2; i++)
        snprintf(ids[i], 64, "%s", waiting->interrupts[i]->interrupt_id);
    assert_null(resume(&stage, run, "1"));
    assert_string_equal(last_reason, "AMBIGUOUS_ANSWER");
    assert_non_null(resume_by_id(&stage, run, ids[1], "\"two\""));
    assert_run(&stage, run, WAITING, "");
    assert_int_equal(script_live, 0);
    assert_null(resume_by_id(&stage, run, ids[1], "\"two\""));
    assert_string_equal(last_reason, "ALREADY_ANSWERED");
    assert_null(resume_by_id(&stage, run, "q_none", "\"two\""));
    assert_int_equal(last_status.code, NOT_FOUND);
    assert_non_null(resume_by_id(&stage, run, ids[0], "\"one\""));
    struct script_call *call = script_find("a", NULL, -1);
    assert_int_equal(call->answers, 2);
    assert_string_equal(call->answer[0], "k1=\"one\"");
    assert_string_equal(call->answer[1], "k2=\"two\"");
    INSIDE(&stage, script_write(call, "", ""));
    assert_run(&stage, run, SUCCEEDED, "");
    stage_clear(&stage);
}

static void five_branches_ask_and_an_answered_one_never_runs_again(void **state)
{
    static const char *const keys[] = {"k"};
    char ids[5][64];
    stage_set(&stage,
              LOG "\"start\": [\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "}, "
                  "\"c\": {" S "}, \"d\": {" S "}, \"e\": {" S "}, \"f\": {" S "}}");
    char *run = start(&stage, "t", "");
    for (size_t i = 0; i < 5; i++)
        INSIDE(&stage, script_ask(&script_calls[i], keys, 1));
    assert_run(&stage, run, RUNNING, ""); /* the slow sibling */
    INSIDE(&stage, script_write(&script_calls[5], "", "{\"log\":[\"f\"]}"));
    Renga__V1__Run *waiting = get(&stage, run);
    assert_int_equal(waiting->n_interrupts, 5);
    for (size_t i = 0; i < 5; i++) {
        snprintf(ids[i], 64, "%s", waiting->interrupts[i]->interrupt_id);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(ids[i], ids[j]);
    }
    for (size_t i = 0; i < 5; i++) {
        assert_non_null(resume_by_id(&stage, run, ids[i], "1"));
        assert_int_equal(script_live, 1);
        assert_int_equal(script_count, 7 + i);
        INSIDE(&stage, script_write(&script_calls[6 + i], "", ""));
    }
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"f\"]}");
    stage_clear(&stage);
}

static void new_input_takes_the_place_of_a_waiting_run(void **state)
{
    stage_set(&stage, LOG "\"start\": \"q\", \"nodes\": {\"q\": {\"kind\": \"ask\", \"question\": \"Well?\", \"into\": "
                          "\"x\"}}");
    char *first = start(&stage, "t", "");
    char *second = start(&stage, "t", "{\"log\":[\"n\"]}");
    assert_run(&stage, first, STOPPED, "");
    assert_run(&stage, second, WAITING, "");
    assert_null(resume(&stage, first, "1"));
    assert_string_equal(last_reason, "NOT_RESUMABLE");
    assert_non_null(resume(&stage, second, "1"));
    assert_run(&stage, second, SUCCEEDED, "{\"log\":[\"n\"],\"x\":1}");
    stage_clear(&stage);
}

static void a_run_pauses_before_and_after_nodes(void **state)
{
    stage_set(&stage, LOG "\"interrupt_before\": [\"b\"], \"interrupt_after\": [\"b\"], \"start\": \"a\", \"nodes\": {"
                          "\"a\": {\"kind\": \"set\", \"values\": {\"log\": [\"a\"]}, \"on\": {\"done\": \"b\"}},"
                          "\"b\": {\"kind\": \"set\", \"values\": {\"log\": [\"b\"]}}}");
    char *run = start(&stage, "t", "");
    Renga__V1__Run *waiting = get(&stage, run);
    assert_int_equal(waiting->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_INTERRUPT_BEFORE);
    assert_string_equal(waiting->interrupts[0]->node, "b");
    assert_string_equal(waiting->output_json, "{\"log\":[\"a\"]}");
    resume(&stage, run, NULL);
    waiting = get(&stage, run);
    assert_int_equal(waiting->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_INTERRUPT_AFTER);
    assert_string_equal(waiting->output_json, "{\"log\":[\"a\",\"b\"]}");
    resume(&stage, run, NULL);
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"b\"]}");
    stage_clear(&stage);
}

/* ---- graphs within ------------------------------------------------------------------------------------------------
 */

static void branches_come_together_in_the_order_of_their_items(void **state)
{
    stage_set(&stage, EACH);
    char *run = start(&stage, "t", "{\"items\":[\"a\",\"b\",\"c\"]}");
    assert_int_equal(script_live, 3);
    assert_string_equal(script_calls[1].state, "{\"item\":\"b\"}");
    answer_branch(2);
    answer_branch(0);
    answer_branch(1);
    assert_run(&stage, run, SUCCEEDED,
               "{\"items\":[\"a\",\"b\",\"c\"],\"out\":[{\"r\":\"r0\"},{\"r\":\"r1\"},{\"r\":\"r2\"}]}");
    run = start(&stage, "u", "{\"items\":[]}");
    assert_run(&stage, run, SUCCEEDED, "{\"items\":[],\"out\":[]}");
    stage_clear(&stage);
}

static void a_failed_branch_alone_runs_again(void **state)
{
    stage_set(&stage, EACH);
    char *run = start(&stage, "t", "{\"items\":[\"a\",\"b\",\"c\"]}");
    answer_branch(0);
    INSIDE(&stage, script_break(script_find("n", "w[1]", -1), INTERNAL, "broken"));
    assert_run(&stage, run, RUNNING, "");
    answer_branch(2);
    Renga__V1__Run *stopped = get(&stage, run);
    assert_int_equal(stopped->state, FAILED);
    assert_int_equal(stopped->n_failures, 1);
    assert_string_equal(stopped->failures[0]->path, "w[1]");
    resume(&stage, run, NULL);
    assert_int_equal(script_live, 1);
    answer_branch(1);
    assert_run(&stage, run, SUCCEEDED, "");
    assert_int_equal(script_count, 4);
    stage_clear(&stage);
}

static void a_cancel_reaches_the_branches(void **state)
{
    stage_set(&stage, EACH);
    char *run = start(&stage, "t", "{\"items\":[\"a\",\"b\",\"c\"]}");
    answer_branch(1);
    cancel(&stage, run);
    assert_true(script_calls[0].cancelled && script_calls[2].cancelled);
    assert_run(&stage, run, STOPPED, "");
    resume(&stage, run, NULL);
    assert_int_equal(script_live, 2);
    answer_branch(0);
    answer_branch(2);
    assert_run(&stage, run, SUCCEEDED, "");
    stage_clear(&stage);
}

#define SUB(memory)                                                                                                    \
    "\"state\": {\"x\": {\"type\": \"any\"}, \"n\": {\"type\": \"integer\"}},"                                         \
    "\"start\": \"g\", \"nodes\": {\"g\": {\"kind\": \"graph\", \"graph\": \"sub\", \"may_reach\": [\"p\"]}, \"p\": "  \
    "{\"kind\": \"set\", \"values\": {\"n\": 7}}},"                                                                    \
    "\"graphs\": {\"sub\": {\"memory\": \"" memory "\", \"state\": {\"x\": {\"type\": \"any\"}, \"seen\": {\"type\": " \
    "\"string[]\", \"reduce\": \"append\"}}, \"input\": [\"x\"], \"output\": [\"x\"], \"start\": \"n\", \"nodes\": "   \
    "{\"n\": {" S "}}}}"

static void a_sub_graph_remembers_where_it_is_to(void **state)
{
    static const char *const wanted[] = {"{\"x\":1,\"seen\":[]}", "{\"x\":1,\"seen\":[\"s\"]}"};
    for (int remembers = 0; remembers < 2; remembers++) {
        stage_set(&stage, remembers ? SUB("thread") : SUB("fresh"));
        for (int i = 0; i < 2; i++) {
            char *run = start(&stage, "t", "{\"x\":1}");
            assert_string_equal(script_calls[i].state, wanted[i && remembers]);
            INSIDE(&stage, script_write(script_find("n", "g", -1), "", "{\"seen\":[\"s\"]}"));
            assert_run(&stage, run, SUCCEEDED, "{\"x\":1}");
        }
        stage_clear(&stage);
    }
}

static void assert_state(ProtobufCBinaryData found, const struct state *state)
{
    struct buffer wanted;
    buffer_init(&wanted, 1 << 20);
    state_snapshot(state, &wanted);
    assert_true(wanted.length > 0);
    assert_int_equal(found.len, wanted.length);
    assert_memory_equal(found.data, wanted.data, wanted.length);
    buffer_fini(&wanted);
}

static void a_snapshot_is_packed_in_one_pass_with_each_state_in_its_place(void **state)
{
    struct arena arena;
    stage_set(&stage, SUB("thread"));
    char *run = start(&stage, "t", "{\"x\":1}");
    INSIDE(&stage, script_write(script_find("n", "g", -1), "", "{\"seen\":[\"s\"]}"));
    assert_run(&stage, run, SUCCEEDED, "{\"x\":1}");
    const struct thread *thread = shard_find_thread(&stage.runner->shards[0], stage_tenant, "t");
    arena_init(&arena, NULL, 0, 1 << 20);
    struct snapshot snapshot = snapshot_make(thread, &arena);
    size_t size = protobuf_c_message_get_packed_size(&snapshot.message->base);
    uint8_t *packed = arena_alloc(&arena, size + 1), *again = arena_alloc(&arena, size);
    packed[size] = 0x5a;
    snapshot_pack(&snapshot, packed);
    assert_int_equal(packed[size], 0x5a);
    Renga__V1__ThreadSnapshot *read = renga__v1__thread_snapshot__unpack(NULL, size, packed);
    assert_non_null(read);
    assert_int_equal(read->n_memories, 1);
    assert_state(read->root->state, thread->root->state);
    assert_state(read->memories[0]->state, thread->memories->state);
    assert_int_equal(protobuf_c_message_pack(&read->base, again), size);
    assert_memory_equal(again, packed, size);
    renga__v1__thread_snapshot__free_unpacked(read, NULL);
    arena_fini(&arena);
    stage_clear(&stage);
}

static void a_jump_to_the_parent_drops_what_the_sub_graph_wrote(void **state)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    stage_set(&stage, SUB("fresh"));
    char *run = start(&stage, "t", "{\"x\":1}");
    response.goto_parent = (char *)(uintptr_t) "p";
    response.update_json = (char *)(uintptr_t) "{\"x\":\"jumped\"}";
    INSIDE(&stage, script_respond(script_find("n", "g", -1), &response));
    assert_run(&stage, run, SUCCEEDED, "{\"x\":\"jumped\",\"n\":7}");
    stage_clear(&stage);
}

static void each_visit_of_a_sub_graph_has_keys_of_its_own(void **state)
{
    stage_set(&stage, LOG "\"start\": \"w\", \"nodes\": {"
                          "\"w\": {\"kind\": \"graph\", \"graph\": \"sub\", \"on\": {\"done\": \"c\"}}, "
                          "\"c\": {" S ", \"on\": {\"again\": \"w\", \"done\": \"end\"}, "
                          "\"visits\": {\"max\": 5, \"then\": \"end\"}}}, "
                          "\"graphs\": {\"sub\": {\"state\": {\"r\": {\"type\": \"string\"}}, "
                          "\"start\": \"n\", \"nodes\": {\"n\": {" S "}}}}");
    char *run = start(&stage, "t", "");
    struct script_call *first = script_find("n", NULL, -1);
    INSIDE(&stage, script_break(first, INTERNAL, "broken"));
    resume(&stage, run, NULL);
    struct script_call *again = script_find("n", NULL, -1);
    assert_string_equal(again->key, first->key); /* of the same visit */
    INSIDE(&stage, script_write(again, "", ""));
    INSIDE(&stage, script_write(script_find("c", NULL, -1), "again", ""));
    assert_string_not_equal(script_find("n", NULL, -1)->key, first->key);
    stage_clear(&stage);
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_delivered_whatever_it_is),
        cmocka_unit_test(two_interrupts_of_one_node_wait_for_both),
        cmocka_unit_test(five_branches_ask_and_an_answered_one_never_runs_again),
        cmocka_unit_test(new_input_takes_the_place_of_a_waiting_run),
        cmocka_unit_test(a_run_pauses_before_and_after_nodes),
        cmocka_unit_test(branches_come_together_in_the_order_of_their_items),
        cmocka_unit_test(a_failed_branch_alone_runs_again),
        cmocka_unit_test(a_cancel_reaches_the_branches),
        cmocka_unit_test(a_sub_graph_remembers_where_it_is_to),
        cmocka_unit_test(a_snapshot_is_packed_in_one_pass_with_each_state_in_its_place),
        cmocka_unit_test(a_jump_to_the_parent_drops_what_the_sub_graph_wrote),
        cmocka_unit_test(each_visit_of_a_sub_graph_has_keys_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
