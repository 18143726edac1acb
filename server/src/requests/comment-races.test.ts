import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { aLockIsWaitedFor } from '../../test/support/lock.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { sql } from '../db/sql.ts'
import { type Statement, systemActor } from '../kernel/context.ts'
import { maxComments } from './request-comment.ts'
import { saveComment } from './request-comment-store.ts'
import { cancelPendingRequest } from './transition-store.ts'

/** A comment is stored only if its request waits, and its author may write it, at that very moment. */
const house = await openHouse()
const on = await requestStage(house, 'racing comments')
const { tenant_id, people } = on
const { user, approver } = people
await on.rule('permit (principal, action, resource);')
const ctx = { tx: house.database.tenant(tenant_id), actor: systemActor, request_id: 'test' }

const ask = () => on.ask(on.account('300000000001'))
const comment = (person: typeof user, id: string) =>
  on.call(person, 'POST', `/v1/requests/${id}/comments`, { text: 'a comment' })
const count = async (id: string) => {
  const [row] = await house.asSuperuser<{ comments: number; events: number }>(
    `select (select count(*)::int from request_comment where request_id = $1) as comments,
      (select count(*)::int from event where subject_id = $1::text and type = 'request.commented') as events`,
    [id],
  )
  return [row?.comments, row?.events]
}
/** Comments that are there already. */
const fill = (id: string, comments: number) =>
  house.asSuperuser(
    `insert into request_comment (tenant_id, id, request_id, nth, author_id, text)
      select $1, gen_random_uuid(), $2, nth, $3, 'x' from generate_series(1, $4::integer) nth`,
    [tenant_id, id, user.user_id, comments],
  )

suite('a comment at the same moment', () => {
  for (const [who, person] of [
    ['the requester', user],
    ['an approver', approver],
  ] as const) {
    test(`as the end of the request, by ${who}, waits for it and is refused`, async () => {
      const id = await ask()
      const late = await ctx.tx.interactive(async (inside) => {
        assert.equal(await cancelPendingRequest({ ...ctx, tx: inside }, id), undefined)
        const reply = comment(person, id)
        await aLockIsWaitedFor(house, inside)
        return { reply }
      })
      const { status, body } = await late.reply
      assert.deepEqual([status, body.code, body.details], [409, 'request_not_pending', { status: 'cancelled' }])
      assert.deepEqual(await count(id), [0, 0])
    })
  }

  const whose = sql`tenant_id = ${tenant_id} and id = ${approver.user_id}`
  const losses: [string, Statement[]][] = [
    ['deactivation', [sql`update tenant_user set active = false where ${whose}`]],
    ['suspension', [sql`update tenant_user set suspended_until = now() + interval '1 day' where ${whose}`]],
    [
      'demotion',
      [
        sql`select from tenant_user where ${whose} for no key update`,
        sql`delete from user_role where tenant_id = ${tenant_id} and user_id = ${approver.user_id}`,
      ],
    ],
  ]
  for (const [loss, statements] of losses) {
    test(`as the ${loss} of its approver waits for it and is refused`, async () => {
      const id = await ask()
      const late = await ctx.tx.interactive(async (inside) => {
        await inside.write(statements)
        const reply = comment(approver, id)
        await aLockIsWaitedFor(house, inside)
        return { reply }
      })
      const { status, body } = await late.reply
      assert.deepEqual([status, body.code], [403, 'forbidden'])
      assert.deepEqual(await count(id), [0, 0])
      await house.asSuperuser('update tenant_user set active = true, suspended_until = null where id = $1', [
        approver.user_id,
      ])
      await house.asSuperuser(
        `insert into user_role (tenant_id, user_id, role_id) values ($1, $2, 'approver') on conflict do nothing`,
        [tenant_id, approver.user_id],
      )
      assert.equal((await comment(approver, id)).status, 201)
    })
  }

  test('as others is stored behind them, never beyond the bound', async () => {
    const id = await ask()
    await fill(id, maxComments - 4)
    const late = await ctx.tx.interactive(async (inside) => {
      const by = { request_id: id, author_id: user.user_id, text: 'first' }
      assert.ok('saved' in (await saveComment({ ...ctx, tx: inside }, by)))
      const replies = Array.from({ length: 12 }, (_, index) => comment(index % 2 === 0 ? user : approver, id))
      await aLockIsWaitedFor(house, inside)
      return { replies }
    })
    const replies = await Promise.all(late.replies)
    const statuses = replies.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [...Array(3).fill(201), ...Array(9).fill(422)])
    assert.deepEqual(await count(id), [maxComments, 4])
    const full = await comment(approver, id)
    assert.deepEqual([full.status, full.body.code], [422, 'unprocessable'])
    assert.match(full.text, /the request has 100 comments, the most that a request may have/)
    await assert.rejects(fill(id, 1), /request_comment_nth_uq/)
  })

  test('with the same Idempotency-Key is stored once', async () => {
    const id = await ask()
    const headers = { 'idempotency-key': 'once' }
    const call = () =>
      house.call({
        ...{ method: 'POST', url: `/v1/requests/${id}/comments`, token: user.token, tenant_id, headers },
        body: { text: 'once' },
      })
    const [first, second] = [await call(), await call()]
    assert.deepEqual([first.status, second.text], [201, first.text])
    assert.deepEqual(await count(id), [1, 1])
  })
})

test('rules that change after they permitted the author refuse no comment: it gives nothing', async () => {
  const id = await ask()
  const before = { request_id: id, author_id: approver.user_id, text: 'as the rules were' }
  const remove = await on.rule('forbid (principal, action == Action::"approve", resource);')
  assert.equal((await comment(approver, id)).status, 403)
  assert.ok('saved' in (await saveComment(ctx, before)))
  await remove()
})
