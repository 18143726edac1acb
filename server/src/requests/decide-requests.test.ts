import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { approving, bulkStage, outcomesOf } from '../../test/support/bulk-stage.ts'
import { openHouse } from '../../test/support/house.ts'
import { aLockIsWaitedFor } from '../../test/support/lock.ts'
import { rounds, together } from '../../test/support/race.ts'
import { until } from '../../test/support/wait.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../kernel/id.ts'
import { decisionTurns } from './decision-turns.ts'

/** Several requests decided in one call. */
const house = await openHouse()
const on = await bulkStage(house, 'several at once')
const { tenant_id, owner, people } = on
const faults = await on.breakWrites()

/** Of requests that stay pending. */
const [id = '', other = ''] = await on.pending(2)

/** Work that has a turn of the tenant until it is told to end. */
function occupy(user_id: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = decisionTurns({ tenant_id, user_id }, (inTurn) => inTurn(() => promise))
  return { done, end: resolve }
}

const single = (id: string, verb: 'approve' | 'deny') =>
  on.call(people.approver, 'POST', `/v1/requests/${id}/${verb}`, {})

suite('several decisions in one call', () => {
  test('are made each as a call for it alone would make it, in the order given', async () => {
    const [approved = '', denied = '', forbidden = '', over = ''] = await on.pending(4)
    const [own = ''] = await on.pending(1, people.approver)
    await single(over, 'deny')
    const account = `cloud_account::"${await accountOf(forbidden)}"`
    const lift = await on.rule(
      `@notice("not this one") forbid (principal, action == Action::"approve", resource in ${account});`,
    )
    const results = await on.decide(people.approver, [
      { id: over, decision: 'approve' },
      { id: approved.toUpperCase(), decision: 'approve', reasoning: 'for the migration' },
      { id: own, decision: 'approve' },
      { id: newId(), decision: 'deny' },
      { id: denied, decision: 'deny', reasoning: null },
      { id: forbidden, decision: 'approve' },
    ])
    assert.deepEqual(outcomesOf(results), [
      '409 request_not_pending',
      200,
      '403 forbidden',
      '404 not_found',
      200,
      '403 policy_denied',
    ])
    // The errors are those of the single calls, to the byte.
    for (const [index, id] of [
      [0, over],
      [2, own],
      [3, newId()],
      [5, forbidden],
    ] as const) {
      const { status, text } = await single(id, 'approve')
      assert.deepEqual([status, text], [results[index]?.status, JSON.stringify(results[index]?.error)])
    }
    await lift()
    const { request } = results[1] ?? {}
    assert.deepEqual(
      [results[1]?.id, request?.status, request?.decided_by, request?.decision_reasoning],
      [approved, 'approved', people.approver.user_id, 'for the migration'],
    )
    const { duration_seconds: _, ...shown } = request ?? {}
    const { body } = await on.call(people.approver, 'GET', `/v1/requests/${approved}`)
    assert.deepEqual(shown, Object.fromEntries(Object.keys(shown).map((name) => [name, body[name]])))
    assert.equal((await on.grantsOf(approved)).length, 1)
    assert.deepEqual(
      [await on.decidedSoFar(approved), await on.decidedSoFar(denied)],
      [
        ['approved', 1],
        ['denied', 1],
      ],
    )
    assert.deepEqual(results[4]?.request?.status, 'denied')
    const refusals = (await on.eventsOf(own)).filter(({ type }) => type === 'access.refused')
    assert.deepEqual(
      refusals.map(({ data }) => data.code),
      ['forbidden', 'forbidden'],
      'the audit log has the refused try, and that of the single call',
    )
    const tried = await on.call(people.auditor, 'GET', `/v1/requests/${forbidden}/decision`)
    assert.deepEqual(
      (tried.body.data as { kind: string; allowed: boolean }[]).map(({ kind, allowed }) => [kind, allowed]),
      [
        ['ask', true],
        ['approve', false],
      ],
      'the refused try is recorded once',
    )
  })

  test('are fifty at most; one more decides nothing', async () => {
    const ids = await on.pending(51)
    const refused = await on.send(people.approver, approving(ids))
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_input'])
    assert.deepEqual(await on.decidedSoFar(ids[0] ?? ''), ['pending', 0])
    const results = await on.decide(people.approver, approving(ids.slice(0, 50)))
    // On a busy machine the last ones can be too late.
    assert.equal(results[0]?.status, 200)
    assert.ok(results.every(({ status }) => status === 200 || status === 503))
    assert.deepEqual(
      results.map(({ id }) => id),
      ids.slice(0, 50),
    )
  })

  const good = { id, decision: 'approve' }
  const malformed: Record<string, [sent: unknown, pointer: string]> = {
    'no list': [undefined, '/decisions'],
    'an empty list': [[], '/decisions'],
    'an id twice': [[good, { id: other, decision: 'deny' }, { ...good, decision: 'deny' }], '/decisions/2/id'],
    'an id twice, in other letters': [[good, { ...good, id: id.toUpperCase() }], '/decisions/1/id'],
    'an id that is no uuid': [[good, { id: 'first', decision: 'approve' }], '/decisions/1/id'],
    'an unknown decision': [[good, { id: other, decision: 'approved' }], '/decisions/1/decision'],
    'no decision': [[good, { id: other }], '/decisions/1/decision'],
    'an unknown field': [[good, { id: other, decision: 'deny', reason: 'x' }], '/decisions/1/reason'],
    'a reasoning that is too long': [[{ ...good, reasoning: 'x'.repeat(2_001) }], '/decisions/0/reasoning'],
  }
  for (const [name, [sent, pointer]] of Object.entries(malformed)) {
    test(`with ${name} are refused, and none is made`, async () => {
      const reply = await on.send(people.approver, sent)
      const { fields } = reply.body.details as { fields: { pointer: string }[] }
      assert.deepEqual(
        [reply.status, reply.body.code, fields.map((field) => field.pointer)],
        [400, 'invalid_input', [pointer]],
      )
      assert.deepEqual(await on.decidedSoFar(id), ['pending', 0])
    })
  }

  test('go on after one that meets a fault of the service, which is logged with its request', async (t) => {
    const ids = await on.pending(4)
    await faults.of(ids[2] ?? '')
    const logged = t.mock.method(house.app.server, 'logFault')
    const results = await on.decide(people.approver, approving(ids))
    await faults.repair()
    assert.deepEqual(outcomesOf(results), [200, 200, '500 internal', 200])
    assert.deepEqual(Object.keys(results[2]?.error ?? {}), ['code', 'message'])
    assert.deepEqual(await on.decidedOf(ids), [
      ['approved', 1],
      ['approved', 1],
      ['pending', 0],
      ['approved', 1],
    ])
    const [[, thrown, more] = []] = logged.mock.calls.map((call) => call.arguments)
    assert.match(String(thrown), /a fault of the test/)
    assert.deepEqual(more, { entry: ids[2] })
  })
})

async function accountOf(request_id: string): Promise<string> {
  const { body } = await on.call(people.approver, 'GET', `/v1/requests/${request_id}`)
  return (body.resource as { id: string }).id
}

suite('while the decisions of a call are made', () => {
  const { user_id, token, api_key } = people.approver
  const setRoles = (...roles: string[]) => on.call(owner, 'PUT', `/v1/users/${user_id}/roles`, { roles })
  const losses: Record<string, { by: object; lose(): Promise<unknown>; outcome: string }> = {
    'a revoked key': {
      by: { api_key },
      lose: () => house.asSuperuser('update api_key set revoked_at = now() where created_by = $1', [user_id]),
      outcome: '401 unauthenticated',
    },
    'a demoted approver': { by: { token }, lose: () => setRoles('user'), outcome: '403 forbidden' },
  }
  for (const [name, { by, lose, outcome }] of Object.entries(losses)) {
    test(`another’s decision goes between them, and ${name} decides nothing more`, async () => {
      const ids = await on.pending(3)
      const other = occupy('other')
      const { deciding, between } = await decideBeside(by, ids)
      await until('the first is decided', async () => (await on.decidedSoFar(ids[0] ?? ''))[0] === 'approved')
      await lose()
      for (const { end } of [other, between]) end()
      assert.deepEqual(outcomesOf(await deciding), [200, outcome, outcome])
      assert.deepEqual(await on.decidedSoFar(ids[1] ?? ''), ['pending', 0])
      await setRoles('user', 'approver')
    })
  }

  test('a demotion that one of them waits for refuses it and the rest, and the audit log has each', async () => {
    const ids = await on.pending(2)
    const replies: Promise<unknown>[] = []
    await house.database.tenant(tenant_id).interactive(async (inside) => {
      await inside.write([
        sql`select from tenant_user where tenant_id = ${tenant_id} and id = ${user_id} for no key update`,
        sql`delete from user_role where tenant_id = ${tenant_id} and user_id = ${user_id} and role_id = 'approver'`,
      ])
      replies.push(on.decide(people.approver, approving(ids)).then(outcomesOf))
      await aLockIsWaitedFor(house, inside)
    })
    assert.deepEqual(await Promise.all(replies), [['403 forbidden', '403 forbidden']])
    const refused = (await on.eventsOf(ids[0] ?? '')).filter(({ type }) => type === 'access.refused')
    assert.equal(refused.length, 1)
    await setRoles('user', 'approver')
  })

  test('the others of a tenant whose turns are all taken are answered 503, and can be sent again', async () => {
    const ids = await on.pending(2)
    const taken = Array.from({ length: 52 }, (_, n) => occupy(`person ${n}`))
    assert.deepEqual(outcomesOf(await on.decide(people.approver, approving(ids))), Array(2).fill('503 unavailable'))
    for (const { end } of taken) end()
    await Promise.allSettled(taken.map(({ done }) => done))
    assert.deepEqual(outcomesOf(await on.decide(people.approver, approving(ids))), [200, 200])
  })

  test('no request is decided twice, by calls that list the same ones in another order', async () => {
    for (const round of rounds(5)) {
      const ids = await on.pending(6)
      const headers = round % 2 === 0 ? {} : { 'idempotency-key': newId() }
      const orders = [ids, ids.toReversed()]
      const deciders = [people.approver, people.admin]
      const all = await together(
        orders.map((order, n) => () => on.decide(deciders[n] ?? owner, approving(order), headers)),
      )
      for (const [index, id] of ids.entries()) {
        const of = all.map((results) => results.find((result) => result.id === id))
        assert.deepEqual(of.map((result) => result?.status).sort(), [200, 409], `request ${index}`)
        assert.deepEqual(await on.decidedSoFar(id), ['approved', 1])
      }
    }
  })
})

/** Begins a call that decides these requests; while it decides the first, the work `between` waits for the next turn. */
function decideBeside(by: object, ids: readonly string[]) {
  return house.database.tenant(tenant_id).interactive(async (inside) => {
    await inside.write([sql`select from access_request where tenant_id = ${tenant_id} and id = ${ids[0]} for update`])
    const deciding = on.decide(by, approving(ids))
    await aLockIsWaitedFor(house, inside)
    return { deciding, between: occupy('between') }
  })
}
