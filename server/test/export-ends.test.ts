import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../src/db/transaction.ts'
import { openHouse, type Person } from './support/house.ts'
import { untilEventsSettle } from './support/settled.ts'

/** Run once, after the next read of events. */
let meanwhile: (() => Promise<unknown>) | undefined

function through(database: Database): Database {
  return {
    ...database,
    tenant(tenant_id) {
      const tx = database.tenant(tenant_id)
      return {
        ...tx,
        async read(statement) {
          const rows = await tx.read(statement)
          if (statement.text.includes('from event r where')) {
            const work = meanwhile
            meanwhile = undefined
            await work?.()
          }
          return rows
        },
      }
    },
  }
}

const house = await openHouse({}, through)
const { tenant_id, people } = await house.tenant('export')
await house.asSuperuser(
  `insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
    select $1, gen_random_uuid(), 'auth.signed_in', 'system', 'user', 'somebody', 'test' from generate_series(1, 700)`,
  [tenant_id],
)
await untilEventsSettle(house)

/** The lines that an export gets, and whether it came to its end. */
async function exportAs({ token }: Person): Promise<{ lines: number; isWhole: boolean }> {
  const url = '/v1/audit-events/export?type=auth.signed_in'
  const headers = { authorization: `Bearer ${token}`, 'x-tenant-id': tenant_id }
  const reply = await house.app.server.inject({ method: 'GET', url, headers, payloadAsStream: true })
  assert.equal(reply.statusCode, 200)
  let text = ''
  try {
    for await (const more of reply.stream()) text += more
  } catch {
    return { lines: text.split('\n').length - 1, isWhole: false }
  }
  return { lines: text.split('\n').length - 1, isWhole: true }
}

test('an export goes on while its reader keeps the right to it', async () => {
  assert.deepEqual(await exportAs(people.auditor), { lines: 700, isWhole: true })
})

const losses: [string, () => Promise<unknown>][] = [
  ['signs out', () => house.call({ method: 'POST', url: '/v1/auth/logout', token: people.auditor.token, tenant_id })],
  ['is suspended', () => byOwnerOf('suspend')],
]

/** Any admin does it. */
const byOwnerOf = (step: string) =>
  house.call({
    ...{ method: 'POST', url: `/v1/users/${people.auditor.user_id}/${step}`, tenant_id },
    token: people.admin.token,
  })

for (const [name, lose] of losses) {
  test(`an export breaks off when its reader ${name} (A6)`, async () => {
    meanwhile = lose
    assert.deepEqual(await exportAs(people.auditor), { lines: 100, isWhole: false })
    people.auditor = await house.signInAgain(tenant_id, people.auditor)
  })
}
