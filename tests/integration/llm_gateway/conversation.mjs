// One conversation with a tool, held by three clients that others wrote: OpenAI's SDK at the OpenAI HTTP interface, grpc-js and
// python3-grpcio over gRPC; each whole and in pieces. The transcripts must be the same, and so must what the upstream saw.
// RENGA_BIN=<folder of renga-llm-gateway> RENGA_PROTO=<folder of the descriptor set> node conversation.mjs
import { execFileSync, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import assert from 'node:assert/strict'
import OpenAI from 'openai'
import { chat, check, children, here, open, outcome, stream } from './gateway.mjs'

const upstream = spawn('/usr/bin/python3', [here('upstream.py')], { stdio: ['pipe', 'pipe', 'inherit'] })
children.push(upstream)
const [, upstreamPort] = await new Promise(resolve =>
  createInterface(upstream.stdout).once('line', line => resolve(line.split(' '))))
const log = await open('openai', `http://127.0.0.1:${upstreamPort}/v1`, ['converses'], ['--llm_gateway.http.listen=127.0.0.1:0'])
const portOf = name => new RegExp(`${name}.*?port (\\d+)`).exec(log)[1]
const seen = async () => (await (await fetch(`http://127.0.0.1:${upstreamPort}/seen/converses`)).json()).body

const QUESTION = '京都の天気は? 🌧', RESULT = '21 °C'
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } }
const sdk = new OpenAI({ baseURL: `http://127.0.0.1:${portOf('llm_gateway\\.listening')}/v1`, apiKey: 'any', maxRetries: 0 })

async function bySdk(streams) {
  const tools = [{ type: 'function', function: { name: 'get_weather', parameters: PARAMETERS } }]
  const messages = [{ role: 'user', content: QUESTION }]
  const ask = async () => {
    const request = { model: 'converses', messages, tools }
    const completion = streams ? await sdk.chat.completions.stream({ ...request, stream_options: { include_usage: true } })
      .finalChatCompletion() : await sdk.chat.completions.create(request)
    messages.push(completion.choices[0].message)
    const { finish_reason: finish, message } = completion.choices[0]
    return { text: message.content ?? '', finish, tokens: completion.usage.total_tokens,
      calls: (message.tool_calls ?? []).map(call => [call.id, call.function.name, call.function.arguments]) }
  }
  const first = await ask()
  messages.push({ role: 'tool', tool_call_id: first.calls[0][0], content: RESULT })
  return [first, await ask()]
}

async function byGrpcJs(streams) {
  const tools = [{ name: 'get_weather', parameters_json: JSON.stringify(PARAMETERS) }]
  const messages = [{ role: 'CHAT_ROLE_USER', content: QUESTION }]
  const gathered = async request => {
    const { events, text, details } = await stream(request)
    const calls = []
    for (const { tool_call: piece } of events.filter(event => event.tool_call)) {
      calls[piece.index] ??= { id: piece.id, name: piece.name, arguments_json: '' }
      calls[piece.index].arguments_json += piece.arguments_json
    }
    assert(events.at(-1)?.finish, details)
    return { message: { role: 'CHAT_ROLE_ASSISTANT', content: text, tool_calls: calls }, finish: events.at(-1).finish }
  }
  const ask = async () => {
    const request = { model: 'converses', messages, tools }
    const { message, finish } = streams ? await gathered(request) : (await chat(request)).response
    messages.push(message)
    return { text: message.content, finish: finish.finish_reason.replace('FINISH_REASON_', '').toLowerCase(),
      tokens: finish.usage.input_tokens + finish.usage.output_tokens,
      calls: message.tool_calls.map(call => [call.id, call.name, call.arguments_json]) }
  }
  const first = await ask()
  messages.push({ role: 'CHAT_ROLE_TOOL', tool_call_id: first.calls[0][0], content: RESULT })
  return [first, await ask()]
}

const byPython = streams => JSON.parse(execFileSync('/usr/bin/python3', [here('conversation.py'), portOf('rpc\\.listening'),
  streams ? 'stream' : 'whole', QUESTION, RESULT, JSON.stringify(PARAMETERS)], { encoding: 'utf8' }))

const EXPECTED = [{ text: '', finish: 'tool_calls', tokens: 30, calls: [['call_1', 'get_weather', '{"city":"京都"}']] },
  { text: `It says: ${RESULT}`, finish: 'stop', tokens: 30, calls: [] }]
let asked

for (const streams of [false, true])
  for (const [name, held] of [['the openai SDK', bySdk], ['grpc-js', byGrpcJs], ['python3-grpcio', byPython]])
    await check(`${name} holds the conversation, ${streams ? 'in pieces' : 'whole'}, and the upstream sees the same`, async () => {
      assert.deepEqual(await held(streams), EXPECTED)
      const body = JSON.parse(await seen())
      delete body.stream
      delete body.stream_options
      asked ??= body
      assert.deepEqual(body, asked)
    })

process.exit(outcome.failures ? 1 : 0)
