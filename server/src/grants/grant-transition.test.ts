import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { foreseenSteps, type GrantPair, stepsOf } from '../../test/support/grant-steps.ts'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { sql } from '../db/sql.ts'
import { grantStatuses, provisioningStatuses } from './grant.ts'
import { type GrantChange, grantTransitions, transitionsOf } from './grant-transition.ts'
import { assign, assignEither, isBefore } from './grant-transition-store.ts'

const changes = [...new Set(grantTransitions.map(({ change }) => change))]
const begins = 'pending/not_attempted'

/** Every pair that a grant can reach. */
function reachable(): Set<string> {
  const found = new Set<string>([begins])
  const steps = foreseenSteps().map((step) => step.split(' '))
  for (const pair of found) for (const [before, after = ''] of steps) if (before === pair) found.add(after)
  return found
}

suite('the life cycle of a grant', () => {
  for (const change of changes) {
    test(`${change} leads to one status, with one kind of reason`, () => {
      const rows = transitionsOf(change)
      assert.equal(new Set(rows.map(({ to }) => to)).size, 1)
      assert.equal(new Set(rows.map(({ reason }) => reason)).size, 1)
    })

    test(`${change} leads from each pair to one pair`, () => {
      const before = stepsOf(change).map(([pair]) => pair)
      assert.equal(new Set(before).size, before.length)
    })

    test(`${change} leads from each provisioning status to one, for every status, as its SQL does`, () => {
      const becomes = Map.groupBy(
        transitionsOf(change).flatMap((row) => row.was.map((was) => [was, row.becomes] as const)),
        ([was]) => was,
      )
      for (const [was, all] of becomes) assert.equal(new Set(all.map(([, after]) => after)).size, 1, was)
    })

    test(`${change} begins at reachable pairs only`, () => {
      const all = reachable()
      assert.deepEqual(
        stepsOf(change).filter(([before]) => !all.has(before)),
        [],
      )
    })
  }

  test('every live pair can be revoked, and every active pair can expire', () => {
    const from = (change: GrantChange) => new Set(stepsOf(change).map(([before]) => before as string))
    for (const pair of reachable()) {
      if (/^(pending|active)\//.test(pair)) assert.ok(from('revoke').has(pair), pair)
      if (pair.startsWith('active/')) assert.ok(from('expire').has(pair), pair)
    }
  })

  test('every pair with deprovisioning under way or failed can be finished', () => {
    const finished = new Set(stepsOf('finish').map(([before]) => before as string))
    for (const pair of reachable()) if (/\/deprovisioning/.test(pair)) assert.ok(finished.has(pair), pair)
  })

  test('an ended grant begins again only by a retry, and only if it failed', () => {
    const back = foreseenSteps().filter((step) => /^(expired|revoked|failed)\/\w+ (pending|active)\//.test(step))
    assert.deepEqual(
      back,
      stepsOf('retry')
        .map(([before, after]) => `${before} ${after}`)
        .sort(),
    )
    assert.ok(back.every((step) => step.startsWith('failed/')))
  })

  test('covers every step recorded in all tests and 500 kills', () => {
    const foreseen = new Set<string>(foreseenSteps())
    assert.deepEqual(
      recordedSteps.filter((step) => !foreseen.has(step)),
      [],
    )
  })
})

/**
 * Recorded once by a trigger, from `npm test` and `npm run test:kill -- --kills 500`: status and provisioning status, before
 * and after, without the changes that tests set up themselves.
 */
const recordedSteps: string[] = [
  'active/not_attempted expired/not_attempted',
  'active/not_attempted revoked/not_attempted',
  'active/successful expired/deprovisioning',
  'active/successful revoked/deprovisioning',
  'expired/deprovisioning expired/deprovisioned',
  'expired/deprovisioning expired/deprovisioning_failed',
  'expired/deprovisioning_failed expired/deprovisioned',
  'failed/deprovisioning_failed failed/deprovisioned',
  'failed/failed failed/deprovisioning_failed',
  'failed/failed pending/not_attempted',
  'pending/attempting active/successful',
  'pending/attempting failed/failed',
  'pending/attempting revoked/deprovisioning',
  'pending/not_attempted active/not_attempted',
  'pending/not_attempted active/successful',
  'pending/not_attempted failed/failed',
  'pending/not_attempted pending/attempting',
  'pending/not_attempted revoked/not_attempted',
  'revoked/deprovisioning revoked/deprovisioned',
  'revoked/deprovisioning revoked/deprovisioning_failed',
  'revoked/deprovisioning_failed revoked/deprovisioned',
]

const house = await openHouse()
const on = await requestStage(house, 'the life cycle of a grant')
await on.rule('@approval_mode("auto") permit (principal, action, resource);')
const counted = async () => {
  const [row] = await house.asSuperuser<{ count: number }>(
    'select case when is_called then last_value else 0 end::int as count from unforeseen_grant_step',
  )
  return row?.count ?? 0
}
let account = 600_000_000_000
/** A grant that no worker touches. */
const newGrant = async (): Promise<string> => {
  account += 1
  const [grant] = await on.grantsOf(await on.ask(on.account(String(account))))
  assert.ok(grant)
  return grant.id
}
/** Puts a grant into a pair, bypassing all guards. */
const put = (id: string, pair: GrantPair) => {
  const [status, provisioning] = pair.split('/')
  return house.asSuperuser(
    `set session_replication_role = replica; update access_grant set next_look_at = null, status = '${status}',
      provisioning_status = '${provisioning}', activated_at = clock_timestamp(), expires_at = clock_timestamp(),
      ended_at = case when '${status}' in ('pending', 'active') then null else clock_timestamp() end
    where id = '${id}'; set session_replication_role = origin`,
  )
}
/** As the service writes: with its own role, under tenant isolation. */
const tx = house.database.tenant(on.tenant_id)
const move = (id: string, to: GrantPair) => {
  const [status = '', provisioning = ''] = to.split('/')
  return tx.write([
    sql`update access_grant set status = ${status}, provisioning_status = ${provisioning},
      ended_at = case when ${status} in ('pending', 'active') then null else clock_timestamp() end
      where tenant_id = ${on.tenant_id} and id = ${id}`,
  ])
}
const pairOf = async (id: string) => {
  const [row] = await house.asSuperuser<{ pair: string }>(
    `select status || '/' || provisioning_status as pair from access_grant where id = $1`,
    [id],
  )
  return row?.pair
}
const allPairs = grantStatuses.flatMap((status) =>
  provisioningStatuses.map((provisioning): GrantPair => `${status}/${provisioning}`),
)

suite('the SQL of a change', async () => {
  const id = await newGrant()
  for (const change of changes) {
    const rows = transitionsOf(change)
    const to = rows[0]?.to
    test(`${change} follows the table, and ends an unforeseen pair like the last row`, async () => {
      const foreseen = new Map(stepsOf(change))
      for (const before of allPairs) {
        const [status = '', was = ''] = before.split('/')
        await put(id, before)
        const isRefused = !foreseen.has(before) && (to === 'pending' || to === 'active' || change === 'begin')
        const isBegun = rows.some(({ from }) => (from as readonly string[]).includes(status))
        const changed = tx.write([
          sql`update access_grant g set ${assign(change)} where tenant_id = ${on.tenant_id} and id = ${id}
            and ${isBefore(change)}`,
        ])
        if (isRefused && isBegun) await assert.rejects(changed, /does not go from/, before)
        else await changed
        const row = rows.find((one) => (one.was as readonly string[]).includes(was)) ?? rows.at(-1)
        const after = isBegun && !isRefused ? `${to ?? status}/${row?.becomes}` : before
        assert.equal(await pairOf(id), after, before)
        if (foreseen.has(before)) assert.equal(after, foreseen.get(before))
      }
    })
  }

  test('adopt or activate is chosen by its condition', async () => {
    for (const [condition, after] of [
      [sql`true`, 'active/not_attempted'],
      [sql`false`, 'active/successful'],
    ] as const) {
      await put(id, 'pending/attempting')
      const set = assignEither(condition, 'adopt', 'activate')
      await tx.write([sql`update access_grant g set ${set} where tenant_id = ${on.tenant_id} and id = ${id}`])
      assert.equal(await pairOf(id), after)
    }
  })
})

suite('the database guards the life cycle', () => {
  test('with a trigger that foresees exactly the steps of the table', async () => {
    const [trigger] = await house.asSuperuser<{ text: string }>(
      `select pg_get_triggerdef(oid) as text from pg_trigger where tgname = 'access_grant_transition'`,
    )
    const steps = [...(trigger?.text ?? '').matchAll(/'(\w+\/\w+ \w+\/\w+)'/g)].map(([, step]) => step)
    assert.deepEqual(
      steps.sort(),
      foreseenSteps(),
      'make a migration that puts the steps of the table into the trigger',
    )
  })

  const cases: [GrantPair, GrantPair, 'foreseen' | 'refused' | 'let through'][] = [
    ['pending/not_attempted', 'pending/attempting', 'foreseen'],
    ['active/successful', 'revoked/deprovisioning', 'foreseen'],
    ['revoked/deprovisioned', 'active/successful', 'refused'],
    ['expired/deprovisioned', 'revoked/deprovisioning', 'refused'],
    ['pending/attempting', 'pending/not_attempted', 'refused'],
    ['active/successful', 'active/attempting', 'refused'],
    ['failed/failed', 'active/successful', 'refused'],
    ['active/attempting', 'revoked/deprovisioning', 'let through'],
    ['active/deprovisioned', 'expired/deprovisioning', 'let through'],
    ['pending/successful', 'failed/failed', 'let through'],
    ['revoked/deprovisioned', 'revoked/deprovisioning_failed', 'let through'],
  ]
  for (const [before, after, outcome] of cases) {
    test(`${before} → ${after}: ${outcome}${outcome === 'foreseen' ? '' : ', and counted'}`, async () => {
      const id = await newGrant()
      await put(id, before)
      const until = await counted()
      const moving = move(id, after)
      if (outcome === 'refused') await assert.rejects(moving, /does not go from/)
      else await moving
      assert.equal((await counted()) - until, outcome === 'foreseen' ? 0 : 1)
    })
  }
})
