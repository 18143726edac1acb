import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'
import type { ListedFavourite } from './favourite.ts'

/** A user's favourites, which give nothing. */
const house = await openHouse()
const url = '/v1/users/me/favourites'
const [one, two, three] = ['870000000001', '870000000002', '870000000003']

let on: Awaited<ReturnType<typeof requestStage>>
let user: Person
beforeEach(async () => {
  on = await requestStage(house, 'favourites')
  user = on.people.user
  await on.cache({ [one]: {}, [two]: { tags: { env: 'closed' } } })
  await on.rule('permit (principal, action == Action::"Read", resource) unless { resource.hasTag("env") };')
})

const pair = (id: string, action = 'Read') => ({ resource: { type: 'cloud_account', id }, action })
const add = (id: string, by = user, action = 'Read') => on.call(by, 'POST', url, pair(id, action))
type Listed = { data: ListedFavourite[]; next_cursor?: string; has_more: boolean }
async function favourites(query = '', by = user): Promise<Listed> {
  const reply = await on.call(by, 'GET', `${url}${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body as Listed
}
const pairs = (entries: readonly { resource: { id: string }; action: string }[]) =>
  entries.map(({ resource, action }) => `${resource.id} ${action}`)

suite('a favourite', () => {
  test('is added once, however often it is sent', async () => {
    const first = await add(one)
    assert.equal(first.status, 201, first.text)
    assert.deepEqual(Object.keys(first.body), ['id', 'resource', 'action', 'created_at'])
    const again = await Promise.all(Array.from({ length: 8 }, () => add(one)))
    for (const reply of again) assert.deepEqual([reply.status, reply.body], [201, first.body])
    assert.equal((await favourites()).data.length, 1)
  })

  test('may be of what the user may not have, which then shows only what the user sent', async () => {
    await add(one)
    await add(two)
    await add(three, user, 'Write')
    const { data } = await favourites()
    assert.deepEqual(
      data.map(({ resource, action, permitted, resource_name }) => [resource.id, action, permitted, resource_name]),
      [
        [one, 'Read', true, `account ${one}`],
        [two, 'Read', false, null],
        [three, 'Write', false, null],
      ],
    )
    const { data: listed } = (await on.call(user, 'GET', '/v1/catalogue?only=favourites')).body as {
      data: CatalogueEntry[]
    }
    assert.deepEqual(pairs(listed), [`${one} Read`])
    const { data: all } = (await on.call(user, 'GET', '/v1/catalogue')).body as { data: CatalogueEntry[] }
    assert.deepEqual(
      all.map(({ is_favourite }) => is_favourite),
      [true],
    )
  })

  test('is listed page by page, in the order of addition', async () => {
    for (const id of [three, one, two]) await add(id)
    const first = await favourites('?limit=2')
    assert.deepEqual([pairs(first.data), first.has_more], [[`${three} Read`, `${one} Read`], true])
    const second = await favourites(`?limit=2&cursor=${encodeURIComponent(first.next_cursor ?? '')}`)
    assert.deepEqual([pairs(second.data), second.has_more], [[`${two} Read`], false])
  })

  test('is removed by its user alone', async () => {
    const { id } = (await add(one)).body
    const remove = (by: Person) => on.call(by, 'DELETE', `${url}/${id}`)
    assert.deepEqual([(await remove(on.people.admin)).status, (await favourites('', on.people.admin)).data], [404, []])
    assert.deepEqual([(await remove(user)).status, (await remove(user)).status], [204, 404])
    assert.deepEqual((await favourites()).data, [])
  })

  test('is never made with an API key, and never permitted without the scope for requests', async () => {
    const { tenant_id } = on
    const byKey = await house.call({ method: 'POST', url, api_key: user.api_key, tenant_id, body: pair(one) })
    assert.equal(byKey.status, 401)
    const { auditor } = on.people
    for (const id of [one, two, three]) assert.equal((await add(id, auditor)).status, 201)
    const { data, next_cursor = '' } = await favourites('?limit=2', auditor)
    const more = await favourites(`?limit=2&cursor=${encodeURIComponent(next_cursor)}`, auditor)
    assert.deepEqual(
      [...data, ...more.data].map(({ permitted, resource_name }) => [permitted, resource_name]),
      Array(3).fill([false, null]),
    )
  })

  for (const [what, body, pointer] of [
    ['a malformed account', pair('5'), '/resource/id'],
    ['the action of deciding', pair(one, 'approve'), '/action'],
    [
      'a permission set',
      { ...pair(one), resource: { type: 'cloud_permission_set', id: 'arn:aws:sso:::permissionSet/ssoins-1/ps-1' } },
      '/resource/type',
    ],
  ] as const) {
    test(`is not ${what}`, async () => {
      const reply = await on.call(user, 'POST', url, body)
      assert.equal(reply.status, 400)
      const [field] = (reply.body.details as { fields: { pointer: string }[] }).fields
      assert.equal(field?.pointer, pointer)
    })
  }

  test('is one of at most 100, whatever is sent at once', async () => {
    const ids = Array.from({ length: 95 }, (_, index) => `${880_000_000_000 + index}`)
    for (const id of ids) assert.equal((await add(id)).status, 201)
    const late = await Promise.all(Array.from({ length: 12 }, (_, index) => add(`${890_000_000_000 + index}`)))
    const statuses = late.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [...Array(5).fill(201), ...Array(7).fill(422)])
    // The hundredth sent again is no further one.
    assert.equal((await add(String(ids[0]))).status, 201)
    assert.equal((await add(one, on.people.approver)).status, 201, 'another user has a hundred of their own')
  })

  test('ends with its user', async () => {
    await add(one)
    await on.call(on.owner, 'DELETE', `/v1/users/${user.user_id}`)
    assert.deepEqual(await house.asSuperuser('select id from favourite where tenant_id = $1', [on.tenant_id]), [])
  })
})
