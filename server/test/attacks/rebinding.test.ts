import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, suite, test } from 'node:test'
import { openProviders } from '../../src/auth/oidc-provider.ts'
import { readEgressAllow } from '../../src/egress/allow-list.ts'
import { openEgress } from '../../src/egress/egress.ts'
import { findReceiverFault } from '../../src/egress/receiver-form.ts'
import { NotReached, postSigned } from '../../src/egress/signed-post.ts'
import type { Egress, Tx } from '../../src/kernel/context.ts'
import type { DriverType } from '../../src/provisioners/driver.ts'
import { postgresql } from '../../src/provisioners/postgresql/postgresql.ts'
import { webhook } from '../../src/provisioners/webhook/webhook.ts'

/** A server inside the operator's network: it counts connections, and closes each. */
let reached = 0
const inside = createServer((socket) => {
  reached += 1
  socket.on('error', () => undefined).end()
}).listen(0, '127.0.0.1')
await once(inside, 'listening')
after(() => inside.close())
const { port } = inside.address() as AddressInfo

const host = 'rebind.example'
const url = `https://${host}:${port}/`
/** The database, of which a driver reads only the clock. */
const clock = { read: async () => [{ now: new Date() }] } as unknown as Tx
const signal = AbortSignal.timeout(120_000)

/** A name that leads to a public address at the first lookups, and inside at each later one. */
function rebindingEgress(publicLookups: number, allow: string) {
  let lookups = 0
  const resolve = async () => {
    lookups += 1
    return [{ address: lookups <= publicLookups ? '93.184.216.34' : '127.0.0.1', family: 4 }]
  }
  return { egress: openEgress(readEgressAllow(allow), resolve), lookups: () => lookups }
}

/** Saves a provisioner's config, and has its driver connect. */
function connectBy(type: DriverType, config: Record<string, unknown>) {
  return async (egress: Egress): Promise<void> => {
    const complete = { ...config, ...type.makeSecrets() }
    assert.deepEqual(await type.findFaults(complete, egress), [])
    const opening = { tenant_id: 'a', provisioner_id: 'b', previous: {}, public_url: 'https://sallyport.example' }
    const driver = type.open({ ...opening, config: complete, egress })
    const checks = await driver.health(clock, signal)
    assert.ok(
      checks.some(({ ok }) => !ok),
      JSON.stringify(checks),
    )
    await driver.close()
  }
}

async function postToChannel(egress: Egress): Promise<void> {
  assert.equal(await findReceiverFault(url, egress), undefined)
  const message = { url, headers: {}, secrets: [`whsec_${'A'.repeat(43)}=`], id: 'a', at: new Date(), body: '{}' }
  await assert.rejects(postSigned(egress, message, signal), NotReached)
}

async function beginSignIn(egress: Egress): Promise<void> {
  assert.equal(await egress.findFault(url), undefined)
  const known = { issuer: url, client_id: 'a', client_secret: 'b', tenant_id: 'c' }
  const request = {
    redirect_uri: 'https://a.example',
    scopes: [],
    state: 'a',
    nonce: 'b',
    code_verifier: 'c',
    max_age: null,
  }
  await assert.rejects(openProviders(egress).authorizationUrl(known, request))
}

const database = { host, port, database: 'a', user: 'b', password: 'c', resource_ids: ['a'], roles: { a: 'b' } }

/** What a tenant configures, how it connects, and how often it looks up the name before the lookup for its connection. */
const kinds: [string, (egress: Egress) => Promise<void>, number][] = [
  ['a webhook channel', postToChannel, 1],
  ['a webhook provisioner', connectBy(webhook, { url }), 2],
  ['a sign-in provider', beginSignIn, 1],
  ['a PostgreSQL target', connectBy(postgresql, database), 1],
]

for (const [what, connect, before] of kinds) {
  suite(`the name of ${what} that leads inside after it was checked`, () => {
    test('is not connected to (S1)', async () => {
      reached = 0
      const { egress, lookups } = rebindingEgress(before, '')
      await connect(egress)
      assert.equal(reached, 0)
      assert.ok(lookups() > before, 'the name was not looked up for the connection')
    })

    test('is connected to where the operator allows the name', async () => {
      reached = 0
      await connect(rebindingEgress(0, host).egress)
      assert.ok(reached > 0)
    })
  })
}
