import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { canary, config, shown, talkativeProvisioners } from '../../test/support/talkative-provisioners.ts'
import { until } from '../../test/support/wait.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../kernel/id.ts'

const { seen, setUp, ...db } = await talkativeProvisioners()

async function rowOf(id: string) {
  const [row] = await db.asSuperuser<{ config: object; sealed_secrets: string }>(
    'select config, sealed_secrets from provisioner where id = $1',
    [id],
  )
  assert.ok(row)
  return row
}

const eventsOf = (id: string) =>
  db.asSuperuser<{ type: string; data: object }>('select type, data from event where subject_id = $1 order by seq', [
    id,
  ])

/** Inserts an entitlement that is present at the target. */
const entitlement = (tenant_id: string, provisioner_id: string) =>
  db.asSuperuser(
    `insert into entitlement (tenant_id, id, provisioner, provisioner_id, target_key, target, held_before, observed)
      values ($1, $2, 'sandbox', $3, 'k', '{}', false, 'present')`,
    [tenant_id, newId(), provisioner_id],
  )

suite('a generated secret', () => {
  test('is shown once, then redacted like any secret; it is stored sealed (S2)', async () => {
    const { created, as, id } = await setUp()
    const { shown_once, ...rest } = created
    assert.deepEqual(shown_once, { signing_secret: `${canary}-made-${seen.made}` })
    assert.deepEqual(rest.config, shown)
    assert.deepEqual((await as('GET')).body, rest)
    const row = await rowOf(id)
    assert.deepEqual(row.config, shown)
    assert.ok(!Buffer.from(row.sealed_secrets, 'base64url').includes(canary))
    assert.ok(!JSON.stringify(await eventsOf(id)).includes(canary))
  })

  test('stays when the config is replaced, and no caller can set it', async () => {
    const { created, as, id } = await setUp()
    const replaced = await as('PATCH', '', { config: { url: config.url, token: `${canary}-other` } })
    assert.deepEqual(replaced.body.config, { url: config.url, token: '[redacted]', signing_secret: '[redacted]' })
    const reply = await as('PATCH', '', { config: { ...config, signing_secret: 'mine' } })
    assert.equal(reply.status, 400)
    assert.equal((await as('POST', '/test')).status, 200)
    assert.deepEqual(seen.opened.at(-1)?.config, {
      url: config.url,
      token: `${canary}-other`,
      signing_secret: (created.shown_once as Record<string, string>).signing_secret,
    })
    assert.deepEqual((await eventsOf(id))[1]?.data, { fields: ['config'], enabled: true, corrects_drift: false })
  })

  test('is replaced by a rotation, and the previous one stays valid during the overlap', async () => {
    const { created, as, id } = await setUp()
    const first = created.shown_once
    const rotated = await as('POST', '/rotate-secret', {})
    assert.equal(rotated.status, 200)
    assert.notDeepEqual(rotated.body.shown_once, first)
    assert.deepEqual([rotated.body.version, rotated.body.config], [2, shown])
    const [{ hours } = {}] = await db.asSuperuser(
      'select round(extract(epoch from previous_until - updated_at) / 3600)::int as hours from provisioner where id = $1',
      [id],
    )
    assert.equal(hours, 24)
    assert.equal((await as('GET')).body.previous_secrets_until, rotated.body.previous_secrets_until)
    await as('POST', '/test')
    assert.deepEqual(seen.opened.at(-1)?.previous, first)
    assert.deepEqual(seen.opened.at(-1)?.config, { ...config, ...(rotated.body.shown_once as object) })

    const stolen = await as('POST', '/rotate-secret', { overlap_seconds: 0 })
    assert.equal(stolen.body.previous_secrets_until, null)
    await as('POST', '/test')
    assert.deepEqual(seen.opened.at(-1)?.previous, {})
    const events = (await eventsOf(id)).filter(({ type }) => type === 'provisioner.secret_rotated')
    assert.deepEqual(
      events.map(({ data }) => data),
      [
        { names: ['signing_secret'], overlap_seconds: 86_400 },
        { names: ['signing_secret'], overlap_seconds: 0 },
      ],
    )
  })
})

suite('testing a provisioner', () => {
  test('redacts secrets, whatever its target answers, and closes the driver (S2)', async () => {
    const { as, id } = await setUp()
    await as('POST', '/rotate-secret', {})
    const before = seen.closed
    const tested = await as('POST', '/test')
    assert.equal(tested.status, 200)
    assert.match(JSON.stringify(tested.body), /hooks\.example\.com.*\[redacted\]/)
    assert.ok(!JSON.stringify(tested.body).includes(canary))
    const [{ row } = {}] = await db.asSuperuser('select p::text as row from provisioner p where id = $1', [id])
    assert.ok(!String(row).includes(canary))
    await until('the driver is closed', async () => seen.closed === before + 1)
  })

  test('reports a failed check, and a target that refuses the test', async () => {
    for (const note of ['fails', 'refuses']) {
      const { as, id } = await setUp({ note })
      const tested = await as('POST', '/test')
      assert.deepEqual([tested.status, tested.body.ok], [200, false])
      assert.ok(!JSON.stringify(tested.body).includes(canary))
      const { mode, ...health } = tested.body
      assert.deepEqual([(await as('GET')).body.health, mode], [health, 'rehearsal'])
      assert.deepEqual((await eventsOf(id)).at(-1), { type: 'provisioner.tested', data: { ok: false, failed: 1 } })
    }
  })

  test('counts only for the config that was tested', async () => {
    const { as } = await setUp()
    await as('POST', '/test')
    assert.equal((await as('PATCH', '', { config: { ...shown, note: 'second' } })).body.health, null)
    assert.equal((await as('GET')).body.health, null)
    seen.meanwhile = () => as('PATCH', '', { config: { ...shown, note: 'third' } })
    assert.equal((await as('POST', '/test')).status, 200)
    seen.meanwhile = async () => undefined
    assert.equal((await as('GET')).body.health, null)
  })
})

suite('a provisioner with access at its target', () => {
  test('cannot be deleted or moved to another target; other changes are allowed', async () => {
    const { as, tenant_id, id } = await setUp()
    await entitlement(tenant_id, id)
    const elsewhere = { config: { ...config, url: 'https://hooks.example.com/b' } }
    for (const reply of [await as('DELETE'), await as('PATCH', '', elsewhere)]) {
      assert.deepEqual([reply.status, reply.body.code], [409, 'provisioner_in_use'])
      assert.deepEqual(reply.body.details, { entitlements: 1 })
    }
    const changed = await as('PATCH', '', { name: 'Other', config: { ...config, token: `${canary}-2`, note: 'x' } })
    assert.deepEqual([changed.status, changed.body.version], [200, 2])
  })

  test('cannot be moved to another target while access is being granted', async () => {
    const { as, tx, tenant_id, id } = await setUp()
    const { moving } = await tx.interactive(async (inside) => {
      // The lock of a process that links a grant to the provisioner.
      await inside.read(sql`select from provisioner where tenant_id = ${tenant_id} and id = ${id} for key share`)
      const moving = as('PATCH', '', { config: { ...config, url: 'https://hooks.example.com/b' } })
      await until('the change waits for the lock', async () => {
        const [me] = await inside.read(sql<{ pid: number }>`select pg_backend_pid() as pid`)
        const blocked = 'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))'
        return (await db.asSuperuser(blocked, [me?.pid])).length > 0
      })
      await inside.write([
        sql`insert into entitlement (tenant_id, id, provisioner, provisioner_id, target_key, target, held_before,
          observed)
          values (${tenant_id}, ${newId()}, 'sandbox', ${id}, 'k', '{}', false, 'unknown')`,
      ])
      return { moving }
    })
    assert.equal((await moving).status, 409)
  })

  test('can be moved and deleted when that access is gone', async () => {
    const { as, tenant_id, id } = await setUp()
    await entitlement(tenant_id, id)
    await db.asSuperuser(`update entitlement set observed = 'absent' where provisioner_id = $1`, [id])
    const moved = await as('PATCH', '', { config: { ...config, url: 'https://hooks.example.com/b' } })
    assert.equal(moved.status, 200, JSON.stringify(moved.body))
    assert.equal((await as('DELETE')).status, 204)
  })

  const unsettled = {
    'is due for a check': `next_look_at = clock_timestamp()`,
    'is about to be changed by an act': `act = 'revoke'`,
    'may still change by a late effect': `may_land_until = clock_timestamp() + interval '1 minute'`,
    'is in an unknown state': `observed = 'unknown'`,
    'is foreign and in an unknown state': `observed = 'unknown', held_before = true`,
  }
  for (const [what, state] of Object.entries(unsettled)) {
    test(`cannot be deleted while the access ${what}`, async () => {
      const { as, tenant_id, id } = await setUp()
      await entitlement(tenant_id, id)
      for (const now of [`observed = 'absent'`, state]) {
        await db.asSuperuser(`update entitlement set ${now} where provisioner_id = $1`, [id])
      }
      assert.equal((await as('DELETE')).status, 409)
    })
  }

  test('can be deleted if the access is foreign: that access stays', async () => {
    const { as, tenant_id, id } = await setUp()
    await entitlement(tenant_id, id)
    await db.asSuperuser('update entitlement set held_before = true where provisioner_id = $1', [id])
    assert.equal((await as('DELETE')).status, 204)
  })
})
