import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { outline, readingOf, recordingTx } from '../../test/support/rows-read.ts'
import type { Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { maxComments, type RequestComment } from './request-comment.ts'
import { listCommentsPage } from './request-comment-store.ts'
import { findNamedRequest } from './request-list-store.ts'

const house = await openHouse()
const on = await requestStage(house, 'listed comments')
const { tenant_id, owner, people } = on
const other = await requestStage(house, 'another')
await on.rule('permit (principal, action, resource);')

const [id, empty] = [await on.ask(on.account('400000000001')), await on.ask(on.account('400000000001'))]
const urlOf = (request_id: string) => `/v1/requests/${request_id}/comments`
const texts = ['first', 'second\nline', 'third', 'fourth', 'fifth']
for (const [index, text] of texts.entries()) {
  const by = index % 2 === 0 ? people.approver : people.user
  await on.created(by, urlOf(id), { text })
}

const get = (person: Person, url: string) => on.call(person, 'GET', url)

async function pages(person: Person, limit: number): Promise<string[][]> {
  const found: string[][] = []
  let cursor = ''
  for (;;) {
    const { status, body, text } = await get(person, `${urlOf(id)}?limit=${limit}${cursor}`)
    assert.equal(status, 200, text)
    found.push((body.data as RequestComment[]).map((comment) => comment.text))
    if (body.has_more !== true) return found
    cursor = `&cursor=${encodeURIComponent(String(body.next_cursor))}`
  }
}

suite('the comments of a request', () => {
  test('come oldest first, in pages', async () => {
    assert.deepEqual(await pages(people.user, 2), [texts.slice(0, 2), texts.slice(2, 4), texts.slice(4)])
    assert.deepEqual(await pages(people.user, 5), [texts])
    assert.deepEqual(await pages(people.user, 200), [texts])
    const { body } = await get(people.user, urlOf(empty))
    assert.deepEqual(body, { data: [], has_more: false })
  })

  test('say who wrote each, when, and nothing else', async () => {
    const { data } = (await get(people.user, `${urlOf(id)}?limit=1`)).body as { data: RequestComment[] }
    const [{ id: comment_id, created_at, ...first } = { id: '', created_at: '' }] = data
    const { user_id: author_id } = people.approver
    assert.deepEqual(first, { request_id: id, author_id, author_name: 'approver', text: 'first' })
    assert.match(`${comment_id} ${created_at}`, /^[0-9a-f-]{36} \d{4}-\d\d-\d\dT[\d:.]+Z$/)
  })

  test('are seen by all who may see the request, also once it is decided', async () => {
    const decided = await on.ask(on.account('400000000001'))
    await on.created(people.user, urlOf(decided), { text: 'kept' })
    await on.approve(decided)
    for (const person of [people.user, people.approver, people.auditor, owner]) {
      assert.deepEqual(await pages(person, 50), [texts])
      const { data } = (await get(person, urlOf(decided))).body as { data: RequestComment[] }
      assert.deepEqual(
        data.map(({ text }) => text),
        ['kept'],
      )
    }
  })

  test('do not exist for others, in this tenant and in another', async () => {
    const body = { email: 'stranger@example.com', name: 'Stranger', roles: ['user'], auth_provider: 'oidc' }
    const stranger = await house.person(tenant_id, String((await on.created(owner, '/v1/users', body)).id))
    const none = await get(owner, urlOf(newId()))
    const hidden = [await get(stranger, urlOf(id)), await other.call(other.owner, 'GET', urlOf(id))]
    for (const reply of hidden) assert.deepEqual([reply.status, reply.text], [404, none.text])
  })

  test('take no cursor of another request', async () => {
    const { next_cursor } = (await get(people.user, `${urlOf(id)}?limit=2`)).body
    const reply = await get(people.user, `${urlOf(empty)}?limit=2&cursor=${encodeURIComponent(String(next_cursor))}`)
    assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
  })
})

suite('among the comments of many requests', () => {
  const many = async () => {
    await house.asSuperuser(
      `insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, status,
          approval_mode, break_glass, duration_seconds, metadata, audit_session, places, asked_via, source_ip)
        select $1, gen_random_uuid(), $2, 'cloud_account', '1', 'Many', 'cancelled', 'require', false, 3600, '{}',
          false, '[]', 'token', '127.0.0.1' from generate_series(1, 300)`,
      [tenant_id, people.user.user_id],
    )
    await house.asSuperuser(
      `insert into request_comment (tenant_id, id, request_id, nth, author_id, text)
        select a.tenant_id, gen_random_uuid(), a.id, nth, a.requester_id, 'x'
        from access_request a, generate_series(1, $2::integer) nth where a.tenant_id = $1 and a.action = 'Many'`,
      [tenant_id, maxComments],
    )
    const [full] = await house.asSuperuser<{ id: string }>(
      `select id from access_request where action = 'Many' limit 1`,
    )
    return String(full?.id)
  }

  test('a page is one read, of its own rows alone, and so is the number of them', async () => {
    const full = await many()
    const page = { limit: 50, after: ['40'] }
    const reads: [(tx: Tx) => Promise<unknown>, number][] = [
      [(tx) => listCommentsPage(tx, full, page), page.limit + 1],
      [(tx) => findNamedRequest(tx, full), maxComments],
    ]
    for (const analyzed of [false, true]) {
      if (analyzed) await house.asSuperuser('analyze')
      for (const [read, count] of reads) {
        const { tx, statements } = recordingTx(house.database.tenant(tenant_id))
        await read(tx)
        const [statement] = statements
        assert.ok(statement && statements.length === 1)
        for (const generic of [false, true]) {
          const plan = outline((await readingOf(house, tenant_id, statement, generic)).plan)
          const [, scan, rows] = plan.match(/^ *(.*) request_comment .*: (.* removed)$/m) ?? []
          assert.deepEqual([/^Index/.test(scan ?? ''), rows], [true, `${count} × 1, 0 removed`], plan)
        }
      }
    }
  })
})
