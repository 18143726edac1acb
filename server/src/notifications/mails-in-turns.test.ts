import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { TestTenant } from '../../test/support/house.ts'
import { notifiedStage } from '../../test/support/notified-stage.ts'
import { outline, readingOf, recordingTx } from '../../test/support/rows-read.ts'
import { until } from '../../test/support/wait.ts'
import type { Statement } from '../kernel/context.ts'
import { beginMail, maxMailsAnHour } from './notification-mail-store.ts'

/** Whose mail goes first: between tenants, of a tenant, and of a person. */
const on = await notifiedStage('Turns')
const { house, people, notify, rows, waiting, startMailing, mail, mailsOf, subjectsOf, addressOf } = on

const ordinary = ['decision_needed', 'request_decided', 'comment', 'access_active', 'access_ending', 'access_failed']

/**
 * Writes many notifications of an emergency for a person of this tenant, with mails of other kinds: `each` of every kind. They wait, or were sent
 * so long ago. Waiting ones are written last: further notifications would be made of their events.
 */
async function flood(
  { tenant_id }: Pick<TestTenant, 'tenant_id'>,
  user_id: string,
  request_id: string,
  { each, sent = null, kinds = ordinary }: { each: number; sent?: string | null; kinds?: string[] },
): Promise<void> {
  await house.asSuperuser(
    `with wanted as (
        select kind, gen_random_uuid() as id from unnest($4::text[]) kind, generate_series(1, $5::integer)),
      e as (insert into event (tenant_id, id, type, actor_kind, actor_id, subject_type, subject_id, request_id)
        select $1, id, case when $6::interval is null then 'request.break_glass' else 'group.created' end,
          'user', $2, 'request', $3, 'test' from wanted returning id),
      n as (insert into notification (tenant_id, id, user_id, event_id, event_type, title, body)
        select $1, id, $2, id, 'request.break_glass', 't', 'b' from e returning id),
      m as (insert into notification_mail (tenant_id, id, user_id, kind, urgent, state, sent_at, next_look_at)
        select $1, id, $2, kind, false, case when $6::interval is null then 'pending' else 'sent' end,
          now() - $6::interval, case when $6::interval is null then now() - interval '1 minute' end
        from wanted join n using (id) returning tenant_id)
      insert into notification_mail_queue (tenant_id, next_look_at) select $1, now() - interval '1 minute'
        on conflict (tenant_id) do update set next_look_at = excluded.next_look_at`,
    [tenant_id, user_id, request_id, kinds, each, sent],
  )
}
const emergency = (account: string) =>
  on.ask(on.account(account, { action: 'Admin', break_glass: true, reason: 'all is down' }))
async function sendAll(): Promise<void> {
  startMailing()
  await until('no mail waits', async () => (await waiting()).length === 0)
}
/** The place of the first mail with these words, among all that were taken. */
const placeOf = (words: string) => on.peer.taken.findIndex(({ raw }) => raw.includes(words))

suite('a mail does not wait for', () => {
  test('the many mails of other tenants', async () => {
    const floods: (() => Promise<void>)[] = []
    for (const name of ['Flood', 'Deluge']) {
      const other = await house.tenant(name)
      const { tenant_id, owner } = other
      await house.asSuperuser('update tenant_user set email_verified = true where tenant_id = $1', [tenant_id])
      const call = (url: string, body: object) =>
        house.call({ method: 'POST', url, token: owner.token, tenant_id, body })
      const { body: policy } = await call('/v1/policies', { name })
      const rule = '@approval_mode("break_glass") permit (principal, action, resource);'
      await call(`/v1/policies/${policy.id}/rules`, { policy_text: rule })
      const wanted = on.account('720000000001', { break_glass: true, reason: 'all is down' })
      const { body, status } = await call('/v1/requests', wanted)
      assert.equal(status, 201)
      floods.push(() => flood(other, owner.user_id, String(body.id), { each: maxMailsAnHour - 1 }))
    }
    await on.ask(on.account('720000000002'))
    await notify()
    for (const begin of floods) await begin()
    await sendAll()
    assert.ok(on.peer.taken.length >= 2 * ordinary.length * (maxMailsAnHour - 1) + 3)
    assert.ok(placeOf('720000000002') < 100, `it came as number ${placeOf('720000000002')}`)
  })

  test('ordinary mails of the same tenant, where it is of an emergency', async () => {
    const first = await emergency('720000000003')
    await mail()
    on.peer.taken.length = 0
    await on.stopMailing()
    await emergency('720000000004')
    await notify()
    await flood(on, people.approver.user_id, first, { each: 15 })
    await sendAll()
    assert.ok(on.peer.taken.length > 80)
    assert.ok(placeOf('720000000004') < 10, `it came as number ${placeOf('720000000004')}`)
  })
})

suite('over the limit of an hour', () => {
  test('mails of a kind go in their order', async () => {
    const past = await emergency('720000000005')
    const { approver } = people
    await flood(on, approver.user_id, past, { each: maxMailsAnHour, kinds: ['decision_needed'], sent: '30 minutes' })
    const held = async (count: number) =>
      until(`${count} wait`, async () => {
        const all = (await waiting()).filter(({ kind }) => kind === 'decision_needed')
        return all.length === count && all.every(({ last_error }) => last_error !== null)
      })
    await on.ask(on.account('720000000006'))
    await notify()
    startMailing()
    await held(1)
    // A place is free, and a later mail does not take it.
    await house.asSuperuser(
      `update notification_mail set sent_at = now() - interval '2 hours' where id in
        (select id from notification_mail where sent_at < now() - interval '20 minutes' limit 1)`,
    )
    await on.ask(on.account('720000000007'))
    await notify()
    await held(2)
    const subjects = async () =>
      (await subjectsOf(approver)).filter((subject) => subject?.includes('requests ReadOnly'))
    assert.deepEqual(await subjects(), [])
    await house.asSuperuser(`update notification_mail set next_look_at = now() where state = 'pending'`)
    await house.asSuperuser('update notification_mail_queue set next_look_at = now()')
    await until('one is sent', async () => (await subjects()).length > 0)
    assert.deepEqual(await subjects(), ['user requests ReadOnly on account 720000000006'])
    assert.equal((await mailsOf(approver)).filter(({ subject }) => subject?.includes('720000000007')).length, 0)
  })

  test('a mail of no more use keeps none waiting', async () => {
    const past = await emergency('720000000008')
    const { approver } = people
    await flood(on, approver.user_id, past, { each: maxMailsAnHour, kinds: ['decision_needed'], sent: '30 minutes' })
    const id = await on.ask(on.account('720000000009'))
    await notify()
    await on.call(people.user, 'DELETE', `/v1/requests/${id}`)
    startMailing()
    await until('it is given up', async () => (await waiting()).length === 0)
    assert.ok((await rows()).some(({ last_error }) => last_error?.startsWith('what it is about had passed')))
  })

  test('costs no more by the mails of earlier times, on new and analyzed tables', async () => {
    const past = await emergency('720000000011')
    const { approver } = people
    await flood(on, approver.user_id, past, { each: 3_000, kinds: ['decision_needed'], sent: '40 days' })
    await on.ask(on.account('720000000010'))
    await notify()
    const [due] = (await waiting()).filter(({ user_id }) => user_id === approver.user_id)
    const [queue] = await house.asSuperuser<{ id: string; generation: string }>(
      'select id, generation::text from notification_mail_queue where tenant_id = $1',
      [on.tenant_id],
    )
    assert.ok(due && queue)
    for (const state of ['new', 'analyzed']) {
      if (state === 'analyzed') await house.asSuperuser('analyze notification_mail')
      const { tx, statements } = recordingTx(house.database.tenant(on.tenant_id))
      const begun = await beginMail(tx, { tenant_id: on.tenant_id, ...queue }, due.id)
      assert.equal(begun?.email, addressOf(approver))
      for (const generic of [true, false]) {
        const { rows: read, plan } = await readingOf(house, on.tenant_id, statements[0] as Statement, generic)
        assert.ok(read <= 500, `${read} rows on ${state} tables\n${outline(plan)}`)
      }
    }
  })
})
