import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import fastify from 'fastify'
import { Type } from 'typebox'
import { testDatabase } from '../../test/support/database.ts'
import { openHouse } from '../../test/support/house.ts'
import { type Caller, sliceServer } from '../../test/support/slice-server.ts'
import { until } from '../../test/support/wait.ts'
import type { Database } from '../db/transaction.ts'
import { newId } from '../kernel/id.ts'
import { countInFlight } from './in-flight.ts'
import { operation } from './operation.ts'

test('a request beyond a thousand in flight is refused at once, and a later one is served when they are done (F6)', async () => {
  const { database } = await testDatabase()
  let underWay = 0
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const wait = operation({
    method: 'GET',
    path: '/v1/wait',
    summary: 'Waits',
    credential: 'any',
    scope: null,
    replies: { 200: Type.Object({ waited: Type.Boolean() }) },
    errors: [],
    async run() {
      underWay += 1
      await held
      return { waited: true }
    },
  })
  const call = await sliceServer(database, { wait })
  const caller: Caller = { tenant_id: newId(), user_id: newId() }
  const waiting = Array.from({ length: 1_000 }, () => call(caller, 'GET', '/v1/wait'))
  await until('all of them are in flight', async () => underWay === waiting.length)
  const refused = await call(caller, 'GET', '/v1/wait')
  assert.deepEqual([refused.status, refused.body.code], [503, 'unavailable'])
  assert.equal(underWay, waiting.length)
  letGo()
  assert.deepEqual(new Set((await Promise.all(waiting)).map(({ status }) => status)), new Set([200]))
  assert.equal((await call(caller, 'GET', '/v1/wait')).status, 200)
})

test('bodies that are still to come take no place, and those of one source are bounded (F23)', async () => {
  const house = await openHouse({ TRUST_PROXY: 'true' })
  const { tenant_id, owner } = await house.tenant('busy')
  const port = Number(new URL(await house.app.server.listen({ host: '127.0.0.1', port: 0 })).port)
  const head = `POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nX-Tenant-ID: ${tenant_id}\r\nContent-Type: application/json`
  let refused = 0
  const sockets = Array.from({ length: 1_005 }, () => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${head}\r\nContent-Length: 90\r\n\r\n{`))
    return socket
      .on('error', () => undefined)
      .once('data', (answer) => {
        if (String(answer).startsWith('HTTP/1.1 503')) refused += 1
      })
  })
  const login = (from: string) =>
    house.call({
      ...{ method: 'POST', url: '/v1/auth/login', tenant_id, headers: { 'x-forwarded-for': from } },
      body: { email: 'nobody@example.com', password: 'not this one' },
    })
  await until('all that are too many are refused', async () => refused === sockets.length - 500)
  const read = await house.call({ method: 'GET', url: '/v1/permissions', api_key: owner.api_key, tenant_id })
  assert.equal(read.status, 200, read.text)
  assert.equal((await login('192.0.2.7')).status, 401)
  assert.equal((await login('127.0.0.1')).status, 503)
  for (const socket of sockets) socket.destroy()
  await until('their places are free', async () => (await login('127.0.0.1')).status === 401)
})

test('a body that arrives in full finds no place beyond a thousand (F23)', async () => {
  const server = fastify()
  countInFlight(server)
  server.setErrorHandler((_error, _request, reply) => reply.code(503).send())
  let entered = 0
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  server.post('/', async () => {
    entered += 1
    await held
    return ''
  })
  const answers: Promise<{ statusCode: number }>[] = []
  for (const sent of [400, 800, 1_200]) {
    answers.push(...Array.from({ length: 400 }, () => server.inject({ method: 'POST', url: '/', payload: { a: 1 } })))
    await until('they have arrived', async () => entered === Math.min(sent, 1_000))
  }
  letGo()
  const refused = (await Promise.all(answers)).filter(({ statusCode }) => statusCode === 503)
  assert.deepEqual([entered, refused.length], [1_000, 200])
  await server.close()
})

test('a request whose caller disconnects is no longer in flight', async () => {
  const silent = (database: Database): Database => ({
    ...database,
    tenant: (id) => ({ ...database.tenant(id), read: () => new Promise(() => undefined) }),
  })
  const { app } = await openHouse({}, silent)
  const port = Number(new URL(await app.server.listen({ host: '127.0.0.1', port: 0 })).port)
  const body = JSON.stringify({ email: 'nobody@example.com', password: 'not this one' })
  const head = `POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nX-Tenant-ID: ${newId()}\r\nContent-Type: application/json`
  const request = `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const sockets = Array.from({ length: 20 }, () => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    return socket.on('error', () => undefined)
  })
  await until('they are in flight', async () => app.server.underWay === sockets.length)
  for (const socket of sockets) socket.destroy()
  await until('they are not', async () => app.server.underWay === 0)
})

test('a request whose caller disconnects between two steps is counted down once (F23)', async () => {
  for (const step of ['its admission', 'the reading of its body']) {
    const server = fastify()
    countInFlight(server)
    let entered = 0
    let ended = 0
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const hold = async () => {
      entered += 1
      await held
    }
    server.addHook('onRequest', async (_request, reply) => {
      reply.raw.once('close', () => {
        ended += 1
      })
      if (step === 'its admission') await hold()
    })
    server.removeAllContentTypeParsers()
    server.addContentTypeParser('*', { parseAs: 'buffer' }, hold)
    server.post('/', async () => '')
    const port = Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port)
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n'
    const sent = step === 'its admission' ? head : `${head}{}`
    const sockets = Array.from({ length: 500 }, () => {
      const socket = connect(port, '127.0.0.1', () => socket.write(sent))
      return socket.on('error', () => undefined)
    })
    await until(`${step} has begun`, async () => entered === sockets.length)
    for (const socket of sockets) socket.destroy()
    await until('all have disconnected', async () => ended === sockets.length)
    letGo()
    assert.equal((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' })).status, 200, step)
    await until(`nothing is in flight after ${step}`, async () => server.underWay === 0)
    await server.close()
  }
})
