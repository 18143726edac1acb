import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { untilEventsSettle } from '../../test/support/settled.ts'
import { newId } from '../kernel/id.ts'
import type { RequestComment } from './request-comment.ts'

const house = await openHouse()
const on = await requestStage(house, 'comments')
const { tenant_id, owner, people } = on
const other = await requestStage(house, 'another')
await on.rule('permit (principal, action, resource);')
// Only those who may write policies decide about the second account.
await on.rule(`@notice("ask the owners") forbid (principal, action == Action::"approve", resource in
  cloud_account::"200000000002") unless { principal.scopes.contains("policies:write") };`)

const ask = (id = '200000000001', person = people.user) => on.ask(on.account(id), person)
const urlOf = (id: string) => `/v1/requests/${id}/comments`
const comment = (person: Person, id: string, text = 'Which ticket is this for?') =>
  on.call(person, 'POST', urlOf(id), { text })
const commentByKey = (api_key: string, id: string) =>
  house.call({ method: 'POST', url: urlOf(id), api_key, tenant_id, body: { text: 'by key' } })

/** A key of this person; returns its text. */
const keyOf = async (person: Person, scopes: string[]) =>
  String((await on.created(person, '/v1/api-keys', { name: 'a key', scopes })).key)

async function newPerson(roles: string[]): Promise<Person> {
  const body = { email: `${newId()}@example.com`, name: 'New', roles: ['user'], auth_provider: 'oidc' }
  const id = String((await on.created(owner, '/v1/users', body)).id)
  assert.equal((await on.call(owner, 'PUT', `/v1/users/${id}/roles`, { roles })).status, 200)
  return house.person(tenant_id, id)
}

const newRole = async (...scopes: string[]) =>
  String((await on.created(owner, '/v1/roles', { name: `role ${newId()}`, scopes })).id)

const storedTexts = async (id: string) =>
  (
    await house.asSuperuser<{ text: string }>('select text from request_comment where request_id = $1 order by nth', [
      id,
    ])
  ).map(({ text }) => text)

suite('a comment', () => {
  test('is written by the approver who asks back, and by the requester who answers', async () => {
    const id = await ask()
    const asked = await comment(people.approver, id)
    assert.equal(asked.status, 201, asked.text)
    const { id: comment_id, created_at: _at, ...said } = asked.body as RequestComment
    const { user_id: author_id } = people.approver
    const text = 'Which ticket is this for?'
    assert.deepEqual(said, { request_id: id, author_id, author_name: 'approver', text })
    const answered = await comment(people.user, id, 'INC-42')
    assert.deepEqual([answered.status, answered.body.author_id], [201, people.user.user_id])
    assert.notEqual(answered.body.id, comment_id)
    assert.deepEqual(await storedTexts(id), [text, 'INC-42'])
  })

  test('decides nothing: the request stays as it was, and no decision is recorded', async () => {
    const id = await ask()
    const state = () =>
      house.asSuperuser(
        `select a.*, (select count(*) from decision where request_id = a.id) as decisions,
          (select count(*) from access_grant where request_id = a.id) as grants from access_request a where id = $1`,
        [id],
      )
    const before = await state()
    assert.equal((await comment(people.approver, id)).status, 201)
    assert.deepEqual(await state(), before)
  })

  test('may be of many lines; it is never blank, too long, or what no database holds', async () => {
    const id = await ask()
    const texts = ['a\nb\r\n\tc', '=1+1 <b>“x”</b> ☃', '😀'.repeat(2_000)]
    for (const text of texts) assert.equal((await comment(people.user, id, text)).body.text, text)
    const faulty = [
      '',
      ' \n\t',
      '\u200b\u2060',
      '\u2800',
      'x'.repeat(2_001),
      '😀'.repeat(2_001),
      'nul \0',
      'half \ud800',
    ]
    for (const text of faulty) {
      const { status, body } = await comment(people.user, id, text)
      assert.deepEqual([status, body.code], [400, 'invalid_input'], JSON.stringify(text).slice(0, 40))
      if (!/nul|half/.test(text)) {
        const { fields } = body.details as { fields: { pointer: string }[] }
        assert.deepEqual(
          fields.map(({ pointer }) => pointer),
          ['/text'],
        )
      }
    }
    const more = await on.call(people.user, 'POST', urlOf(id), { text: 'x', author_id: people.approver.user_id })
    assert.deepEqual([more.status, more.body.code], [400, 'invalid_input'])
    assert.deepEqual(await storedTexts(id), texts)
  })

  test('by an API key is one of the user who made the key, within the scopes of the key', async () => {
    const id = await ask()
    const deciding = await keyOf(owner, ['requests:read', 'requests:approve'])
    const byKey = await commentByKey(deciding, id)
    assert.deepEqual([byKey.status, byKey.body.author_id], [201, owner.user_id])
    const requesting = await commentByKey(people.user.api_key, id)
    assert.deepEqual([requesting.status, requesting.body.author_id], [201, people.user.user_id])
    const reading = await commentByKey(await keyOf(owner, ['requests:read']), id)
    assert.deepEqual([reading.status, reading.body.code], [403, 'forbidden'])
    for (const scopes of [['requests:approve'], ['requests:create']]) {
      assert.equal((await commentByKey(await keyOf(owner, scopes), id)).status, 404)
    }
  })

  test('is counted in the request, for its requester and for others', async () => {
    const id = await ask()
    const counts = () =>
      Promise.all(
        [people.user, people.approver, people.auditor].map(
          async (person) => (await on.call(person, 'GET', `/v1/requests/${id}`)).body.comment_count,
        ),
      )
    assert.deepEqual(await counts(), [0, 0, 0])
    for (const person of [people.approver, people.user]) assert.equal((await comment(person, id)).status, 201)
    assert.deepEqual(await counts(), [2, 2, 2])
  })
})

suite('no comment is written', () => {
  test('by those who may see the request and not decide it, who learn why', async () => {
    const id = await ask('200000000002')
    const refusals: [Person, RegExp][] = [
      [people.auditor, /deciding requests needs the scope `requests:approve`$/],
      [people.approver, /may comment on it: a rule \(ask the owners\) forbids deciding the request/],
    ]
    for (const [person, why] of refusals) {
      const { status, body } = await comment(person, id)
      assert.deepEqual([status, body.code], [403, 'forbidden'])
      assert.match(String(body.message), why)
    }
    const refused = await house.asSuperuser<{ actor_id: string }>(
      `select actor_id from event
        where tenant_id = $1 and type = 'access.refused' and subject_id = 'createRequestComment' order by seq`,
      [tenant_id],
    )
    assert.deepEqual(
      refused.slice(-2).map(({ actor_id }) => actor_id),
      [people.auditor.user_id, people.approver.user_id],
    )
    assert.equal((await comment(owner, id)).status, 201)
    assert.deepEqual((await storedTexts(id)).length, 1)
  })

  test('by rights that the requester gave after the request', async () => {
    const [giver, receiver] = [await newPerson(['admin', 'approver']), await newPerson(['user'])]
    const id = await ask('200000000001', giver)
    const given = await on.call(giver, 'PUT', `/v1/users/${receiver.user_id}/roles`, { roles: ['approver'] })
    assert.equal(given.status, 200, given.text)
    const refused = await comment(receiver, id)
    assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'])
    assert.match(refused.text, /a role that the requester gave after making the request does not count/)
    assert.equal((await comment(receiver, await ask())).status, 201)
  })

  test('by those who may not see the request: to them it does not exist', async () => {
    const id = await ask()
    const blind = await newPerson([await newRole('requests:approve')])
    const [stranger, unknown] = [await newPerson(['user']), newId()]
    for (const person of [blind, stranger]) {
      const [hidden, none] = [await comment(person, id), await comment(person, unknown)]
      assert.deepEqual([hidden.status, hidden.text], [404, none.text])
    }
    for (const person of [other.owner, other.people.approver, other.people.user]) {
      const [foreign, none] = [
        await other.call(person, 'POST', urlOf(id), { text: 'x' }),
        await comment(owner, unknown),
      ]
      assert.deepEqual([foreign.status, foreign.text], [404, none.text])
    }
    assert.deepEqual(await storedTexts(id), [])
  })

  const ends: [string, (id: string) => Promise<unknown>, object][] = [
    ['approved', (id) => on.approve(id), { status: 'approved', decided_by: people.approver.user_id }],
    [
      'denied',
      (id) => on.call(people.approver, 'POST', `/v1/requests/${id}/deny`, {}),
      { status: 'denied', decided_by: people.approver.user_id },
    ],
    ['cancelled', (id) => on.call(people.user, 'DELETE', `/v1/requests/${id}`), { status: 'cancelled' }],
    [
      'past its deadline',
      (id) => house.asSuperuser('update access_request set next_look_at = clock_timestamp() where id = $1', [id]),
      { status: 'expired' },
    ],
  ]
  for (const [what, end, details] of ends) {
    test(`once the request is ${what}`, async () => {
      const id = await ask()
      await end(id)
      for (const person of [people.user, people.approver, owner]) {
        const { status, body } = await comment(person, id)
        assert.deepEqual([status, body.code, body.details], [409, 'request_not_pending', details])
      }
      assert.equal((await comment(people.auditor, id)).status, 403)
      assert.deepEqual(await storedTexts(id), [])
    })
  }
})

suite('what is stored of a comment', () => {
  test('can be changed and deleted neither by the service nor by the owner of the tables', async () => {
    const id = await ask()
    assert.equal((await comment(people.user, id)).status, 201)
    for (const change of [
      `update request_comment set text = 'x'`,
      'delete from request_comment',
      'truncate request_comment',
    ]) {
      await assert.rejects(house.asSuperuser(change), /comments are never changed or deleted/)
    }
    const [rights] = await house.asSuperuser(
      `select array_agg(privilege_type::text order by privilege_type) as own from information_schema.role_table_grants
        where table_name = 'request_comment' and grantee = 'sallyport_app'`,
    )
    assert.deepEqual(rights, { own: ['INSERT', 'SELECT'] })
  })

  test('keeps its author when the user is deleted, as a decision does', async () => {
    const author = await newPerson(['approver'])
    const id = await ask()
    assert.equal((await comment(author, id)).status, 201)
    assert.equal((await on.call(owner, 'DELETE', `/v1/users/${author.user_id}`)).status, 204)
    const { data } = (await on.call(people.user, 'GET', urlOf(id))).body as { data: RequestComment[] }
    assert.deepEqual(
      data.map(({ author_id, author_name }) => [author_id, author_name]),
      [[author.user_id, 'New']],
    )
  })

  test('is an event without the text, which stands in no other table', async () => {
    const id = await ask()
    const secret = `canary ${newId()}`
    const { body } = await comment(people.approver, id, secret)
    const events = (await on.eventsOf(id)).filter(({ type }) => type === 'request.commented')
    assert.deepEqual(events, [{ type: 'request.commented', data: { comment_id: body.id } }])
    const tables = await house.asSuperuser<{ name: string }>(
      `select relname::text as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
    )
    const found: string[] = []
    for (const { name } of tables) {
      const rows = await house.asSuperuser(`select from ${name} t where t::text like $1 limit 1`, [`%${secret}%`])
      if (rows.length > 0) found.push(name)
    }
    assert.deepEqual(found, ['request_comment'])
    await untilEventsSettle(house)
    const exported = await on.call(owner, 'GET', '/v1/audit-events/export')
    assert.ok(exported.text.includes(String(body.id)), exported.text.slice(0, 200))
    assert.ok(!exported.text.includes(secret))
  })
})
