// The OpenAI HTTP interface as OpenAI's own SDK meets it, and grpc-js beside it: one conversation, the same words.
// RENGA_BIN=<folder of renga-llm-gateway> node openai_http.mjs; one line a check, exit 1 when one fails.
import assert from 'node:assert/strict'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import OpenAI from 'openai'
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { SLOW, check, failure, finish, here, start } from './checks.mjs'

const LEAVE_MS = 20

const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

const upstream = await start('/usr/bin/python3', [here('upstream.py')], /listening (\d+) (\S+)\n/, 'pipe')
const [, upstreamPort, models] = upstream.match
const gatewayLog = await start(`${process.env.RENGA_BIN}/renga-llm-gateway`,
  ['--rpc.listen=127.0.0.1:0', '--http.listen=', '--log.format=json', '--loops=2', '--llm_gateway.key=sk-test-0123456789',
    '--llm_gateway.http.listen=127.0.0.1:0', `--llm_gateway.upstream=http://127.0.0.1:${upstreamPort}/v1`,
    `--llm_gateway.models=${models}`, '--llm_gateway.idle_timeout=3s',
    '--llm_gateway.attempts=1', '--llm_gateway.breaker=off'], /llm_gateway\.listening.*port (\d+)/)
const rpcPort = /rpc\.listening.*?port (\d+)/.exec(gatewayLog.seen)[1]
const baseURL = `http://127.0.0.1:${gatewayLog.match[1]}/v1`
const client = new OpenAI({ baseURL, apiKey: 'any', maxRetries: 0, timeout: 20000 * SLOW })
const completions = client.chat.completions
const hello = [{ role: 'user', content: '連歌とは?' }]
const seen = async model => (await fetch(`http://127.0.0.1:${upstreamPort}/seen/${model}`)).json()
const bodySeen = async model => JSON.parse((await seen(model)).body)

const { renga } = grpc.loadPackageDefinition(loadSync('renga/v1/llm_gateway.proto',
  { includeDirs: [here('../../../proto')], keepCase: true, longs: Number, enums: String, oneofs: true, defaults: true }))
const gateway = new renga.v1.LlmGateway(`127.0.0.1:${rpcPort}`, grpc.credentials.createInsecure())
const chat = request => new Promise((resolve, reject) =>
  gateway.Chat(request, (error, response) => error ? reject(error) : resolve(response)))

await check('a question is answered whole, with its usage and id', async () => {
  const { data, response, request_id } = await completions.create({ model: 'chat', messages: hello }).withResponse()
  assert.equal(data.object, 'chat.completion')
  assert.equal(data.choices[0].message.content, '古池や蛙飛びこむ水の音 🐸 – an old pond')
  assert.equal(data.choices[0].finish_reason, 'stop')
  assert.equal(data.usage.total_tokens, 30)
  assert.equal(data.usage.prompt_tokens_details.cached_tokens, 5)
  assert.equal(data.model, 'scripted-2026')
  assert.equal(response.headers.get('content-type'), 'application/json')
  assert.match(request_id, /^req_[0-9a-f]{32}$/)
  assert.equal(response.headers.get('x-renga-deployment'), 'upstream')
  assert.equal(response.headers.get('x-renga-cache'), null)
})

await check('an idempotency key brings the same answer again, and the headers say so', async () => {
  const again = { headers: { 'idempotency-key': 'the pond' } }
  const ask = () => completions.create({ model: 'chat', messages: hello }, again).withResponse()
  const first = await ask(), second = await ask()
  assert.equal(first.response.headers.get('x-renga-cache'), 'stored')
  assert.equal(second.response.headers.get('x-renga-cache'), 'repeated')
  assert.equal(second.data.choices[0].message.content, first.data.choices[0].message.content)
  assert.equal(second.data.usage.total_tokens, 0)
})

await check('the same conversation has the same words over gRPC, whole and in pieces', async () => {
  const over = await chat({ model: 'chat', messages: [{ role: 'CHAT_ROLE_USER', content: hello[0].content }] })
  const rpcBody = await bodySeen('chat')
  const whole = await completions.create({ model: 'chat', messages: hello })
  assert.deepEqual(await bodySeen('chat'), rpcBody, 'the upstream is asked otherwise')
  let text = ''
  for await (const chunk of await completions.create({ model: 'chat', messages: hello, stream: true }))
    text += chunk.choices[0]?.delta.content ?? ''
  assert.equal(whole.choices[0].message.content, over.message.content)
  assert.equal(text, over.message.content)
})

await check('a stream has its role first, its finish, and its usage in a chunk of its own', async () => {
  const chunks = []
  const stream = await completions.create({ model: 'chat', messages: hello, stream: true, stream_options: { include_usage: true } })
  for await (const chunk of stream) chunks.push(chunk)
  assert.equal(chunks[0].choices[0].delta.role, 'assistant')
  assert.equal(chunks.at(-2).choices[0].finish_reason, 'stop')
  assert.deepEqual(chunks.at(-1).choices, [])
  assert.equal(chunks.at(-1).usage.completion_tokens, 9)
  assert(chunks.slice(0, -1).every(chunk => chunk.usage === null && chunk.object === 'chat.completion.chunk'))
})

await check('the helper of streams gathers text and calls', async () => {
  const text = await completions.stream({ model: 'chat', messages: hello }).finalContent()
  assert(text.endsWith('an old pond'))
  const completion = await completions.stream({ model: 'tools', messages: hello, stream_options: { include_usage: true } })
    .finalChatCompletion()
  const calls = completion.choices[0].message.tool_calls
  assert.deepEqual(calls.map(call => [call.id, call.function.name, JSON.parse(call.function.arguments)]),
    [['call_a', 'search', { q: 'pond' }], ['call_b', 'weather', { city: '京都' }]])
  assert.equal(completion.choices[0].finish_reason, 'tool_calls')
  assert.equal(completion.usage.total_tokens, 30)
})

const WEATHER = { type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } }

await check('a tool is called, answered, and the conversation goes on, whole and in pieces', async () => {
  for (const stream of [false, true]) {
    const ask = async messages => {
      const request = { model: 'converses', messages, tools: [WEATHER], tool_choice: 'auto', parallel_tool_calls: false }
      const completion = stream ? await completions.stream(request).finalChatCompletion() : await completions.create(request)
      return completion.choices[0].message
    }
    const first = await ask(hello)
    assert.equal(JSON.parse(first.tool_calls[0].function.arguments).city, '京都')
    const second = await ask([...hello, first, { role: 'tool', tool_call_id: first.tool_calls[0].id, content: '21 °C' }])
    assert.equal(second.content, 'It says: 21 °C')
    assert.equal((await bodySeen('converses')).parallel_tool_calls, false)
  }
})

await check('runTools runs the tool and comes to an end, whole and in pieces', async () => {
  for (const stream of [false, true]) {
    const asked = []
    const tool = zodFunction({ name: 'get_weather', parameters: z.object({ city: z.string() }), description: 'Weather of a city',
      function: ({ city }) => { asked.push(city); return `rain in ${city}` } })
    const runner = completions.runTools({ model: 'converses', messages: hello, tools: [tool], stream })
    assert.equal(await runner.finalContent(), 'It says: rain in 京都')
    assert.deepEqual(asked, ['京都'])
  }
})

await check('parse() gives what the schema says', async () => {
  const plan = z.object({ title: z.string(), steps: z.array(z.number()) })
  const request = { model: 'structured', messages: hello, response_format: zodResponseFormat(plan, 'plan') }
  const completion = await completions.parse(request)
  assert.deepEqual(completion.choices[0].message.parsed, { title: '池', steps: [1, 2] })
  const streamed = await completions.stream(request).finalChatCompletion()
  assert.deepEqual(streamed.choices[0].message.parsed, { title: '池', steps: [1, 2] })
  const { response_format } = await bodySeen('structured')
  assert.equal(response_format.json_schema.strict, true)
  assert.equal(response_format.json_schema.schema.properties.title.type, 'string')
})

await check('parse() sees a refusal, a length and a filter for what they are', async () => {
  const request = model => ({ model, messages: hello, response_format: zodResponseFormat(z.object({ a: z.string() }), 'a') })
  const refused = (await completions.parse(request('refuses'))).choices[0].message
  assert.equal(refused.refusal, 'I would rather not.')
  assert.equal(refused.parsed, null)
  assert.equal((await failure(completions.parse(request('stops-short')))).constructor.name, 'LengthFinishReasonError')
  assert.equal((await failure(completions.parse(request('filtered')))).constructor.name, 'ContentFilterFinishReasonError')
})

await check('thinking comes in a field of its own', async () => {
  assert.equal((await completions.create({ model: 'thinks', messages: hello })).choices[0].message.reasoning_content, 'let me see')
  let thought = ''
  for await (const chunk of await completions.create({ model: 'thinks', messages: hello, stream: true }))
    thought += chunk.choices[0].delta.reasoning_content ?? ''
  assert.equal(thought, 'let me see')
})

await check('models are listed and found, and one that is not there is not', async () => {
  const names = []
  for await (const model of client.models.list()) names.push(model.id)
  assert.equal(names.join(), models)
  assert.equal((await client.models.retrieve('chat')).owned_by, 'openai')
  assert((await failure(client.models.retrieve('nix'))) instanceof OpenAI.NotFoundError)
  const error = await failure(completions.create({ model: 'nix', messages: hello }))
  assert(error instanceof OpenAI.NotFoundError && error.code === 'model_not_found' && error.param === 'model', String(error))
})

await check('what is wrong with a request is said by name', async () => {
  const wrong = async more => failure(completions.create({ model: 'chat', messages: hello, ...more }))
  for (const [more, param, code] of [[{ n: 2 }, 'n', 'unsupported_parameter'], [{ logprobs: true }, 'logprobs', 'unsupported_parameter'],
    [{ temperature: 3 }, 'temperature', null], [{ max_completion_tokens: -1 }, 'max_completion_tokens', null],
    [{ tools: [WEATHER, WEATHER] }, 'tools[1].function.name', null], [{ messages: [] }, 'messages', null]]) {
    const error = await wrong(more)
    assert(error instanceof OpenAI.BadRequestError && error.param === param && error.code === code, `${param}: ${error} ${error.param} ${error.code}`)
  }
})

for (const [model, kind, status, code] of [['busy-ms', OpenAI.RateLimitError, 429, 'rate_limit_exceeded'],
  ['broken', OpenAI.InternalServerError, 503, 'unavailable'], ['locked', OpenAI.InternalServerError, 500, 'failed_precondition'],
  ['gone', OpenAI.NotFoundError, 404, 'model_not_found'], ['picky', OpenAI.BadRequestError, 400, null],
  ['short-json', OpenAI.InternalServerError, 500, 'data_loss']])
  await check(`'${model}' ends in ${status}, whole and in pieces`, async () => {
    for (const stream of [false, true]) {
      const error = await failure(completions.create({ model, messages: hello, stream }))
      assert(error instanceof kind && error.status === status && error.code === code, `${error.status} ${error.code} ${error.message}`)
    }
  })

await check('the SDK waits as long as it is told before it asks again', async () => {
  const began = Date.now()
  await failure(completions.create({ model: 'busy-ms', messages: hello }, { maxRetries: 1 }))
  const waited = Date.now() - began
  assert(waited >= 1250 && waited < 2000 * SLOW, `${waited} ms`)
})

await check('the SDK does not ask again where that cannot help', async () => {
  for (const model of ['poor', 'locked']) {
    const before = (await seen(model)).requests
    await failure(completions.create({ model, messages: hello }, { maxRetries: 3 }))
    assert.equal((await seen(model)).requests, before + 1, model)
  }
})

await check('a stream that breaks is an error, and never a silent end', async () => {
  for (const model of ['stalls', 'cuts-stream', 'ends-early', 'aborts', 'no-finish']) {
    let text = ''
    const error = await failure((async () => {
      for await (const chunk of await completions.create({ model, messages: hello, stream: true }))
        text += chunk.choices[0].delta.content ?? ''
    })())
    assert(error instanceof OpenAI.APIError && error.code === 'data_loss', `${model}: ${error.constructor.name} ${error.message}`)
    assert(text.length > 0, model)
  }
})

await check('the time a client gives is the time a call has', async () => {
  const began = Date.now()
  const answer = await fetch(`${baseURL}/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'hangs', messages: hello }),
    headers: { 'content-type': 'application/json', 'x-stainless-timeout': '0.3' } })
  assert.equal(answer.status, 504)
  assert.equal((await answer.json()).error.code, 'deadline_exceeded')
  assert(Date.now() - began < 1000 * SLOW, `${Date.now() - began} ms`)
})

// How long after the abort the upstream saw its client leave, in ms; the best of some, since this machine has other work.
async function leave(model, stream, tries = 5) {
  let best = Infinity
  for (let i = 0; i < tries && best > LEAVE_MS / 2; i++) {
    const controller = new AbortController()
    const { requests } = await seen(model)
    const asked = completions.create({ model, messages: hello, stream }, { signal: controller.signal })
    asked.catch(() => {})
    while ((await seen(model)).requests === requests) await sleep(5)
    if (model === 'endless') await (await asked)[Symbol.asyncIterator]().next()
    const since = process.hrtime.bigint()
    controller.abort()
    for (let waited = 0; waited < 200; waited++) {
      await sleep(10)
      const left = BigInt((await seen(model)).left_ns ?? 0)
      if (left > since) {
        best = Math.min(best, Number(left - since) / 1e6)
        break
      }
    }
  }
  return best
}

for (const [model, stream, when] of [['hangs', false, 'before its first byte'], ['hangs', true, 'before the first byte of a stream'],
  ['endless', true, 'in mid-stream']])
  await check(`an abort ${when} reaches the upstream within ${LEAVE_MS} ms`, async () => {
    const took = await leave(model, stream)
    console.log(`# ${took.toFixed(1)} ms`)
    assert(took <= LEAVE_MS * SLOW, `${took} ms`)
  })

await check('a hundred streams at once each get their own words', async () => {
  const texts = await Promise.all(Array.from({ length: 100 }, () => completions.stream({ model: 'drips', messages: hello }).finalContent()))
  assert(texts.every(text => text === 'slow'), JSON.stringify(texts.filter(text => text !== 'slow').slice(0, 3)))
})

finish()
