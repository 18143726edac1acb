import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { actionUrl } from '../../test/support/described-actions.ts'
import { findResources } from '../../test/support/found-resources.ts'
import { openHouse, type Person } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'

/** Where the description of an action is shown: beside the action, wherever a caller sees that, and nowhere else. */
const house = await openHouse()
const [one, two] = ['840000000001', '840000000002']
const arn = 'arn:aws:iam::aws:policy/ReadOnlyAccess'
const words = 'Sees every nightingale'

let on: Awaited<ReturnType<typeof requestStage>>
let user: Person
let approver: Person

beforeEach(async () => {
  on = await requestStage(house, 'shown actions')
  user = on.people.user
  approver = on.people.approver
  await on.cache({ [one]: {}, [two]: { tags: { env: 'closed' } } })
  await on.rule(
    `permit (principal, action in [Action::"${arn}", Action::"Write"], resource) unless { resource.hasTag("env") };`,
  )
  await on.rule('permit (principal, action == Action::"approve", resource);')
})

async function describe(action: string, description: string, by = on.owner) {
  const reply = await on.call(by, 'PUT', actionUrl(action), { description })
  assert.equal(reply.status, 200, reply.text)
}
type Shown = { action: string; action_description: string | null; resource: { id: string } }
async function listed(person: Person, url: string): Promise<Shown[]> {
  const reply = await on.call(person, 'GET', url)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data as Shown[]
}
const ask = (action = arn) => on.ask({ ...on.account(one), action, reason: 'to see' })
const favourite = (id: string, action: string) =>
  on.created(user, '/v1/users/me/favourites', { resource: { type: 'cloud_account', id }, action })

/** What each place shows of the action with the ARN. */
async function everywhere(request_id: string, grant_id: string): Promise<Record<string, unknown>> {
  const alone = async (person: Person, url: string) => (await on.call(person, 'GET', url)).body.action_description
  const ofList = async (person: Person, url: string) => {
    const shown = (await listed(person, url)).filter(({ action }) => action === arn)
    assert.ok(shown.length > 0, url)
    return shown[0]?.action_description
  }
  return {
    request: await alone(user, `/v1/requests/${request_id}`),
    'request, for an approver': await alone(approver, `/v1/requests/${request_id}`),
    requests: await ofList(user, '/v1/requests'),
    'requests, found by words': await ofList(approver, '/v1/requests?q=readonlyaccess'),
    inbox: await ofList(approver, '/v1/requests?decidable_by=me'),
    grant: await alone(user, `/v1/grants/${grant_id}`),
    grants: await ofList(user, '/v1/grants'),
    catalogue: await ofList(user, '/v1/catalogue'),
    'catalogue of favourites': await ofList(user, '/v1/catalogue?only=favourites'),
    'catalogue of recents': await ofList(user, '/v1/catalogue?only=recents'),
    favourites: await ofList(user, '/v1/users/me/favourites'),
  }
}

test('it is shown beside the action of requests, grants, the catalogue and favourites, until it is removed (T7)', async () => {
  const stranger = await house.tenant('a stranger')
  const foreign = await house.call({
    ...{ method: 'PUT', url: actionUrl(arn), token: stranger.owner.token, tenant_id: stranger.tenant_id },
    body: { description: 'Theirs' },
  })
  assert.equal(foreign.status, 200, foreign.text)
  await favourite(one, arn)
  const [approved, waiting] = [await ask(), await ask()]
  await on.approve(approved)
  const [grant] = await on.grantsOf(approved)
  const all = () => everywhere(waiting, grant?.id ?? '')
  const places = Object.keys(await all())
  const each = (description: string | null) => Object.fromEntries(places.map((place) => [place, description]))

  assert.deepEqual(await all(), each(null), 'another tenant’s description of the same action')
  await describe('Write', 'Another action')
  assert.deepEqual(await all(), each(null))
  await describe(arn, words)
  assert.deepEqual(await all(), each(words))
  await describe(arn, 'Sees less')
  assert.deepEqual(await all(), each('Sees less'))
  assert.equal((await on.call(on.owner, 'DELETE', actionUrl(arn))).status, 204)
  assert.deepEqual(await all(), each(null))
})

const setArn = 'arn:aws:sso:::permissionSet/ssoins-1/ps-1'
const foundSet = (name: string, description: string, id = setArn) =>
  ({ resource_type: 'cloud_permission_set', id, name, description }) as const

test('where the tenant has none of its own, it is what AWS says of the permission set with that name', async () => {
  const stranger = await house.tenant('another with the set')
  await findResources(house, stranger.tenant_id, [foundSet(arn, 'Theirs')])
  await favourite(one, arn)
  const [approved, waiting] = [await ask(), await ask()]
  await on.approve(approved)
  const [grant] = await on.grantsOf(approved)
  const all = () => everywhere(waiting, grant?.id ?? '')
  const places = Object.keys(await all())
  const each = (description: string | null) => Object.fromEntries(places.map((place) => [place, description]))
  const search = async (q: string) => (await listed(user, `/v1/catalogue?q=${q}`)).map(({ action }) => action)

  assert.deepEqual(await all(), each(null), 'another tenant’s set of the same name')
  await findResources(house, on.tenant_id, [foundSet(arn, words)])
  assert.deepEqual(await all(), each(words))
  assert.deepEqual(await search('nightingale'), [arn])
  await describe(arn, 'In our own words')
  assert.deepEqual(await all(), each('In our own words'))
  assert.deepEqual([await search('nightingale'), await search('own')], [[], [arn]])
})

test('what AWS says of a set is shown by its ARN too, and only where the action names a set', async () => {
  await findResources(house, on.tenant_id, [foundSet('Write', words)])
  const database = { type: 'cloud_db_instance', id: `arn:aws:rds:eu-west-1:${one}:db:orders` }
  await on.rule(`permit (principal, action == Action::"Write", resource == cloud_db_instance::"${database.id}");`)
  await on.rule(`permit (principal, action == Action::"${setArn}", resource);`)
  const shown = async (query: string) =>
    (await listed(user, `/v1/catalogue${query}`))
      .filter(({ action }) => action !== arn)
      .map((entry) => [entry.resource.id, entry.action, entry.action_description])
  const expected = [
    [one, 'Write', words],
    [one, setArn, words],
    [two, setArn, words],
  ]
  assert.deepEqual((await shown('')).slice(0, 3), expected)
  assert.deepEqual(await shown('?type=cloud_db_instance'), [
    [database.id, 'Write', null],
    [database.id, setArn, null],
  ])
  assert.deepEqual(await shown('?q=nightingale'), expected)

  // A set that is requested as a resource is given whatever action the requester wrote beside it.
  const set = { type: 'cloud_permission_set', id: setArn }
  const id = await on.ask({ resource: set, action: 'Write', reason: 'to see', metadata: { account_ids: [one] } })
  await on.approve(id)
  const [grant] = await on.grantsOf(id)
  for (const url of [`/v1/requests/${id}`, `/v1/grants/${grant?.id}`]) {
    const { status, body } = await on.call(user, 'GET', url)
    assert.deepEqual([status, body.action_description], [200, null], url)
  }
})

test('a favourite that is not permitted shows none', async () => {
  await describe(arn, words)
  await describe('Delete', 'Deletes it')
  for (const [id, action] of [
    [one, arn],
    [two, arn],
    [one, 'Delete'],
  ] as const) {
    await favourite(id, action)
  }
  const shown = await listed(user, '/v1/users/me/favourites')
  assert.deepEqual(
    shown.map(({ resource, action, action_description }) => [resource.id, action, action_description]),
    [
      [one, arn, words],
      [two, arn, null],
      [one, 'Delete', null],
    ],
  )
})

test('it is no part of a request: not of its `ETag`, nor of the contract’s endpoints, events and exports', async () => {
  const id = await ask()
  const before = await on.call(user, 'GET', `/v1/requests/${id}`)
  await describe(arn, words)
  const after = await on.call(user, 'GET', `/v1/requests/${id}`)
  assert.deepEqual([after.body.action_description, after.headers.etag], [words, before.headers.etag])
  await on.approve(id)
  const made = await on.created(user, '/v1/requests', { ...on.account(one), action: arn, reason: 'again' })
  assert.ok(!('action_description' in made))
  const status = await on.call(user, 'GET', `/v1/access/requests/${id}`)
  assert.ok(!status.text.includes(words), status.text)
  const events = await house.asSuperuser<{ type: string }>(
    `select distinct type from event where tenant_id = $1 and data::text like '%nightingale%'`,
    [on.tenant_id],
  )
  assert.deepEqual(events, [{ type: 'action.described' }])
})

test('the catalogue is searched by the words of descriptions, among what is permitted', async () => {
  await favourite(one, arn)
  await describe(arn, words)
  await describe('Write', 'Feeds the bird')
  await describe('Delete', 'Deletes the nightingale')
  const search = async (q: string, more = '') =>
    (await listed(user, `/v1/catalogue?q=${encodeURIComponent(q)}${more}`)).map(
      ({ resource, action }) => `${resource.id} ${action}`,
    )
  assert.deepEqual(await search('night'), [`${one} ${arn}`])
  assert.deepEqual(await search('nightingale account'), [`${one} ${arn}`])
  assert.deepEqual(await search('bird'), [`${one} Write`])
  assert.deepEqual(await search('nightingale bird'), [])
  assert.deepEqual(await search('ightingale'), [])
  assert.deepEqual(await search('night', '&only=favourites'), [`${one} ${arn}`])
  assert.deepEqual(await search('bird', '&only=favourites'), [])
  assert.deepEqual(await search('deletes'), [], 'no rule permits it')
})
