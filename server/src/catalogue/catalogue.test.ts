import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { pagesOf } from '../../test/support/pages-of.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { startWorkers } from '../../test/support/workers.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'

/** What the catalogue lists, in which order, and for whom. */
const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
startWorkers(house)

type Page = { data: CatalogueEntry[]; next_cursor?: string; has_more: boolean }
type Stage = Awaited<ReturnType<typeof requestStage>>

async function catalogue(on: Stage, query = '', by: Person = on.people.user): Promise<Page> {
  const reply = await on.call(by, 'GET', `/v1/catalogue${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body as Page
}
const short = ({ data }: Page) => data.map(({ resource, action }) => `${resource.id} ${action}`)

const read = 'permit (principal, action == Action::"Read", resource);'
type Entry = { name?: string; rank?: number; account_id?: string; metadata?: object }
async function cached(on: Stage, entries: Record<string, Entry>): Promise<void> {
  const resources = Object.entries(entries).map(([id, entry]) => ({ id, account_id: id, ...entry }))
  assert.equal((await on.call(on.owner, 'PUT', '/v1/cloud/accounts', { resources })).status, 200)
}
const ids = ['830000000001', '830000000002', '830000000003', '830000000004'] as const
const [one, two, three, four] = ids

suite('the list', () => {
  test('has the whole of an entry', async () => {
    const on = await requestStage(house, 'entries')
    await cached(on, { [one]: { name: 'Payments' } })
    await on.rule('@approval_mode("auto") permit (principal, action == Action::"Read", resource is cloud_account);')
    assert.deepEqual(await catalogue(on), {
      data: [
        {
          resource: { type: 'cloud_account', id: one },
          resource_name: 'Payments',
          action: 'Read',
          action_description: null,
          answer: 'at_once',
          break_glass: false,
          needs_reason: false,
          duration_seconds: 3_600,
          max_duration_seconds: 43_200,
          live_grant_id: null,
          is_favourite: false,
        },
      ],
      has_more: false,
    })
  })

  test('is in the order of the cache by rank and name, then of what rules name, page by page', async () => {
    const on = await requestStage(house, 'ordered')
    await cached(on, {
      [one]: { name: 'b', rank: 2 },
      [two]: { name: 'b', rank: 1 },
      [three]: { name: 'a', rank: 1 },
      // A second entry of a number is not another account, and what has no number of 12 digits cannot be requested.
      again: { name: 'z', account_id: one, rank: 9 },
      'not-requestable': { name: 'a', rank: 0 },
    })
    await on.rule('permit (principal, action in [Action::"Read", Action::"Admin"], resource is cloud_account);')
    await on.rule(`permit (principal, action == Action::"Read", resource == cloud_storage_bucket::"logs");`)
    await on.rule(`permit (principal, action == Action::"Read", resource == cloud_account::"${four}");`)
    const all = [three, two, one, four].flatMap((id) => [`${id} Admin`, `${id} Read`])
    const expected = [...all, 'logs Read']
    assert.deepEqual(short(await catalogue(on)), expected)
    for (const limit of [1, 2, 3, 4]) {
      const pages = await pagesOf((query) => catalogue(on, query), limit)
      assert.deepEqual(pages.flatMap(short), expected, `pages of ${limit}`)
    }
    assert.deepEqual(short(await catalogue(on, '?type=cloud_storage_bucket,cloud_db_instance')), ['logs Read'])
  })

  test('is searched by the beginnings of words of the name, the number and the action', async () => {
    const on = await requestStage(house, 'searched')
    await cached(on, { [one]: { name: 'Zahlungen (Éclair)' }, [two]: { name: 'Payments-prod' }, [three]: {} })
    await on.rule(
      'permit (principal, action in [Action::"ReadOnly", Action::"Power user"], resource is cloud_account);',
    )
    const found = async (q: string) => short(await catalogue(on, `?q=${encodeURIComponent(q)}`))
    assert.deepEqual(await found('eclair'), [`${one} Power user`, `${one} ReadOnly`])
    assert.deepEqual(await found('PROD pay use'), [`${two} Power user`])
    assert.deepEqual(await found(`${three} read`), [`${three} ReadOnly`])
    assert.deepEqual(await found('only'), [], 'not the beginning of a word')
    assert.deepEqual(await found('--'), [], 'no words')
  })

  test('says how each request would be approved, for how long, and what it needs', async () => {
    const on = await requestStage(house, 'answers')
    await cached(on, { [one]: {} })
    const permit = (action: string, mode: string, condition = '') =>
      on.rule(`@approval_mode("${mode}") permit (principal, action == Action::"${action}", resource) ${condition};`)
    await permit('Auto for an hour', 'auto', 'when { context.duration_seconds <= 3600 }')
    await permit('Auto for an hour', 'require', 'when { context.duration_seconds <= 14400 }')
    await permit('Brief', 'require', 'when { context.duration_seconds < 900 }')
    await permit('Emergency', 'break_glass')
    await permit('With a reason', 'auto', 'when { context.has_reason }')
    const entries = (await catalogue(on)).data.map(
      ({ action, answer, break_glass, needs_reason, duration_seconds, max_duration_seconds }) =>
        [action, answer, break_glass, needs_reason, duration_seconds, max_duration_seconds] as const,
    )
    assert.deepEqual(entries, [
      ['Auto for an hour', 'at_once', false, false, 3_600, 14_400],
      ['Brief', 'by_approval', false, false, 899, 899],
      ['Emergency', 'at_once', true, true, 3_600, 43_200],
      ['With a reason', 'at_once', false, true, 3_600, 43_200],
    ])
    await on.call(on.owner, 'PUT', '/v1/settings/requests.require_reason', { value: 'true' })
    assert.ok((await catalogue(on)).data.every(({ needs_reason }) => needs_reason))
  })

  test('follows each change of a rule, a role and an account at once', async () => {
    const on = await requestStage(house, 'changing')
    await cached(on, { [one]: { metadata: { env: 'play' } } })
    const remove = await on.rule(
      'permit (principal in Role::"auditor", action == Action::"Read", resource) when { resource.hasTag("env") && resource.getTag("env") == "play" };',
    )
    const { user } = on.people
    const listed = async () => (await catalogue(on)).data.length
    const roles = (...given: string[]) => on.call(on.owner, 'PUT', `/v1/users/${user.user_id}/roles`, { roles: given })
    assert.equal(await listed(), 0)
    assert.equal((await roles('user', 'auditor')).status, 200)
    assert.equal(await listed(), 1)
    await cached(on, { [one]: { metadata: { env: 'prod' } } })
    assert.equal(await listed(), 0)
    await cached(on, { [one]: { metadata: { env: 'play' } } })
    assert.equal(await listed(), 1)
    await remove()
    assert.equal(await listed(), 0)
  })

  test('has units that a rule names, with the answer for all of their accounts, and no permission set', async () => {
    const on = await requestStage(house, 'units')
    const [unit, forbidden, empty] = ['ou-ab12-83000001', 'ou-ab12-83000002', 'ou-ab12-83000003']
    await on.cache({ [one]: { units: [unit] }, [two]: { units: [unit, forbidden] }, [three]: { units: [forbidden] } })
    for (const id of [unit, forbidden, empty])
      await on.rule(`permit (principal, action == Action::"Read", resource in cloud_organizational_unit::"${id}");`)
    await on.rule(`forbid (principal, action, resource == cloud_account::"${three}");`)
    const set = 'arn:aws:sso:::permissionSet/ssoins-1/ps-1'
    await on.rule(`permit (principal, action == Action::"Read", resource == cloud_permission_set::"${set}");`)
    assert.deepEqual(short(await catalogue(on)), [`${one} Read`, `${two} Read`, `${unit} Read`])
  })

  test('in a live tenant has only what a provisioner serves', async () => {
    const on = await requestStage(house, 'live')
    const unit = 'ou-ab12-83000004'
    await on.cache({ [one]: { units: [unit] }, [two]: { units: [unit] }, [three]: {} })
    await on.rule(read)
    await on.rule(`permit (principal, action == Action::"Read", resource in cloud_organizational_unit::"${unit}");`)
    await on.rule('permit (principal, action == Action::"Read", resource == cloud_storage_bucket::"logs");')
    assert.equal((await catalogue(on)).data.length, 5)
    const serves = [{ resource_type: 'cloud_account', account_ids: [one, three] }]
    const target = { name: 'a', provisioner_type: 'webhook', config: { url: 'http://127.0.0.1:9/' }, serves }
    await on.created(on.owner, '/v1/provisioners', target)
    assert.deepEqual(short(await catalogue(on)), [`${one} Read`, `${three} Read`])
  })

  test('shows a live grant of the caller, and none of others', async () => {
    const on = await requestStage(house, 'granted')
    await on.cache({ [one]: {}, [two]: {} })
    await on.rule('@approval_mode("auto") permit (principal, action == Action::"Read", resource);')
    const request = await on.ask({ resource: { type: 'cloud_account', id: two }, action: 'Read' })
    const [grant] = await on.grantsAre(request, 'active', 'successful')
    const live = async (by?: Person) => (await catalogue(on, '', by)).data.map(({ live_grant_id }) => live_grant_id)
    assert.deepEqual(await live(), [null, grant?.id])
    assert.deepEqual(await live(on.people.approver), [null, null])
    await on.call(on.people.user, 'POST', `/v1/grants/${grant?.id}/revoke`, {})
    assert.deepEqual(await live(), [null, null])
  })
})

suite('only recents', () => {
  test('has the caller’s last pairs, the newest first, as far as they are permitted now', async () => {
    const on = await requestStage(house, 'recents')
    await on.cache({ [one]: {}, [two]: {}, [three]: {} })
    await on.rule('permit (principal, action in [Action::"Read", Action::"Write"], resource);')
    await on.rule('permit (principal, action == Action::"arn:aws:sso:::permissionSet/ssoins-1/ps-1", resource);')
    const ask = (id: string, action: string, by?: Person) =>
      on.ask({ resource: { type: 'cloud_account', id }, action }, by)
    for (const id of [one, two, one, three]) await ask(id, 'Read')
    await ask(two, 'Write')
    await ask(four, 'Read', on.people.approver)
    const recents = async (query = '') => short(await catalogue(on, `?only=recents${query}`))
    assert.deepEqual(await recents(), [`${two} Write`, `${three} Read`, `${one} Read`, `${two} Read`])
    assert.deepEqual(await recents('&q=read'), [`${three} Read`, `${one} Read`, `${two} Read`])
    const { next_cursor = '' } = await catalogue(on, '?only=recents&limit=2')
    assert.deepEqual(await recents(`&limit=2&cursor=${encodeURIComponent(next_cursor)}`), [
      `${one} Read`,
      `${two} Read`,
    ])
    const set = { type: 'cloud_permission_set', id: 'arn:aws:sso:::permissionSet/ssoins-1/ps-1' }
    await on.ask({ resource: set, action: 'Read', metadata: { account_ids: [one] } })
    await on.rule('forbid (principal, action == Action::"Write", resource);')
    assert.deepEqual(await recents(), [`${three} Read`, `${one} Read`, `${two} Read`])
  })
})

suite('who may read it', () => {
  test('is a caller who may make requests, with a key for the user who made it', async () => {
    const on = await requestStage(house, 'callers')
    await on.cache({ [one]: {} })
    await on.rule(`permit (principal == User::"${on.people.user.user_id}", action == Action::"Read", resource)
      when { context.via == "api_key" };`)
    const { tenant_id, people } = on
    const byKey = ({ api_key }: Person) => house.call({ method: 'GET', url: '/v1/catalogue', api_key, tenant_id })
    assert.equal(((await byKey(people.user)).body as Page).data.length, 1)
    assert.equal(((await byKey(people.admin)).body as Page).data.length, 0)
    assert.equal((await catalogue(on)).data.length, 0, 'not by token')
    assert.deepEqual((await byKey(people.auditor)).body.code, 'forbidden')
  })

  test('sees nothing of another tenant, nor by its cursor', async () => {
    const [on, other] = [await requestStage(house, 'mine'), await requestStage(house, 'theirs')]
    for (const stage of [on, other]) await stage.rule('permit (principal, action == Action::"Read", resource);')
    await on.cache({ [one]: {}, [two]: {} })
    await other.cache({ [three]: {} })
    assert.deepEqual(short(await catalogue(other)), [`${three} Read`])
    const { next_cursor = '' } = await catalogue(on, '?limit=1')
    const stolen = await other.call(
      other.people.user,
      'GET',
      `/v1/catalogue?limit=1&cursor=${encodeURIComponent(next_cursor)}`,
    )
    assert.equal(stolen.status, 400)
    const mixed = await house.call({
      method: 'GET',
      url: '/v1/catalogue',
      token: other.people.user.token,
      tenant_id: on.tenant_id,
    })
    assert.equal(mixed.body.code, 'tenant_mismatch')
  })

  test('gains nothing by the cursor of a user who may have more', async () => {
    const on = await requestStage(house, 'lent cursors')
    await on.cache({ [one]: {}, [two]: {}, [three]: {} })
    await on.rule('permit (principal in Role::"admin", action == Action::"Admin", resource);')
    await on.rule(`permit (principal, action == Action::"Read", resource == cloud_account::"${three}");`)
    const { next_cursor = '' } = await catalogue(on, '?limit=1', on.people.admin)
    assert.deepEqual(short(await catalogue(on, `?limit=1&cursor=${encodeURIComponent(next_cursor)}`)), [
      `${three} Read`,
    ])
  })

  test('with the role user alone sees nothing of rules, groups, tags and accounts that are not theirs', async () => {
    const on = await requestStage(house, 'discreet')
    await on.cache({ [one]: { tags: { team: 'tag-value' } }, [two]: { tags: { team: 'secret-team' } }, [three]: {} })
    const group = await on.created(on.owner, '/v1/groups', { name: 'group-name' })
    await on.rule(
      `@notice("notice-text") permit (principal, action == Action::"Read", resource == cloud_account::"${one}");`,
    )
    await on.rule(
      `permit (principal in Group::"${group.id}", action == Action::"Theirs", resource == cloud_account::"${four}");`,
    )
    await on.rule('permit (principal, action == Action::"Closed", resource) when { resource.hasTag("no-such-tag") };')
    const page = await on.call(on.people.user, 'GET', '/v1/catalogue?limit=1')
    assert.deepEqual(short(page.body as Page), [`${one} Read`])
    // Five refused pairs follow, and none of them is announced.
    assert.deepEqual([page.body.has_more, 'next_cursor' in page.body], [false, false])
    for (const secret of [two, three, four, 'tag-value', 'secret-team', 'team', 'group', 'notice', 'Theirs', 'Closed'])
      assert.ok(!page.text.includes(secret), secret)
    for (const q of [two, 'closed', 'theirs', 'account'])
      assert.ok(
        short(await catalogue(on, `?q=${q}`)).every((pair) => pair === `${one} Read`),
        q,
      )
  })
})
