import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Person } from '../../test/support/house.ts'
import { public_url } from '../../test/support/mail-house.ts'
import { notifiedStage } from '../../test/support/notified-stage.ts'

/** Notifications are mailed too, each to its person's own verified address, as the person chose. */
const on = await notifiedStage('Acme')
const { house, owner, people, everybody, notify, waiting, failed, mail, addressOf, mailsOf, subjectsOf, prefer } = on

const decider = (person: Person) => [owner, people.admin, people.approver].includes(person)

suite('a notification is mailed', () => {
  test('to who may decide, then to the requester with how to connect, each at their own address', async () => {
    const id = await on.ask(on.account('700000000001', { reason: 'look at <b>logs</b>' }))
    await mail()
    assert.deepEqual(
      await Promise.all(everybody.map(async (person) => (await mailsOf(person)).length)),
      everybody.map((person) => (decider(person) ? 1 : 0)),
    )
    const [wanted] = await mailsOf(people.approver)
    assert.equal(wanted?.subject, 'user requests ReadOnly on account 700000000001')
    assert.deepEqual(wanted?.to, [{ name: '', address: addressOf(people.approver) }])
    assert.match(
      wanted?.text ?? '',
      new RegExp(`Open it \\(opening it decides nothing\\):\n${public_url}/requests/${id}\\?t=[0-9a-f-]{36}\n`),
    )
    assert.match(wanted?.text ?? '', /because you may decide this request in Acme\. .*kind\s+decision_needed/s)
    assert.match(wanted?.text ?? '', /This is a rehearsal/)
    assert.match(wanted?.html ?? '', /look at &lt;b&gt;logs&lt;\/b&gt;/)

    await on.approve(id)
    await on.grantsAre(id, 'active', 'successful')
    await mail()
    const [approved, active] = await mailsOf(people.user)
    assert.match(approved?.subject ?? '', /^approver approved ReadOnly on account 700000000001 for user$/)
    assert.equal(active?.subject, 'user has ReadOnly on account 700000000001')
    assert.match(active?.text ?? '', /How to connect: /)
    // All mails about a request form a thread, by the same reference.
    const references = [wanted, approved, active].map(
      (one) => one?.headers.find(({ key }) => key === 'references')?.value,
    )
    assert.deepEqual(references, Array(3).fill(`<request-${id}@ops.example>`))
    const lists = [wanted, approved, active].map((one) => one?.headers.find(({ key }) => key === 'list-id')?.value)
    assert.deepEqual(
      lists,
      ['decision_needed', 'request_decided', 'access_active'].map((kind) => `<${kind}.notifications.ops.example>`),
    )
    assert.deepEqual(await subjectsOf(people.auditor), [])
  })

  test('in the person’s own time zone, else in the tenant’s', async () => {
    await on.call(owner, 'PUT', '/v1/settings/timezone.default', { value: 'Asia/Kolkata' })
    await on.call(people.approver, 'PATCH', '/v1/users/me/preferences', { timezone: 'America/Caracas' })
    await on.ask(on.account('700000000002'))
    await mail()
    const textOf = async (person: Person) => (await mailsOf(person))[0]?.text ?? ''
    assert.match(await textOf(people.approver), /until \S+ \S+ UTC-4 /)
    assert.match(await textOf(people.admin), /until \S+ \S+ IST /)
  })

  test('to nobody where no mail is set up, and to no address that is not verified', async () => {
    await on.ask(on.account('700000000003'))
    await notify(false)
    assert.deepEqual(await waiting(), [])
    await house.asSuperuser('update tenant_user set email_verified = false where id = any($1)', [
      [people.approver.user_id, owner.user_id],
    ])
    await on.ask(on.account('700000000004'))
    await notify()
    assert.deepEqual(
      (await waiting()).map(({ user_id }) => user_id),
      [people.admin.user_id],
    )
  })

  test('as the person chose, at that time', async () => {
    await prefer(people.approver, { decision_needed: { mail: false } })
    await on.ask(on.account('700000000005', { action: 'Admin', break_glass: true, reason: 'all is down' }))
    await on.ask(on.account('700000000006'))
    await notify()
    // The choice is of one kind: an emergency is another.
    const ofApprover = async () =>
      (await waiting()).filter(({ user_id }) => user_id === people.approver.user_id).map(({ kind }) => kind)
    assert.deepEqual(await ofApprover(), ['emergency'])
    await prefer(people.admin, { emergency: { mail: false }, decision_needed: { mail: false } })
    await mail()
    assert.equal((await subjectsOf(people.approver)).length, 1)
    assert.deepEqual(await subjectsOf(people.admin), [])
    assert.deepEqual(
      (await failed()).map(({ user_id, last_error }) => [user_id, last_error]),
      Array(2).fill([people.admin.user_id, 'the person wants no mails of this kind']),
    )
  })

  test('when another user ended access, and by choice alone when it ended on time', async () => {
    const [revoked, first, second, given_back] = [
      await on.given('700000000007', { minutes: 0 }),
      await on.given('700000000008', { minutes: 0 }),
      await on.given('700000000009', { minutes: 0 }),
      await on.given('700000000010', { minutes: 0 }),
    ]
    for (const [person, grant] of [
      [owner, revoked],
      [people.user, given_back],
    ] as const) {
      const reply = await on.call(person, 'POST', `/v1/grants/${grant.id}/revoke`, { reason: 'over' })
      assert.equal(reply.status, 200, reply.text)
    }
    await on.age(first.request, 60)
    await on.grantsAre(first.request, 'expired', 'deprovisioned')
    await notify()
    await prefer(people.user, { access_ended: { mail: true } })
    await on.age(second.request, 60)
    await on.grantsAre(second.request, 'expired', 'deprovisioned')
    await mail()
    const ends = (await subjectsOf(people.user)).filter((subject) => /ended|gave back/.test(String(subject)))
    assert.deepEqual(ends, [
      'List on account 700000000009 of user ended on time',
      'Owner ended List on account 700000000007 of user early',
    ])
  })

  test('once, however often the event is delivered', async () => {
    await on.ask(on.account('700000000011'))
    await notify()
    const before = await waiting()
    await house.asSuperuser('update event_cursor set (xid, seq) = (0::text::xid8, 0)')
    await notify()
    assert.equal(before.length, 3)
    assert.deepEqual(await waiting(), before)
  })
})
