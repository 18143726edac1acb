import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { actionUrl, describedActions } from '../../test/support/described-actions.ts'
import { openHouse, type Person } from '../../test/support/house.ts'
import { pagesOf } from '../../test/support/pages-of.ts'

/** Descriptions of actions: who writes them, what they may be, and their list. Where they are shown: `shown.test.ts`. */
const house = await openHouse()
const tenant = await house.tenant('actions')
const { tenant_id, owner, people } = tenant
const other = await house.tenant('other actions')

const { call, described, eventsOf } = describedActions(house, tenant)
const at = actionUrl
const stored = () =>
  house.asSuperuser('select action, description from action_description where tenant_id = $1 order by action', [
    tenant_id,
  ])

suite('a description', () => {
  test('is written, read, changed and removed, each change with its event', async () => {
    assert.equal((await call('GET', at('Read'))).status, 404)
    const made = await described('Read', 'Sees everything')
    const { updated_at, ...rest } = made.body
    assert.deepEqual(rest, { action: 'Read', description: 'Sees everything' })
    const read = await call('GET', at('Read'))
    assert.deepEqual([read.body, read.etag], [made.body, made.etag])
    const changed = await described('Read', 'Sees all, changes nothing')
    assert.notEqual(changed.etag, made.etag)
    assert.equal((await call('DELETE', at('Read'))).status, 204)
    for (const method of ['GET', 'DELETE']) assert.equal((await call(method, at('Read'))).status, 404)
    assert.deepEqual(
      (await eventsOf('Read')).map(({ type, actor_id, data }) => ({ type, actor_id, data })),
      [
        { type: 'action.described', data: { old: null, new: 'Sees everything' } },
        { type: 'action.described', data: { old: 'Sees everything', new: 'Sees all, changes nothing' } },
        { type: 'action.description_removed', data: { old: 'Sees all, changes nothing' } },
      ].map((event) => ({ ...event, actor_id: owner.user_id })),
    )
    assert.ok(typeof updated_at === 'string')
  })

  test('that is sent again changes nothing and emits no event; what was read can be sent back', async () => {
    const { body, etag } = await described('Again', 'Starts it again')
    const again = await call('PUT', at('Again'), body, etag)
    assert.deepEqual([again.status, again.body, again.etag], [200, body, etag])
    assert.equal((await eventsOf('Again')).length, 1)
    const { status } = await call('PUT', at('Again'), { ...body, action: 'Other' })
    assert.equal(status, 400)
  })

  test('is written with policies:write and read with policies:read, and not without', async () => {
    await described('Guarded', 'Opens the safe')
    const as = async (person: Person) => {
      const replies = [
        await call('GET', at('Guarded'), undefined, undefined, person),
        await call('GET', '/v1/actions', undefined, undefined, person),
        await call('PUT', at('Guarded'), { description: 'Harmless' }, undefined, person),
        await call('DELETE', at('Guarded'), undefined, undefined, person),
      ]
      return replies.map(({ status }) => status)
    }
    assert.deepEqual(await as(people.auditor), [200, 200, 403, 403])
    for (const person of [people.user, people.approver]) assert.deepEqual(await as(person), [403, 403, 403, 403])
    assert.equal((await call('GET', at('Guarded'))).body.description, 'Opens the safe')
  })

  test('is each tenant’s own, for the same action too (T7)', async () => {
    await described('Same', 'ours')
    const theirs = (method: string, url: string, body?: unknown) =>
      house.call({
        ...{ method, url, token: other.owner.token, tenant_id: other.tenant_id },
        ...(body !== undefined && { body }),
      })
    assert.deepEqual((await theirs('GET', '/v1/actions')).body.data, [])
    const [unknown, ourOwn] = [await theirs('GET', at('Unknown')), await theirs('GET', at('Same'))]
    assert.deepEqual([ourOwn.status, ourOwn.body], [unknown.status, unknown.body])
    assert.equal((await theirs('DELETE', at('Same'))).status, 404)
    assert.equal((await theirs('PUT', at('Same'), { description: 'theirs' })).status, 200)
    assert.equal((await call('GET', at('Same'))).body.description, 'ours')
  })
})

suite('what may be described', () => {
  for (const action of [
    'arn:aws:iam::aws:policy/job-function/ViewOnlyAccess',
    'arn:aws:sso:::permissionSet/ssoins-1/ps-1',
    'Read & write, 100% of it?#1;a=b+c',
    'Zugriff für Ärzte',
    'constructor',
    '/'.repeat(256),
    '😀'.repeat(256),
  ]) {
    test(`the action ${action.slice(0, 40)}`, async () => {
      const made = await described(action, 'is described')
      assert.equal(made.body.action, action)
      assert.deepEqual((await call('GET', at(action))).body, made.body)
      assert.equal((await call('DELETE', at(action), undefined, made.etag)).status, 204)
      assert.deepEqual(
        (await eventsOf(action)).map(({ type }) => type),
        ['action.described', 'action.description_removed'],
      )
    })
  }

  for (const [what, action] of [
    ['the action of deciding', 'approve'],
    ['what policy reserves', '__Read'],
    ['a space before it', ' Read'],
    ['a space after it', 'Read '],
    ['a line end', 'Read\nWrite'],
    ['NUL', 'Read\0'],
    ['a mark of direction', 'Read\u202e'],
    ['257 characters', 'a'.repeat(257)],
  ] as const) {
    test(`no action with ${what}`, async () => {
      const before = await stored()
      for (const [method, body] of [['PUT', { description: 'x' }], ['GET'], ['DELETE']] as const) {
        const reply = await call(method, at(action), body)
        const [field] = (reply.body.details as { fields: { pointer: string }[] }).fields
        assert.deepEqual([reply.status, reply.body.code, field?.pointer], [400, 'invalid_input', 'action'])
      }
      assert.deepEqual(await stored(), before)
    })
  }

  for (const [what, body, pointer] of [
    ['none', {}, '/description'],
    ['an empty one', { description: '' }, '/description'],
    ['a blank one', { description: ' \u3164 ' }, '/description'],
    ['two lines', { description: 'a\nb' }, '/description'],
    ['a control character', { description: 'a\u0007' }, '/description'],
    ['NUL', { description: 'a\0' }, '/description'],
    ['a mark of direction', { description: 'a\u202eb' }, '/description'],
    ['201 characters', { description: 'a'.repeat(201) }, '/description'],
    ['null', { description: null }, '/description'],
    ['a number', { description: 5 }, '/description'],
    ['a further field', { description: 'a', scope: 'all' }, '/scope'],
    ['a moment that is not there', { description: 'a', updated_at: '2026-01-01T00:00:00Z' }, '/updated_at'],
  ] as const) {
    test(`not by a description with ${what}`, async () => {
      const reply = await call('PUT', at('Undescribed'), body)
      const { fields } = reply.body.details as { fields: { pointer: string }[] }
      assert.deepEqual([reply.status, fields[0]?.pointer], [400, pointer], reply.text)
      assert.deepEqual([(await call('GET', at('Undescribed'))).status, await eventsOf('Undescribed')], [404, []])
    })
  }

  test('200 characters outside of ASCII', async () => {
    assert.equal((await described('Long', '😀'.repeat(200))).body.description, '😀'.repeat(200))
  })
})

suite('the list', () => {
  const listed = async (query: string) => {
    const { tenant_id: id, owner: reader } = await lister
    const reply = await house.call({ method: 'GET', url: `/v1/actions${query}`, token: reader.token, tenant_id: id })
    assert.equal(reply.status, 200, reply.text)
    const { data, next_cursor } = reply.body as { data: { action: string }[]; next_cursor?: string }
    return { actions: data.map(({ action }) => action), next_cursor }
  }
  const lister = (async () => {
    const made = await house.tenant('listed actions')
    for (const [action, description] of [
      ['Restart', 'Restarts the órders service'],
      ['ReadLogs', 'Reads logs of all services'],
      ['arn:aws:iam::aws:policy/Billing', 'Sees what things cost'],
    ] as const) {
      const body = { description }
      const reply = await house.call({
        ...{ method: 'PUT', url: at(action), token: made.owner.token, tenant_id: made.tenant_id, body },
      })
      assert.equal(reply.status, 200, reply.text)
    }
    return made
  })()

  test('is in the order of the actions, page by page', async () => {
    const { actions } = await listed('')
    const ordered = 'select action from action_description where tenant_id = $1 order by action'
    const stored = await house.asSuperuser<{ action: string }>(ordered, [(await lister).tenant_id])
    assert.deepEqual(
      actions,
      stored.map(({ action }) => action),
    )
    const pages = await pagesOf(listed, 1)
    assert.deepEqual(
      pages.flatMap((page) => page.actions),
      actions,
    )
  })

  test('is searched by the beginnings of words of the action and of its present description', async () => {
    const search = async (q: string) => (await listed(`?q=${encodeURIComponent(q)}`)).actions.sort()
    assert.deepEqual(await search('orders'), ['Restart'])
    assert.deepEqual(await search('REST'), ['Restart'])
    assert.deepEqual(await search('serv'), ['ReadLogs', 'Restart'])
    assert.deepEqual(await search('logs read'), ['ReadLogs'])
    assert.deepEqual(await search('billing'), ['arn:aws:iam::aws:policy/Billing'])
    for (const q of ['ervice', '%', "' or true --"]) assert.deepEqual(await search(q), [], q)
    const { tenant_id: id, owner: writer } = await lister
    const of = { url: at('Restart'), token: writer.token, tenant_id: id }
    await house.call({ ...of, method: 'PUT', body: { description: 'Begins again' } })
    assert.deepEqual([await search('orders'), await search('begin')], [[], ['Restart']])
    await house.call({ ...of, method: 'DELETE' })
    assert.deepEqual(await search('begin'), [])
  })
})
