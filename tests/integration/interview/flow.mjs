// The course of an interview as its specification has it, with a scripted model, from Node: greeting, plan, questions, a
// follow-up by what the Reviewer misses, confirmation; in Japanese and English. What each agent was shown is looked at too.
// RENGA_BIN=<folder of renga> RENGA_PROTO_FILES=<folder proto> node flow.mjs
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import assert from 'node:assert/strict'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { check, finish } from '../rpc/checks.mjs'

const proto = join(dirname(fileURLToPath(import.meta.url)), '../../../proto')
const { FormInterview } = grpc.loadPackageDefinition(loadSync('renga/v1/interview.proto',
  { includeDirs: [proto], keepCase: true, longs: Number, enums: String })).renga.v1

// ---- the model: an agent is known by its tools, and a script says what each of its turns calls ----------------------

const AGENTS = { set_language: 'greeter', create_plan: 'architect', subtask: 'interviewer', review: 'reviewer' }
const journal = []
let script = []

const upstream = createServer(async (request, response) => {
  let body = ''
  for await (const piece of request) body += piece
  const asked = JSON.parse(body)
  const tools = (asked.tools ?? []).map(tool => tool.function.name)
  const agent = AGENTS[Object.keys(AGENTS).find(name => tools.includes(name))]
  const turn = script.shift() ?? { agent: 'nobody' }
  journal.push({ agent, expected: turn.agent, tools, text: asked.messages.map(message => message.content ?? '').join('\n'), asked })
  const calls = Object.entries(turn.calls ?? {}).map(([name, how], i) =>
    ({ id: `call-${i}`, type: 'function', function: { name, arguments: JSON.stringify(how) } }))
  const message = calls.length ? { role: 'assistant', content: null, tool_calls: calls } : { role: 'assistant', content: turn.text ?? '' }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'scripted', usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    choices: [{ index: 0, finish_reason: calls.length ? 'tool_calls' : 'stop', message }] }))
})
await new Promise(resolve => upstream.listen(0, '127.0.0.1', resolve))

// ---- the suite ------------------------------------------------------------------------------------------------------

const suite = spawn(join(process.env.RENGA_BIN, 'renga'), ['serve', '--rpc.listen=127.0.0.1:0', '--http.listen=', '--log.format=json',
  '--orchestrator.store=memory:', '--tool_runner.store=memory:', '--tool_runner.record=memory:', '--llm_gateway.key=k',
  `--llm_gateway.upstream=http://127.0.0.1:${upstream.address().port}/v1`, '--llm_gateway.models=scripted'], { stdio: ['ignore', 'ignore', 'pipe'] })
process.on('exit', () => suite.kill('SIGKILL'))
const port = await new Promise(resolve => createInterface(suite.stderr).on('line', line => {
  const found = /"rpc\.listening".*?port (\d+)/.exec(line)
  if (found) resolve(found[1])
}))
const interview = new FormInterview(`127.0.0.1:${port}`, grpc.credentials.createInsecure())
const call = (method, request) => new Promise((resolve, reject) =>
  interview[method](request, { deadline: Date.now() + 60000 }, (error, reply) => error ? reject(error) : resolve(reply)))

const TEXTS = {
  en: { where: 'English, and I live in Japan', name: 'Ada Lovelace', story: 'I slipped and fell', place: 'in the kitchen',
    remaining: 'You still need to', follow: 'Where did that happen?', value: 'I slipped and fell' },
  ja: { where: '日本語で、日本に住んでいます', name: '山田太郎', story: '転びました', place: '台所です', remaining: 'まだ必要なこと',
    follow: 'どちらで起きましたか。', value: '転びました' },
}
const form = {
  fields: [{ id: 'a', field_id: 'name', label: 'name', required: true, sort_order: 1, type: 'FIELD_TYPE_TEXT' },
    { id: 'b', field_id: 'story', label: 'story', intent: 'to help', required: true, sort_order: 2, type: 'FIELD_TYPE_TEXT' }],
  facts: [{ id: 'k', form_field_id: 'b', fact_key: 'place', fact: 'where it happened', questioning_hints: 'where' }],
}
const plan = { fields: form.fields.map(({ field_id, label, required }) => ({ field_id, label, required, intent: 'x' })) }

for (const [language, words] of Object.entries(TEXTS)) {
  let reply
  const step = async (method, request, turns) => {
    script = [...turns]
    journal.length = 0
    reply = await call(method, request)
    assert.deepEqual(journal.map(turn => turn.agent), turns.map(turn => turn.agent), 'the agents in their order')
    return reply
  }
  const answer = (text, turns) => step('Answer', { session_id: reply.session_id, text }, turns)
  const tools = () => reply.tool_calls.map(one => one.call.name)

  await check(`${language}: the Greeter greets, and is told again what is left to do when it calls no tool`, async () => {
    await step('Start', { form, labels: { flow: language } }, [
      { agent: 'greeter', text: 'Hello.' }, { agent: 'greeter', calls: { ask: { text: 'Hello! / こんにちは' } } }])
    assert.equal(reply.response_text, 'Hello! / こんにちは')
    assert.deepEqual(journal[0].tools.toSorted(), ['ask', 'set_country', 'set_language', 'set_timezone'])
    assert.match(journal[1].text, /You still need to[^]*set_language[^]*set_country[^]*set_timezone|set_language[^]*set_country[^]*set_timezone/)
    assert.deepEqual(tools(), ['ask'])
    assert.equal(reply.state.agent_stack[0].agent, 'INTERVIEW_AGENT_GREETER')
  })

  await check(`${language}: it sets what it learns, a failed tool goes back to it, and the Architect and the Interviewer follow`, async () => {
    await answer(words.where, [
      { agent: 'greeter', calls: { set_language: { language }, set_country: { country: 'Japan' } } },
      { agent: 'greeter', calls: { set_country: { country: 'JP' }, set_timezone: { timezone: 'Asia/Tokyo' } } },
      { agent: 'greeter', text: 'done' },
      { agent: 'architect', calls: { create_plan: plan } },
      { agent: 'interviewer', calls: { ask: { text: 'name?' } } }])
    assert.match(journal[1].text, /country/)
    assert.deepEqual(journal[3].tools, ['create_plan'])
    assert.deepEqual(journal[4].tools.toSorted(), ['ask', 'subtask'])
    assert.match(journal[4].text, /field_id: name/)
    assert.deepEqual(reply.state.bootstrap, { language, country: 'JP', timezone: 'Asia/Tokyo' })
    assert.equal(reply.tool_calls[1].error !== '', true, 'the failed call is told')
    assert.equal(reply.state.field_statuses[0].state, 'FIELD_STATE_INTERVIEWING')
  })

  await check(`${language}: an answer goes to the Reviewer in a sub-session, and the next field follows`, async () => {
    await answer(words.name, [
      { agent: 'interviewer', calls: { subtask: { agent: 'reviewer' } } },
      { agent: 'reviewer', calls: { review: { passed: true, field_value: words.name } } },
      { agent: 'interviewer', calls: { ask: { text: 'story?' } } }])
    const told = journal[1].text
    assert.ok(told.includes(words.name) && /<summary>[^]*<field>[^]*"name"[^]*<facts>[^]*<known>[^]*<conversation>/.test(told), told)
    assert.deepEqual(journal[1].tools, ['review'])
    assert.equal(journal[1].asked.messages.length, 2, 'the sub-session has not heard the conversation itself')
    assert.deepEqual(tools(), ['review', 'subtask', 'ask'], 'in the order in which they ended')
    assert.equal(reply.state.collected_fields.name, words.name)
    assert.match(journal[2].text, /field_id: story/)
  })

  await check(`${language}: what the Reviewer misses becomes a follow-up question`, async () => {
    await answer(words.story, [
      { agent: 'interviewer', calls: { subtask: { agent: 'reviewer', field_id: 'story' } } },
      { agent: 'reviewer', calls: { review: { passed: false, missing_facts: ['place'], feedback: 'no place', field_value: words.story } } },
      { agent: 'interviewer', calls: { ask: { text: words.follow } } }])
    assert.match(journal[2].text, /missing_facts[^]*place/)
    assert.equal(reply.response_text, words.follow)
    assert.equal(reply.state.follow_up_count, 1)
    assert.equal(reply.state.field_statuses[1].state, 'FIELD_STATE_INTERVIEWING')
    await assert.rejects(call('Confirm', { session_id: reply.session_id }), { code: grpc.status.FAILED_PRECONDITION })
  })

  await check(`${language}: when all is known the values are shown, and the form is confirmed`, async () => {
    await answer(words.place, [
      { agent: 'interviewer', calls: { subtask: { agent: 'reviewer' } } },
      { agent: 'reviewer', calls: { review: { passed: true, extracted_facts: [`place: ${words.place}`], field_value: words.place } } }])
    assert.match(journal[1].text, new RegExp(words.story), 'the Reviewer knows what was said of the field before')
    assert.ok(!reply.awaiting_user_response)
    assert.ok(reply.response_text.includes(words.name), reply.response_text)
    const { state } = await call('Confirm', { session_id: reply.session_id })
    assert.equal(state.confirmed, true)
    assert.ok(state.collected_fields.story.includes(words.value), state.collected_fields.story)
  })
}

await check('an agent that goes round too often ends the call with LOOP_LIMIT, and the session is as before', async () => {
  script = [{ agent: 'greeter', calls: { ask: { text: 'Hello' } } }]
  const { session_id } = await call('Start', { form, max_loops: 3 })
  const { state: before } = await call('GetSession', { session_id })
  script = Array.from({ length: 20 }, () => ({ agent: 'greeter', text: 'hm' }))
  const error = await call('Answer', { session_id, text: 'x' }).then(() => null, error => error)
  assert.equal(error?.code, grpc.status.RESOURCE_EXHAUSTED)
  assert.match(error.metadata.get('grpc-status-details-bin')[0].toString('latin1'), /LOOP_LIMIT/)
  assert.deepEqual((await call('GetSession', { session_id })).state, before)
})

await check('the text of AnswerStream comes before the reply, and is the same', async () => {
  script = [{ agent: 'greeter', calls: { ask: { text: 'Hello' } } }]
  const { session_id } = await call('Start', { form })
  script = [{ agent: 'greeter', calls: { ask: { text: 'Which country?' } } }]
  const events = []
  for await (const event of interview.AnswerStream({ session_id, text: 'hi' })) events.push(event)
  assert.equal(events.filter(event => event.text).map(event => event.text).join(''), 'Which country?')
  assert.equal(events.at(-1).reply.response_text, 'Which country?')
})

interview.close()
suite.kill('SIGTERM')
finish()
