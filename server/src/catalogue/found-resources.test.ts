import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { findResources } from '../../test/support/found-resources.ts'
import { openHouse } from '../../test/support/house.ts'
import { pagesOf } from '../../test/support/pages-of.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'

/** What the catalogue lists because a target says that it has it. */
const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })

type Page = { data: CatalogueEntry[]; next_cursor?: string; has_more: boolean }
type Stage = Awaited<ReturnType<typeof requestStage>>

async function catalogue(on: Stage, query = ''): Promise<Page> {
  const reply = await on.call(on.people.user, 'GET', `/v1/catalogue${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body as Page
}
const short = ({ data }: Page) => data.map(({ resource, action }) => `${resource.id} ${action}`)

const [one, two] = ['890000000001', '890000000002'] as const
const units = ['ou-ab12-89000001', 'ou-ab12-89000002', 'ou-ab12-89000003'] as const
const arnOf = (name: string, account: string = one) => `arn:aws:rds:eu-west-1:${account}:db:${name}`
const database = (name: string, account?: string) =>
  ({ resource_type: 'cloud_db_instance', id: arnOf(name, account), name: `The ${name}` }) as const
const unit = (id: string) => ({ resource_type: 'cloud_organizational_unit', id, name: `Unit ${id.at(-1)}` }) as const
const read = 'permit (principal, action == Action::"Read", resource);'

suite('what an inventory found', () => {
  test('is listed behind the accounts, before what rules name, each once, page by page', async () => {
    const on = await requestStage(house, 'found')
    await on.cache({ [one]: { units: [units[0]] }, [two]: { units: [units[0], units[1]] } })
    // Two provisioners of one organization find the same; and a target may say what no request can name.
    const odd = { resource_type: 'cloud_db_instance', id: 'arn:odd', name: 'odd' } as const
    await findResources(house, on.tenant_id, [database('orders'), database('bills', two), unit(units[0]), odd])
    await findResources(house, on.tenant_id, [database('orders'), ...units.map(unit)])
    await on.rule('permit (principal, action in [Action::"Read", Action::"Admin"], resource);')
    for (const id of [arnOf('orders'), arnOf('unseen')])
      await on.rule(`permit (principal, action == Action::"Read", resource == cloud_db_instance::"${id}");`)
    await on.rule(`permit (principal, action == Action::"Read", resource in cloud_organizational_unit::"${units[1]}");`)
    // The last unit has no account.
    const all = [one, two, arnOf('orders'), arnOf('bills', two), units[0], units[1], arnOf('unseen')]
    const expected = all.flatMap((id) => [`${id} Admin`, `${id} Read`])
    assert.deepEqual(short(await catalogue(on)), expected)
    for (const limit of [1, 2, 3, 5]) {
      const pages = await pagesOf((query) => catalogue(on, query), limit)
      assert.deepEqual(pages.flatMap(short), expected, `pages of ${limit}`)
    }
    const ofType = async (types: string) => short(await catalogue(on, `?type=${types}`))
    assert.deepEqual(await ofType('cloud_organizational_unit'), expected.slice(8, 12))
    assert.deepEqual(await ofType('cloud_db_instance'), [...expected.slice(4, 8), ...expected.slice(12)])
  })

  test('is shown and found by its name, also where a rule names it, and as a favourite', async () => {
    const on = await requestStage(house, 'names')
    await on.cache({ [one]: { units: [units[0]] } })
    await findResources(house, on.tenant_id, [database('orders'), database('bills'), unit(units[0])])
    await on.rule(`permit (principal, action == Action::"Read", resource == cloud_db_instance::"${arnOf('orders')}");`)
    await on.rule(`permit (principal, action == Action::"Read", resource in cloud_organizational_unit::"${units[0]}");`)
    const names = async (query = '') => (await catalogue(on, query)).data.map(({ resource_name }) => resource_name)
    // A rule about a unit is about the databases in its accounts too.
    assert.deepEqual(await names(), [`account ${one}`, 'The bills', 'The orders', 'Unit 1'])
    assert.deepEqual(await names('?q=the+ord'), ['The orders'])
    assert.deepEqual(await names('?q=unit'), ['Unit 1'])
    for (const name of ['orders', 'hidden']) {
      const resource = { type: 'cloud_db_instance', id: arnOf(name) }
      await on.created(on.people.user, '/v1/users/me/favourites', { resource, action: 'Read' })
    }
    await on.rule(`forbid (principal, action, resource == cloud_db_instance::"${arnOf('hidden')}");`)
    await findResources(house, on.tenant_id, [database('hidden')])
    assert.deepEqual(await names('?only=favourites'), ['The orders'])
    const { body } = await on.call(on.people.user, 'GET', '/v1/users/me/favourites')
    const favourites = (body as { data: { permitted: boolean; resource_name: string | null }[] }).data
    assert.deepEqual(
      favourites.map(({ permitted, resource_name }) => [permitted, resource_name]),
      [
        [true, 'The orders'],
        [false, null],
      ],
    )
  })

  test('is listed only as far as policy permits it, and shows nothing of the rest, nor of another tenant', async () => {
    const [on, other] = [await requestStage(house, 'mine'), await requestStage(house, 'theirs')]
    await on.cache({ [one]: { tags: { env: 'dev' } }, [two]: {} })
    await findResources(house, on.tenant_id, [database('orders'), database('bills', two)])
    await findResources(house, other.tenant_id, [database('theirs')])
    await on.rule(
      'permit (principal, action == Action::"Read", resource) when { resource.hasTag("env") && resource.getTag("env") == "dev" };',
    )
    const reply = await on.call(on.people.user, 'GET', '/v1/catalogue?limit=2')
    assert.deepEqual(short(reply.body as Page), [`${one} Read`, `${arnOf('orders')} Read`])
    // The refused pair that follows is not announced.
    assert.deepEqual([reply.body.has_more, /bills|theirs/.test(reply.text)], [false, false])
    assert.deepEqual(short(await catalogue(on, '?q=bills')), [])
  })

  test('is listed in a live tenant only where a provisioner serves it', async () => {
    const on = await requestStage(house, 'live')
    await on.cache({ [one]: { units: [units[0]] }, [two]: { units: [units[0], units[1]] } })
    await findResources(house, on.tenant_id, [database('orders'), database('bills', two), ...units.map(unit)])
    await on.rule(read)
    assert.equal((await catalogue(on)).data.length, 6)
    const serves = [
      { resource_type: 'cloud_account', account_ids: [two] },
      { resource_type: 'cloud_db_instance', account_ids: [two] },
    ]
    const target = { name: 'a', provisioner_type: 'webhook', config: { url: 'http://127.0.0.1:9/' }, serves }
    await on.created(on.owner, '/v1/provisioners', target)
    assert.deepEqual(short(await catalogue(on)), [`${two} Read`, `${arnOf('bills', two)} Read`, `${units[1]} Read`])
  })

  test('is not even read for rules that are about accounts alone, or name what they are about', async () => {
    const on = await requestStage(house, 'unread')
    await on.cache({ [one]: { units: [units[0]] } })
    await findResources(house, on.tenant_id, [unit('ou-ab12-89000000'), ...units.map(unit), database('orders')])
    await on.rule('permit (principal, action == Action::"Read", resource is cloud_account);')
    await on.rule(
      `permit (principal, action == Action::"Read", resource is cloud_organizational_unit in cloud_organizational_unit::"${units[0]}");`,
    )
    assert.deepEqual(short(await catalogue(on)), [`${one} Read`, `${units[0]} Read`])
  })
})

const set = (name: string, facts: object = {}) =>
  ({
    resource_type: 'cloud_permission_set',
    id: `arn:aws:sso:::permissionSet/ssoins-1/ps-${name}`,
    name,
    ...facts,
  }) as const

suite('the permission sets that an inventory found', () => {
  test('are actions on accounts and units where a rule permits any action, as far as policy permits them', async () => {
    const on = await requestStage(house, 'sets')
    await on.cache({ [one]: { units: [units[0]] }, [two]: { tags: { env: 'prod' } } })
    const described = { ...set('Billing'), description: 'Pays the bills' }
    await findResources(house, on.tenant_id, [
      set('Admin'),
      described,
      set('Write'),
      database('orders'),
      unit(units[0]),
    ])
    await findResources(house, on.tenant_id, [set('Admin'), set('approve'), set('__hidden')])
    await on.rule('permit (principal, action, resource) unless { resource.hasTag("env") };')
    await on.rule('permit (principal, action == Action::"Read", resource == cloud_account::"111111111111");')
    await on.rule('forbid (principal, action == Action::"Write", resource);')
    const all = ['Admin', 'Billing', 'Read']
    const expected = [
      ...all.map((action) => `${one} ${action}`),
      `${arnOf('orders')} Read`,
      ...all.map((action) => `${units[0]} ${action}`),
      ...all.map((action) => `111111111111 ${action}`),
    ]
    assert.deepEqual(short(await catalogue(on)), expected)
    const pages = await pagesOf((query) => catalogue(on, query), 2)
    assert.deepEqual(pages.flatMap(short), expected)
    const paying = (await catalogue(on, '?q=pays')).data.map((entry) => [entry.action, entry.action_description])
    assert.deepEqual(paying, Array(3).fill(['Billing', 'Pays the bills']))
  })

  test('are no actions where rules name what they permit', async () => {
    const [on, other] = [await requestStage(house, 'named'), await requestStage(house, 'of others')]
    for (const stage of [on, other]) await stage.cache({ [one]: {} })
    await findResources(house, on.tenant_id, [set('Admin')])
    await on.rule(read)
    await on.rule('forbid (principal, action, resource) when { resource.hasTag("env") };')
    await on.rule('permit (principal in Role::"auditor", action, resource);')
    await other.rule('permit (principal, action, resource);')
    assert.deepEqual([short(await catalogue(on)), short(await catalogue(other))], [[`${one} Read`], []])
  })
})
