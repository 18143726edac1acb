import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { actionUrl, describedActions } from '../../test/support/described-actions.ts'
import { openHouse } from '../../test/support/house.ts'
import { together } from '../../test/support/race.ts'
import { systemActor } from '../kernel/context.ts'
import { maxDescribedActions } from './action.ts'
import { deleteDescription, findDescribedAction, updateDescription } from './action-store.ts'

/** What concurrent writes of descriptions leave. */
const house = await openHouse()
const tenant = await house.tenant('raced actions')
const { tenant_id } = tenant
const { call, describe, described, eventsOf } = describedActions(house, tenant)
const at = actionUrl
const statusesOf = (replies: readonly { status: number }[]) => replies.map(({ status }) => status).sort()

suite('concurrent writes (R8)', () => {
  test('of two with the same `If-Match`, one wins', async () => {
    for (const round of [1, 2, 3, 4]) {
      const { etag } = await described('Raced', `round ${round}`)
      const race = await together(['a', 'b'].map((text) => () => describe('Raced', `${round} ${text}`, etag)))
      assert.deepEqual(statusesOf(race), [200, 412])
      const won = race.find(({ status }) => status === 200)
      assert.deepEqual((await call('GET', at('Raced'))).body, won?.body)
    }
  })

  test('of a change and a removal with the same `If-Match`, one wins', async () => {
    for (const round of [1, 2, 3, 4]) {
      const { etag } = await described('Raced', `again ${round}`)
      const [changed, removed] = await together([
        () => describe('Raced', `changed ${round}`, etag),
        () => call('DELETE', at('Raced'), undefined, etag),
      ])
      const outcome = `${changed?.status} ${removed?.status}`
      assert.ok(['200 412', '412 204'].includes(outcome), outcome)
      assert.equal((await call('GET', at('Raced'))).status, changed?.status === 200 ? 200 : 404)
    }
  })

  test('without `If-Match` each takes effect on what the one before it left', async () => {
    const texts = ['one', 'two', 'three']
    const race = await together(texts.map((text) => () => describe('Chained', text)))
    assert.deepEqual(statusesOf(race), [200, 200, 200])
    const steps = (await eventsOf('Chained')).map(({ data }) => data as { old: string | null; new: string })
    assert.deepEqual(steps.map((step) => step.new).sort(), [...texts].sort())
    const olds = [null, ...steps.map((step) => step.new)]
    assert.deepEqual(
      steps.map(({ old }) => old),
      olds.slice(0, -1),
    )
  })

  test('a description that changed since it was read is neither replaced nor removed, though it says the same again', async () => {
    const before = (await described('Stale', 'first')).body as {
      action: string
      description: string
      updated_at: string
    }
    await described('Stale', 'second')
    await described('Stale', 'first')
    const emitted = await eventsOf('Stale')
    const ctx = { tx: house.database.tenant(tenant_id), actor: systemActor, request_id: 'test' }
    assert.equal(await updateDescription(ctx, before, 'third'), undefined)
    assert.equal(await deleteDescription(ctx, before), false)
    assert.equal((await findDescribedAction(ctx.tx, 'Stale'))?.description, 'first')
    assert.deepEqual(await eventsOf('Stale'), emitted)
  })
})

test('5,000 actions of a tenant have a description, whatever is sent at once; they can still be changed', async () => {
  const { tenant_id: full, owner: keeper } = await house.tenant('full of actions')
  const put = (action: string, description = 'x') =>
    house.call({
      ...{ method: 'PUT', url: at(action), token: keeper.token, tenant_id: full },
      body: { description },
    })
  await house.asSuperuser(
    `insert into action_description (tenant_id, action, description)
      select $1, 'a' || n, 'described' from generate_series(1, $2::integer) n`,
    [full, maxDescribedActions - 3],
  )
  const race = await together(['b1', 'b2', 'b3', 'b4', 'b5', 'b6'].map((action) => () => put(action)))
  assert.deepEqual(statusesOf(race), [200, 200, 200, 422, 422, 422])
  const refused = race.find(({ status }) => status === 422)
  assert.deepEqual([refused?.body.code, /5000 described/.test(String(refused?.body.message))], ['unprocessable', true])
  assert.equal((await put('a1', 'otherwise')).status, 200)
  const url = at('a2')
  assert.equal((await house.call({ method: 'DELETE', url, token: keeper.token, tenant_id: full })).status, 204)
  assert.equal((await put('c')).status, 200)
  assert.equal((await put('d')).status, 422)
})
