import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { Type } from 'typebox'
import { testDatabase } from '../../test/support/database.ts'
import { openHouse } from '../../test/support/house.ts'
import { type Caller, sliceServer } from '../../test/support/slice-server.ts'
import { until } from '../../test/support/wait.ts'
import { newId } from '../kernel/id.ts'
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

test('a request whose caller disconnects is no longer in flight', async () => {
  const { app } = await openHouse()
  const port = Number(new URL(await app.server.listen({ host: '127.0.0.1', port: 0 })).port)
  const sockets = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      socket.write(
        `POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nX-Tenant-ID: ${newId()}\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{`,
      )
      return socket
    }),
  )
  await until('they are in flight', async () => app.server.underWay === sockets.length)
  for (const socket of sockets) socket.destroy()
  await until('they are not', async () => app.server.underWay === 0)
})
