// Does node understand the contract as it stands? node contract.mjs [PROTO_DIR], with @grpc/grpc-js and
// @grpc/proto-loader from npm. One line a check, exit 1 when one fails.
import { readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import grpc from '@grpc/grpc-js'
import protoLoader from '@grpc/proto-loader'

const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '../../../proto'))
const files = readdirSync(root, { recursive: true }).filter(name => name.endsWith('.proto')).sort()
// No `defaults`: a field that was not sent stays undefined, so presence shows.
const options = { includeDirs: [root], keepCase: true, longs: Number, enums: String, oneofs: true }

let failures = 0
async function check(sentence, test) {
  try {
    const why = await test()
    if (why) throw new Error(why)
    console.log(`ok - ${sentence}`)
  } catch (error) {
    failures++
    console.log(`not ok - ${sentence}: ${error.message}`)
  }
}

const load = names => grpc.loadPackageDefinition(protoLoader.loadSync(names, options))

await check('proto-loader loads each file by itself', () => {
  for (const file of files) load([file])
})

await check('all services of renga.v1 become clients', () => {
  const renga = load(files).renga.v1
  const services = Object.keys(renga).filter(name => renga[name].service)
  for (const name of ['LlmGateway', 'Planner', 'ToolRunner', 'Reviewer', 'Orchestrator', 'NodeService'])
    if (!services.includes(name)) return `${name} is not among ${services.join(', ')}`
})

await check('methods say how they stream and whether they may be repeated', () => {
  const { Chat, ChatStream, ListModels } = load(files).renga.v1.LlmGateway.service
  if (Chat.responseStream || !ChatStream.responseStream) return 'ChatStream should be the one that streams'
  if (ListModels.options.idempotency_level !== 'NO_SIDE_EFFECTS') return 'ListModels should have no side effects'
})

await check('a request comes back from bytes as it was, a temperature of 0 included', () => {
  const { requestSerialize, requestDeserialize } = load(files).renga.v1.LlmGateway.service.Chat
  const request = { model: 'default', messages: [{ role: 'CHAT_ROLE_USER', content: '連歌とは何ですか' }],
    sampling: { temperature: 0, seed: 7 }, parallel_tool_calls: false, origin: { labels: { team: '北' } } }
  const back = requestDeserialize(requestSerialize(request))
  if (back.messages[0].content !== request.messages[0].content) return 'the text has changed'
  if (back.sampling.temperature !== 0 || back.parallel_tool_calls !== false) return 'a present zero got lost'
  if (back.sampling.maybe_temperature !== 'temperature') return 'temperature does not show that it is present'
  if (back.sampling.maybe_top_p || 'top_p' in back.sampling) return 'an absent top_p appeared'
  if (back.origin.labels.team !== '北') return 'a label got lost'
})

await check('Chat and ChatStream go over grpc-js, with typed details of a failure', async () => {
  const { LlmGateway } = load(files).renga.v1
  const rpc = protoLoader.loadSync(files, options)
  const server = new grpc.Server()
  server.addService(LlmGateway.service, {
    Chat: (call, reply) => {
      const metadata = new grpc.Metadata()
      const violation = { field: 'messages[0].role', description: 'is not set' }
      const details = encode(rpc['google.rpc.BadRequest'], { field_violations: [violation] })
      metadata.set('grpc-status-details-bin', encode(rpc['google.rpc.Status'], { code: 3, message: 'no role',
        details: [{ type_url: 'type.googleapis.com/google.rpc.BadRequest', value: details }] }))
      reply({ code: grpc.status.INVALID_ARGUMENT, details: 'no role', metadata })
    },
    ChatStream: call => {
      call.write({ text: '連' })
      call.write({ text: '歌' })
      call.write({ finish: { finish_reason: 'FINISH_REASON_STOP', usage: { output_tokens: 2 } } })
      call.end()
    }
  })
  const port = await new Promise((done, fail) => server.bindAsync('127.0.0.1:0',
    grpc.ServerCredentials.createInsecure(), (error, bound) => error ? fail(error) : done(bound)))
  const client = new LlmGateway(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), { 'grpc.enable_http_proxy': 0 })
  try {
    const events = []
    for await (const event of client.ChatStream({ model: 'default' })) events.push(event)
    if (events.map(event => event.text ?? '').join('') !== '連歌') return 'the text has changed'
    if (events.at(-1).event !== 'finish') return 'no finish at the end'
    if (events.at(-1).finish.usage.output_tokens !== 2) return 'the usage got lost'
    const error = await new Promise(done => client.Chat({ model: 'default' }, done))
    const status = decode(rpc['google.rpc.Status'], error.metadata.get('grpc-status-details-bin')[0])
    const bad = decode(rpc['google.rpc.BadRequest'], status.details[0].value)
    if (bad.field_violations[0].field !== 'messages[0].role') return 'the detail got lost'
  } finally {
    client.close()
    server.forceShutdown()
  }
})

function encode(type, value) { return type.serialize(value) }
function decode(type, bytes) { return type.deserialize(bytes) }

process.exit(failures ? 1 : 0)
