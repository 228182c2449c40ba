/* What models do not take. */
#include "provider/capability.h"
#include "routing/deployment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

static void models_are_known_by_their_names(void **state)
{
    assert_int_equal(capability_of("gpt-4.1-mini").refused_parameters, 0);
    assert_int_equal(capability_of("o3-mini").refused_parameters, PARAMETER_SAMPLING | PARAMETER_PENALTIES);
    assert_int_equal(capability_of("openai/GPT-5.1").refused_parameters, PARAMETER_SAMPLING | PARAMETER_PENALTIES);
    assert_int_equal(capability_of("gpt-5-chat-latest").refused_parameters, 0);
    assert_true(capability_of("gpt-5-chat-latest").new_token_limit);
    assert_true(capability_of("o1-mini").no_tools);
    assert_false(capability_of("o1").no_tools);
    assert_int_equal(capability_of("o1x").refused_parameters, 0);
    assert_true(capability_of("gpt-oss:20b").effort_words);
    assert_int_equal(capability_of("claude-3-5-sonnet").refused_parameters, 0);
    assert_int_equal(capability_of("claude-opus-4-1").refused_parameters, 0);
    assert_int_equal(capability_of("claude-opus-4-8").refused_parameters, PARAMETER_SAMPLING);
    assert_true(capability_of("claude-sonnet-5").adaptive_thinking);
}

static enum parameter refused(const char *field, const char *body)
{
    return capability_refused(field, body, strlen(body));
}

static void a_refusal_is_known_by_its_field_or_its_text(void **state)
{
    assert_int_equal(refused("sampling.temperature", "{\"code\":\"unsupported_value\"}"), PARAMETER_TEMPERATURE);
    assert_int_equal(refused("sampling.seed", "Unsupported parameter: 'seed'"), PARAMETER_SEED);
    assert_int_equal(refused("", "`temperature` is deprecated for this model."), PARAMETER_TEMPERATURE);
    assert_int_equal(refused("", "\"llama3\" does not support thinking"), PARAMETER_EFFORT);
    assert_int_equal(refused("messages", "temperature is not supported"), PARAMETERS);
    assert_int_equal(refused("sampling.temperature", "must be at most 2"), PARAMETERS);
    assert_int_equal(refused("", "images are not supported"), PARAMETERS);
}

static void only_what_the_request_has_is_missed(void **state)
{
    Renga__V1__ChatRequest request = RENGA__V1__CHAT_REQUEST__INIT;
    Renga__V1__Sampling sampling = RENGA__V1__SAMPLING__INIT;
    struct arena arena;
    Renga__V1__Degradation **list;
    assert_int_equal(capability_missed(&request, ~0u), 0);
    sampling.maybe_top_p_case = RENGA__V1__SAMPLING__MAYBE_TOP_P_TOP_P;
    sampling.maybe_seed_case = RENGA__V1__SAMPLING__MAYBE_SEED_SEED;
    request.sampling = &sampling;
    assert_int_equal(capability_missed(&request, PARAMETER_SAMPLING), PARAMETER_BIT(PARAMETER_TOP_P));
    arena_init(&arena, NULL, 0, 1 << 20);
    assert_int_equal(capability_degradations(&arena, capability_missed(&request, ~0u), NULL, 0, &list), 2);
    assert_string_equal(list[0]->part, "sampling.top_p");
    assert_string_equal(list[1]->part, "sampling.seed");
    assert_int_equal(list[1]->kind, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_SKIPPED);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_are_known_by_their_names),
        cmocka_unit_test(a_refusal_is_known_by_its_field_or_its_text),
        cmocka_unit_test(only_what_the_request_has_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
