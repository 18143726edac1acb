import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { kindNames, notificationKinds } from './notification-kind.ts'

const url = '/v1/users/me/notification-preferences'
const house = await openHouse()
const { tenant_id, people, owner } = await house.tenant('Acme')
const { user, approver } = people

type Preferences = { kinds: Record<string, { mail: boolean }>; mail: { address: string; obstacle?: string } }
const call = (person: Person, method: string, body?: unknown, headers: Record<string, string> = {}) =>
  house.call({ method, url, token: person.token, tenant_id, headers, ...(body !== undefined && { body }) })
const read = async (person: Person) => (await call(person, 'GET')).body as Preferences
const eventsOf = ({ user_id }: Person) =>
  house.asSuperuser<{ data: object }>(
    `select data from event where type = 'user.updated' and subject_id = $1 order by seq`,
    [user_id],
  )
const stored = async ({ user_id }: Person) => {
  const [row] = await house.asSuperuser<{ mail_choices: object }>(
    'select mail_choices from tenant_user where id = $1',
    [user_id],
  )
  return row?.mail_choices
}
const defaults = Object.fromEntries(
  kindNames.map((kind) => [kind, { mail: notificationKinds[kind].mailed_by_default }]),
)

suite('notification preferences', () => {
  test('are the defaults, with the address and why it gets no mail', async () => {
    assert.deepEqual(await read(user), {
      kinds: defaults,
      mail: { address: 'user@example.com', obstacle: 'address_not_verified' },
    })
    await house.asSuperuser('update tenant_user set email_verified = true where id = $1', [user.user_id])
    assert.equal((await read(user)).mail.obstacle, 'no_mail_server')
    await house.asSuperuser(
      `update tenant_user set email = 'user@a.invalid', email_key = 'user@a.invalid' where id = $1`,
      [user.user_id],
    )
    assert.equal((await read(user)).mail.obstacle, 'unreachable_address')
  })

  test('are replaced as a whole, on record, and only what differs from the default is kept', async () => {
    const kinds = { comment: { mail: false }, access_ended: { mail: true }, emergency: { mail: true } }
    const reply = await call(approver, 'PUT', { kinds })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual((reply.body as Preferences).kinds, { ...defaults, ...kinds })
    assert.deepEqual(await stored(approver), { comment: false, access_ended: true })
    assert.deepEqual(await eventsOf(approver), [
      { data: { fields: ['notification_preferences'], mail_choices: { comment: false, access_ended: true } } },
    ])
    assert.deepEqual((await read(owner)).kinds, defaults)
    // What was read can be sent back, and changes nothing.
    assert.equal((await call(approver, 'PUT', await read(approver))).status, 200)
    assert.equal((await eventsOf(approver)).length, 1)
    assert.deepEqual(((await call(approver, 'PUT', { kinds: {} })).body as Preferences).kinds, defaults)
    assert.deepEqual([await stored(approver), (await eventsOf(approver)).length], [{}, 2])
  })

  for (const [name, body, pointer] of [
    ['an unknown kind', { kinds: { lunch: { mail: true } } }, '/kinds/lunch'],
    ['a kind without a choice', { kinds: { comment: {} } }, '/kinds/comment/mail'],
    ['another way than mail', { kinds: { comment: { mail: true, sms: true } } }, '/kinds/comment/sms'],
    ['no kinds', {}, '/kinds'],
    ['another address', { kinds: {}, mail: { address: 'other@example.com' } }, '/mail'],
  ] as const) {
    test(`take not ${name}`, async () => {
      const reply = await call(owner, 'PUT', body)
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
      const { fields } = reply.body.details as { fields: { pointer: string }[] }
      assert.deepEqual(
        fields.map((one) => one.pointer),
        [pointer],
      )
      assert.deepEqual(await stored(owner), {})
    })
  }

  test('change only as the caller saw them (If-Match)', async () => {
    const { headers } = await call(owner, 'GET')
    const [first, late] = [{ kinds: { comment: { mail: false } } }, { kinds: { emergency: { mail: false } } }]
    const tag = { 'if-match': String(headers.etag) }
    assert.equal((await call(owner, 'PUT', first, tag)).status, 200)
    assert.equal((await call(owner, 'PUT', late, tag)).status, 412)
    assert.deepEqual(await stored(owner), { comment: false })
  })

  test('belong to a person: a key has none', async () => {
    const reply = await house.call({ method: 'GET', url, api_key: owner.api_key, tenant_id })
    assert.equal(reply.status, 401)
  })
})
