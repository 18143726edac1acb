import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { operations } from '../../src/operations.ts'
import { openHouse, type Person } from '../support/house.ts'
import { openProviderOfAll, signInWays } from '../support/sign-in-stage.ts'
import { cases, type Try, type World } from './cases.ts'
import { type Endpoint, type Row, rows } from './rows.ts'

/** The 21 endpoints of the interface exactly as specified: each one's success and each of its errors, over HTTP. */
const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
const tenant = await house.tenant('contract', { withDefaults: true })
const ways = signInWays(house, await openProviderOfAll(), () => tenant)

const world: World = {
  house,
  tenant,
  async signedInAtProvider(account) {
    await ways.configure()
    return ways.walk(account)
  },
  async make(method, url, body, as = tenant.owner) {
    const reply = await house.call({ method, url, body, api_key: as.api_key, tenant_id: tenant.tenant_id })
    assert.ok(reply.status < 300, `${method} ${url}: ${reply.status} ${reply.text}`)
    return String(reply.body.id)
  },
}

function credentialOf(row: Row, { as = tenant.owner, noCredential }: Try): Partial<Pick<Person, 'token' | 'api_key'>> {
  if (noCredential || row.credential === 'none') return {}
  return row.credential === 'token' ? { token: as.token } : { api_key: as.api_key }
}

async function tried(row: Row, attempt: Try) {
  const url = row.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => attempt.ids?.[name] ?? tenant.tenant_id)
  const { body, tenant_id = tenant.tenant_id } = attempt
  return house.call({
    method: row.method,
    url,
    body,
    ...credentialOf(row, attempt),
    ...(row.credential !== 'none' && { tenant_id }),
  })
}

for (const [number, row] of Object.entries(rows) as unknown as [Endpoint, Row][]) {
  describe(`${number}. ${row.method} ${row.path}`, () => {
    test('is an operation', () => {
      const found = Object.values(operations).find(({ method, path }) => method === row.method && path === row.path)
      assert.ok(found)
      assert.equal(found.status, row.success)
    })
    const ways = cases[number] as Record<string, (given: World) => Promise<Try> | Try>
    for (const [label, way] of Object.entries(ways)) {
      const [status, code] = label === 'success' ? [row.success, undefined] : (row.errors[label] ?? [])
      test(`${label}: ${[status, code].join(' ')}`, async () => {
        const reply = await tried(row, await way(world))
        assert.equal(reply.status, status, reply.text)
        if (code !== undefined) assert.equal(reply.body.code, code, reply.text)
      })
    }
  })
}
