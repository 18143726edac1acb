import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { public_url } from '../../test/support/mail-house.ts'
import { notifiedStage } from '../../test/support/notified-stage.ts'
import { until } from '../../test/support/wait.ts'
import { maxMailsAnHour } from './notification-mail-store.ts'

/** Mails of notifications that come before an end, late, or too often. */
const on = await notifiedStage('Late')
const { house, owner, people, notify, rows, waiting, failed, startMailing, mail, mailsOf, subjectsOf } = on

/** Has waiting mails begin their next attempt now. */
async function hurry(): Promise<void> {
  await house.asSuperuser(`update notification_mail set next_look_at = now() where state = 'pending'`)
  await house.asSuperuser('update notification_mail_queue set next_look_at = now()')
}

suite('before access ends, its holder gets', () => {
  const warned = async (grant: string, count: number) => {
    const events = await until(`warning ${count}`, async () => {
      const all = (await on.eventsOf(grant)).filter(({ type }) => type === 'grant.expiring')
      return all.length >= count && all
    })
    assert.equal(events.length, count)
  }
  /** Sets the end of a grant. */
  const endsIn = (grant: string, minutes: number, warnedIn: number) =>
    house.asSuperuser(
      `with g as (update access_grant set expires_at = clock_timestamp() + make_interval(mins => $2::integer),
          expiring_at = clock_timestamp() + make_interval(mins => $3::integer) where id = $1 returning entitlement_id)
        update entitlement e set next_look_at = clock_timestamp() from g where e.id = g.entitlement_id`,
      [grant, minutes, warnedIn],
    )
  const expiringAt = async (grant: string) => {
    const [row] = await house.asSuperuser<{ before: number | null }>(
      'select extract(epoch from expires_at - expiring_at)::float8 as before from access_grant where id = $1',
      [grant],
    )
    return row?.before ?? null
  }

  test('a mail 15 minutes before, and another 5 minutes before, from which it is extended', async () => {
    const { id } = await on.given('710000000001')
    await endsIn(id, 15, 0)
    await warned(id, 1)
    assert.equal(await expiringAt(id), 300)
    await mail()
    const ending = async () => (await mailsOf(people.user)).filter(({ subject }) => subject?.startsWith('Ends soon'))
    const [first] = await ending()
    assert.match(first?.text ?? '', /If it is needed for longer, extend it before it ends\./)
    assert.match(
      first?.text ?? '',
      new RegExp(
        `Extend it \\(opening it shows how, and changes nothing\\):\n${public_url}/grants/${id}\\?t=[0-9a-f-]{36}\n`,
      ),
    )
    await endsIn(id, 5, 0)
    await warned(id, 2)
    assert.equal(await expiringAt(id), null)
    await mail()
    assert.equal((await ending()).length, 2)
  })

  test('one mail where the first is about as near', async () => {
    const { id } = await on.given('710000000002')
    await endsIn(id, 5, 0)
    await warned(id, 1)
    assert.equal(await expiringAt(id), null)
  })

  test('no offer to extend where an extension waits, or none is possible', async () => {
    const pending = await on.givenByPerson('710000000003')
    assert.equal((await on.extend(pending.id)).status, 201)
    const early = await on.given('710000000004', { minutes: 0 })
    for (const [{ id }, minutes] of [
      [pending, 29],
      [early, 40],
    ] as const) {
      await endsIn(id, minutes, 0)
      await warned(id, 1)
    }
    await mail()
    const texts = (await mailsOf(people.user))
      .filter(({ subject }) => subject?.startsWith('Ends soon'))
      .map(({ text = '' }) => text)
    assert.equal(texts.length, 2)
    assert.match(texts.find((text) => text.includes('710000000003')) ?? '', /An extension of it waits for a decision/)
    assert.match(texts.find((text) => text.includes('710000000004')) ?? '', /for longer, request it again\./)
    for (const text of texts) assert.doesNotMatch(text, /Extend it/)
  })
})

suite('a mail that comes late', () => {
  test('is not sent when what it is about had passed', async () => {
    const decided = await on.ask(on.account('710000000005'))
    const ended = await on.given('710000000006')
    await notify()
    await on.approve(decided)
    // Its mail must not come in a later test.
    await on.grantsAre(decided, 'active', 'successful')
    assert.equal((await on.call(people.user, 'POST', `/v1/grants/${ended.id}/revoke`, {})).status, 200)
    await mail()
    for (const person of [owner, people.admin, people.approver]) assert.deepEqual(await subjectsOf(person), [])
    assert.ok(!(await subjectsOf(people.user)).includes('user has List on account 710000000006'))
    const reasons = (await failed()).map(({ last_error }) => last_error)
    assert.deepEqual(reasons, Array(4).fill('what it is about had passed before the mail was sent'))
  })

  test('does not reach who lost the right, became inactive, or whose address is another by now', async () => {
    await on.ask(on.account('710000000007'))
    await notify()
    assert.equal(
      (await on.call(owner, 'PUT', `/v1/users/${people.approver.user_id}/roles`, { roles: ['user'] })).status,
      200,
    )
    await house.asSuperuser('update tenant_user set email_verified = false where id = $1', [people.admin.user_id])
    await mail()
    assert.deepEqual(await subjectsOf(people.approver), [])
    assert.deepEqual(await subjectsOf(people.admin), [])
    assert.equal((await subjectsOf(owner)).length, 1)
    const back = await on.call(owner, 'PUT', `/v1/users/${people.approver.user_id}/roles`, { roles: ['approver'] })
    assert.equal(back.status, 200)
  })

  test('is tried again with the same id while the server is away, and given up after a day (F9)', async () => {
    on.peer.behave = (step) => (step === 'rcpt' ? '451 come again' : 'go on')
    await on.ask(on.account('710000000008'))
    await notify()
    startMailing()
    await until('each was tried', async () => {
      const all = await rows()
      return all.length === 3 && all.every(({ last_error }) => /451/.test(last_error ?? ''))
    })
    await house.asSuperuser(
      `update notification_mail set created_at = now() - interval '25 hours' where user_id = $1`,
      [owner.user_id],
    )
    const tried = await rows()
    on.peer.behave = () => 'go on'
    await hurry()
    await until('no mail waits', async () => (await waiting()).length === 0)
    assert.deepEqual(await subjectsOf(owner), [])
    assert.match((await failed())[0]?.last_error ?? '', /^its time was over/)
    const [sent] = await mailsOf(people.approver)
    const { id } = tried.find(({ user_id }) => user_id === people.approver.user_id) ?? {}
    assert.equal(sent?.messageId, `<${id}@ops.example>`)
    assert.ok(Number((await rows()).find((row) => row.id === id)?.attempts) >= 2)
  })
})

suite('mails of one kind to one person', () => {
  test('that were not sent take no place of another', async () => {
    await house.asSuperuser('update tenant_user set email_verified = false where id <> $1', [people.approver.user_id])
    on.peer.behave = (step) => (step === 'rcpt' ? '550 no such mailbox' : 'go on')
    for (let nth = 0; nth < maxMailsAnHour; nth += 1)
      await on.ask(on.account(`7100000001${String(nth).padStart(2, '0')}`))
    await mail()
    assert.equal((await failed()).length, maxMailsAnHour)
    on.peer.behave = () => 'go on'
    await on.ask(on.account('710000000200'))
    await mail()
    assert.deepEqual(await subjectsOf(people.approver), ['user requests ReadOnly on account 710000000200'])
  })

  test('are limited in an hour; the others wait, and other kinds go', async () => {
    const { approver } = people
    await house.asSuperuser(
      `with e as (insert into event (tenant_id, id, type, actor_kind, subject_type, subject_id, request_id)
          select $1, gen_random_uuid(), 'request.created', 'system', 'request', gen_random_uuid()::text, 'test'
          from generate_series(1, $3::integer) returning id),
        n as (insert into notification (tenant_id, id, user_id, event_id, event_type, title, body)
          select $1, gen_random_uuid(), $2, id, 'request.created', 't', 'b' from e returning id)
        insert into notification_mail (tenant_id, id, user_id, kind, urgent, state, sent_at, next_look_at)
          select $1, id, $2, 'decision_needed', false, 'sent', now() - interval '30 minutes', null from n`,
      [on.tenant_id, approver.user_id, maxMailsAnHour],
    )
    await on.ask(on.account('710000000009'))
    await on.ask(on.account('710000000009', { action: 'Admin', break_glass: true, reason: 'all is down' }))
    await notify()
    startMailing()
    const held = await until('one waits', async () => {
      const [one, ...more] = await waiting()
      return more.length === 0 && one?.last_error !== null && one
    })
    assert.deepEqual([held?.user_id, held?.kind, held?.attempts], [approver.user_id, 'decision_needed', 0])
    assert.equal(held?.last_error, `the person gets at most ${maxMailsAnHour} mails of this kind in an hour`)
    const [due] = await house.asSuperuser<{ soon: boolean }>(
      `select next_look_at between now() + interval '20 minutes' and now() + interval '31 minutes' as soon
        from notification_mail where id = $1`,
      [held?.id],
    )
    assert.equal(due?.soon, true)
    assert.deepEqual(await subjectsOf(approver), [
      'EMERGENCY: user took Admin on account 710000000009 without an approver',
    ])
    await house.asSuperuser(`update notification_mail set sent_at = sent_at - interval '1 hour'`)
    await hurry()
    await until('no mail waits', async () => (await waiting()).length === 0)
    assert.equal((await subjectsOf(approver)).length, 2)
  })
})
