// What @grpc/grpc-js sees of our runtime. RENGA_BIN=<folder of probe-server> RENGA_DESC=<folder of probe.desc>
// node node_client.mjs; one line a check, exit 1 when one fails.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, renameSync, copyFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import grpc from '@grpc/grpc-js'
import { check, finish } from './checks.mjs'
import { connect, expect, now, refusal, sanitized, serve, sleep, until } from './probe.mjs'

const { UNAUTHENTICATED, PERMISSION_DENIED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, INVALID_ARGUMENT, UNIMPLEMENTED,
  UNAVAILABLE, NOT_FOUND, CANCELLED, ABORTED } = grpc.status
const PROBE = 'renga.test.Probe'
const HEALTH = 'grpc.health.v1.Health'
const NOTICE_MS = 1000 // a few where the machine is calm, which the figure shows; nobody would be told within 20 s
const MESSAGE_MAX = 4 << 20
const UNLIMITED = { 'grpc.max_send_message_length': -1, 'grpc.max_receive_message_length': -1 }
const GROWTH_KB = 24 << 10

// ---- what a handler noticed

async function begun(probe, key) {
  await until(async () => (await probe.call('Noticed', { key })).began, `the handler of '${key}' does not begin`)
  return now()
}

// How long after `gone` the handler noticed at most, given that it had begun at `begunAt`.
async function noticeDelay(probe, key, begunAt, gone) {
  const note = await until(async () => {
    const said = await probe.call('Noticed', { key })
    return said.cancelled && said
  }, `the handler of '${key}' notices nothing`)
  const delay = note.after_us / 1000 - (gone - begunAt)
  expect(delay <= NOTICE_MS, `the handler noticed after ${delay.toFixed(1)} ms`)
  return `after ${delay.toFixed(1)} ms`
}

// ---- parts

async function calls(probe) {
  await check('a unary call is answered with what it sent', async () => {
    const payload = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    const answer = await probe.call('Echo', { text: '連歌とは何ですか 𝄞', payload })
    expect(answer.text === '連歌とは何ですか 𝄞' && answer.payload.equals(payload), JSON.stringify(answer))
  })

  await check("a server's stream brings its messages in order", async () => {
    const indices = (await probe.all('Count', { messages: 1000, bytes: 10 })).map(message => message.index)
    expect(indices.length === 1000 && indices.every((index, i) => index === i), `${indices.length} came`)
  })

  await check('a stream that fails brings its messages first, then its status', async () => {
    const error = await refusal(probe.all('Count', { messages: 5, end_code: ABORTED }), ABORTED, 'as it was told')
    expect(error.messages.length === 5, `${error.messages.length} messages came`)
  })

  await check("a client's stream of 1,000 messages is added up", async () => {
    const answer = await probe.upload('Sum', Array.from({ length: 1000 }, (_, i) => ({ value: i })))
    expect(answer.sum === 499500 && answer.count === 1000, JSON.stringify(answer))
  })

  await check('a conversation of 200 messages goes to and fro, one at a time', async () => {
    const call = probe.duplex('Chat')
    let count = 0
    call.write({ text: '0' })
    await new Promise((resolve, reject) => call.on('error', reject).on('end', resolve).on('data', answer => {
      if (answer.text !== String(count)) reject(new Error(`${count} is answered with ${answer.text}`))
      if (++count < 200) call.write({ text: String(count) })
      else call.end()
    }))
    expect(count === 200, `${count} answers came`)
  })

  await check('500 calls at once on one connection are all answered', async () => {
    const answers = await Promise.all(Array.from({ length: 500 }, (_, i) => probe.call('Echo', { text: String(i) })))
    expect(answers.every((answer, i) => answer.text === String(i)), "some answers are another call's")
  })
}

async function endings(probe, address) {
  await check("the client's deadline ends a call, and its handler notices in time", async () => {
    const began = now()
    await refusal(probe.call('Sleep', { delay_ms: 20000, key: 'deadline' }, { timeout: 300 }), DEADLINE_EXCEEDED)
    expect(now() - began < 300 + NOTICE_MS, `the client waited ${now() - began} ms`)
    return noticeDelay(probe, 'deadline', began, began + 300)
  })

  await check('the handler of a unary call notices a cancel in time', async () => {
    const { call, answer } = probe.start('Sleep', { delay_ms: 20000, key: 'unary' })
    const at = await begun(probe, 'unary')
    await sleep(50)
    const gone = now()
    call.cancel()
    await refusal(answer, CANCELLED)
    return noticeDelay(probe, 'unary', at, gone)
  })

  await check('the handler of a stream notices a cancel in time', async () => {
    const call = probe.open('Count', { messages: 2 ** 40, interval_ms: 20, key: 'stream' })
    call.on('error', () => {}).on('data', () => {})
    const at = await begun(probe, 'stream')
    await sleep(50)
    const gone = now()
    call.cancel()
    return noticeDelay(probe, 'stream', at, gone)
  })

  await check('a handler that waits for the client to read notices a cancel in time', async () => {
    const call = probe.open('Count', { messages: 2 ** 40, bytes: 1000, key: 'unread' })
    call.on('error', () => {})
    const at = await begun(probe, 'unread')
    await sleep(50)
    const gone = now()
    call.cancel()
    return noticeDelay(probe, 'unread', at, gone)
  })

  await check('handlers notice in time that a connection is gone', async () => {
    const other = connect(PROBE, address, { 'grpc.use_local_subchannel_pool': 1 })
    const { call } = other.start('Sleep', { delay_ms: 20000, key: 'gone' })
    const at = await begun(probe, 'gone')
    await sleep(50)
    const gone = now()
    other.close()
    call.cancel()
    return noticeDelay(probe, 'gone', at, gone)
  })

  await check('streams that clients leave in the middle of a conversation do no harm', async () => {
    for (let i = 0; i < 50; i++) {
      const call = probe.duplex('Chat')
      call.on('error', () => {})
      call.write({ text: 'one' })
      await new Promise(resolve => call.once('data', resolve))
      call.cancel()
    }
    expect((await probe.call('Echo', { text: 'on' })).text === 'on', 'the server is hurt')
  })

  await check('an unknown method is UNIMPLEMENTED at once', async () => {
    const began = now()
    await refusal(probe.raw(`/${PROBE}/Nothing`, Buffer.alloc(0)), UNIMPLEMENTED, 'Nothing')
    expect(now() - began < NOTICE_MS, `it took ${now() - began} ms`)
  })
}

async function metadata(probe) {
  await check('metadata goes both ways, -bin included', async () => {
    const binary = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    const { answer, seen } = probe.start('Echo', {}, {
      metadata: { 'probe-initial': 'a value, with spaces', 'probe-trailing-bin': binary }
    })
    await answer
    await until(() => seen.trailing, 'no trailing metadata came')
    expect(seen.initial['probe-initial'] === 'a value, with spaces', JSON.stringify(seen.initial))
    expect(binary.equals(seen.trailing.get('probe-trailing-bin')[0]), 'the binary value has changed')
  })

  await check('rich details name the field and the time to try again', async () => {
    const error = await refusal(probe.call('Fail', { code: 3, text: 'is negative', field: 'plan.cost',
      retry_after_ms: 1500 }), INVALID_ARGUMENT, 'is negative')
    const [details] = error.metadata.get('grpc-status-details-bin')
    const has = text => details.includes(Buffer.from(text))
    expect(has('google.rpc.BadRequest') && has('plan.cost') && has('google.rpc.RetryInfo'), details.toString('latin1'))
  })

  await check('an error text in UTF-8 with tabs and newlines arrives as it was sent', async () => {
    const text = '連歌 \t\ttabs\r\nlines 100 % %41 "quotes" ünïcödé 𝄞😀'
    const error = await refusal(probe.call('Fail', { code: 9, text }), grpc.status.FAILED_PRECONDITION)
    expect(error.details === text, `it arrived as ${JSON.stringify(error.details)}`)
  })

  await check('a trace is continued with an id of its own', async () => {
    const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
    const { traceparent } = await probe.call('Echo', { text: 'tell me more' },
      { metadata: { traceparent: `00-${trace}-${span}-01` } })
    expect(traceparent.includes(trace) && !traceparent.includes(span), `it has ${traceparent}`)
  })
}

async function sizes(server) {
  const probe = connect(PROBE, server.address, UNLIMITED)
  await check('3 MB go both ways', async () => {
    const payload = Buffer.alloc(3 << 20, 7)
    expect((await probe.call('Echo', { payload })).payload.equals(payload), 'they came back changed')
  })

  await check('3 MB in gzip go both ways', async () => {
    const zipped = connect(PROBE, server.address, { ...UNLIMITED, 'grpc.default_compression_algorithm': 2 })
    const payload = Buffer.alloc(3 << 20, 7)
    expect((await zipped.call('Echo', { payload, compress: true })).payload.equals(payload), 'they came back changed')
    zipped.close()
  })

  await check('4 MB and a byte are refused while other calls on the connection go on', async () => {
    const sleeping = Array.from({ length: 10 }, (_, i) => probe.call('Sleep', { delay_ms: 600, key: `sibling ${i}` }))
    await begun(probe, 'sibling 9')
    const payload = Buffer.alloc(MESSAGE_MAX - 4) // five bytes of tag and length come before it
    await refusal(probe.call('Echo', { payload }), RESOURCE_EXHAUSTED, String(MESSAGE_MAX))
    const keys = (await Promise.all(sleeping)).map(answer => answer.key)
    expect(keys.length === 10, `only ${keys} were answered`)
  })

  await check('invalid UTF-8 and NUL are INVALID_ARGUMENT that names the field', async () => {
    for (const bytes of [[0x0a, 2, 0xff, 0xfe], [0x0a, 3, 0x61, 0, 0x62]])
      await refusal(probe.raw(`/${PROBE}/Echo`, Buffer.from(bytes)), INVALID_ARGUMENT, 'text')
  })

  await check('100 MB of zeroes in a small gzip are refused, and the server stays small', async () => {
    const zipped = connect(PROBE, server.address, { ...UNLIMITED, 'grpc.default_compression_algorithm': 2 })
    const before = server.memoryKb()
    const bytes = 100 << 20
    const head = Buffer.from([0x12, 0x80 | bytes & 127, 0x80 | bytes >> 7 & 127, 0x80 | bytes >> 14 & 127, bytes >> 21])
    const bomb = Buffer.concat([head, Buffer.alloc(bytes)])
    await refusal(zipped.raw(`/${PROBE}/Echo`, bomb), RESOURCE_EXHAUSTED, String(MESSAGE_MAX))
    const grown = server.memoryKb('VmHWM') - before
    zipped.close()
    if (sanitized) return 'memory not judged: a sanitizer keeps what is freed'
    expect(grown < GROWTH_KB, `the server's memory grew by ${grown} KB`)
    return `the server grew by ${grown} KB`
  })
  probe.close()
}

async function flow() {
  const server = await serve()
  await check('a stream of 200,000 messages waits for a slow reader, and the server stays small', async () => {
    const probe = connect(PROBE, server.address, { 'grpc.use_local_subchannel_pool': 1 })
    const before = server.memoryKb()
    const call = probe.open('Count', { messages: 200_000, bytes: 500 })
    let count = 0
    let peak = 0
    await new Promise((resolve, reject) => call.on('error', reject).on('end', resolve).on('data', async () => {
      if (++count % 20_000 !== 1) return
      call.pause()
      await sleep(100)
      peak = Math.max(peak, server.memoryKb())
      call.resume()
    }))
    probe.close()
    expect(count === 200_000, `${count} messages came`)
    if (sanitized) return 'memory not judged: a sanitizer keeps what is freed'
    expect(peak - before < GROWTH_KB, `the server's memory grew by ${peak - before} KB`)
    return `the server grew by ${peak - before} KB`
  })
  await check('the server of the long stream drains and ends with 0', () => server.stop())
}

async function keepalive(server) {
  await check('a client that pings every 10 s without calls is not cut', async () => {
    const probe = connect(PROBE, server.address, { 'grpc.keepalive_time_ms': 10_000, 'grpc.keepalive_timeout_ms': 2000,
      'grpc.keepalive_permit_without_calls': 1, 'grpc.use_local_subchannel_pool': 1 })
    const { peer } = await probe.call('Echo', { text: 'tell me more' })
    await sleep(45_000) // four pings: core forgives two
    const after = await probe.call('Echo', { text: 'tell me more' })
    probe.close()
    expect(after.peer === peer, `the connection was another afterwards: ${peer}, then ${after.peer}`)
  })
}

async function health() {
  const server = await serve()
  const probe = connect(PROBE, server.address)
  const client = connect(HEALTH, server.address)
  await check('health: Check says SERVING, and NOT_FOUND of a service that is not here', async () => {
    for (const service of ['', PROBE, HEALTH, 'liveness', 'readiness']) {
      const { status } = await client.call('Check', { service })
      expect(status === 'SERVING', `'${service}' is ${status}`)
    }
    await refusal(client.call('Check', { service: 'nobody' }), NOT_FOUND, 'nobody')
  })

  await check('health: Watch says SERVING, NOT_SERVING when SIGTERM comes, and ends with UNAVAILABLE', async () => {
    const seen = []
    let ended
    const watch = client.open('Watch', { service: PROBE })
    watch.on('data', answer => seen.push(answer.status)).on('error', error => { ended = error.code })
    await until(() => seen.length === 1, 'nothing is said')
    const sleeping = probe.call('Sleep', { delay_ms: 1000, key: 'under way' })
    await begun(probe, 'under way')
    const asked = now()
    const stopped = server.stop()
    await until(() => seen.length === 2, 'nothing more is said')
    const took = now() - asked
    expect(took < NOTICE_MS, `it was told after ${took} ms`)
    expect((await sleeping).key === 'under way', 'the call under way failed')
    await until(() => ended, 'the watch does not end')
    expect(seen.join() === 'SERVING,NOT_SERVING' && ended === UNAVAILABLE, `${seen}, then ${grpc.status[ended]}`)
    probe.close()
    client.close()
    await stopped
    return `told after ${took.toFixed(0)} ms`
  })
}

async function tls() {
  const folder = mkdtempSync(join(tmpdir(), 'renga-tls-'))
  const path = name => join(folder, name)
  const read = name => readFileSync(path(name))
  const certificates = join(dirname(fileURLToPath(import.meta.url)), 'certificates.py')
  execFileSync('/usr/bin/python3', [certificates, folder])
  const identity = name => [read(`${name}.key`), read(`${name}.pem`)]
  const answered = async (server, ...files) => {
    const probe = connect(PROBE, server.address, { 'grpc.use_local_subchannel_pool': 1 }, grpc.credentials.createSsl(...files))
    try {
      return await probe.call('Echo', { text: 'tls' }, { timeout: 5000 })
    } finally {
      probe.close()
    }
  }
  for (const end of ['pem', 'key']) copyFileSync(path(`server.${end}`), path(`served.${end}`))
  const files = ['--certificate', path('served.pem'), '--key', path('served.key')]
  const server = await serve(...files)
  await check('TLS: a call is answered, and refused where another authority is trusted', async () => {
    await answered(server, read('ca.pem'))
    await refusal(answered(server, read('other-ca.pem')), UNAVAILABLE)
  })

  await check('TLS: a call goes on over a change of certificates, and new clients connect', async () => {
    const probe = connect(PROBE, server.address, {}, grpc.credentials.createSsl(read('ca.pem')))
    const sleeping = probe.call('Sleep', { delay_ms: 1500, key: 'across' })
    await begun(probe, 'across')
    for (const end of ['pem', 'key']) {
      copyFileSync(path(`server2.${end}`), path('new'))
      renameSync(path('new'), path(`served.${end}`))
    }
    await answered(server, read('ca.pem'))
    expect((await sleeping).key === 'across', 'the call failed')
    probe.close()
  })
  await check('the server with TLS drains and ends with 0', () => server.stop())

  const mutual = await serve(...files, '--authorities', path('ca.pem'), '--client-certificate')
  await check('mTLS: the right client is answered; one without a certificate, or with a wrong one, is refused', async () => {
    await answered(mutual, read('ca.pem'), ...identity('client'))
    await refusal(answered(mutual, read('ca.pem')), UNAVAILABLE)
    await refusal(answered(mutual, read('ca.pem'), ...identity('stranger')), UNAVAILABLE)
  })
  await check('the server with mutual TLS drains and ends with 0', () => mutual.stop())
  rmSync(folder, { recursive: true })
}

async function keys() {
  const hash = createHash('sha256').update('key-of-ana').digest('hex')
  const server = await serve('--bearer', `ana,north,${hash},${PROBE}/Echo`)
  const probe = connect(PROBE, server.address)
  const bearer = key => ({ metadata: { authorization: `Bearer ${key}` } })
  await check('keys: the right one is answered and its tenant seen; wrong, missing and unauthorised are refused', async () => {
    const answer = await probe.call('Echo', {}, bearer('key-of-ana'))
    expect(answer.principal === 'ana' && answer.tenant === 'north', JSON.stringify(answer))
    await refusal(probe.call('Echo', {}), UNAUTHENTICATED, 'authorization: Bearer')
    await refusal(probe.call('Echo', {}, bearer('key-of-nobody')), UNAUTHENTICATED)
    await refusal(probe.call('Noticed', {}, bearer('key-of-ana')), PERMISSION_DENIED, 'renga.test.Probe/Noticed')
    const open = connect(HEALTH, server.address)
    expect((await open.call('Check', {})).status === 'SERVING', 'health is not open')
    open.close()
  })
  probe.close()
  await check('the server with keys drains and ends with 0', () => server.stop())
}

const server = await serve()
const waiting = keepalive(server) // takes its time beside the others
const probe = connect(PROBE, server.address)
await calls(probe)
await endings(probe, server.address)
await metadata(probe)
await sizes(server)
await flow()
await health()
await tls()
await keys()
await waiting
probe.close()
await check('the server of all calls drains and ends with 0', () => server.stop())
finish()
