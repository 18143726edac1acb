import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { emailKey } from '../../src/kernel/email-address.ts'
import { newId } from '../../src/kernel/id.ts'
import { makeInventory } from '../support/sample-inventory.ts'
import { openScimStage } from '../support/scim-stage.ts'

/** Who the people of a directory would be here, before it pushes them. */
const { house, acme, makeDirectory } = await openScimStage()
const { tenant_id, owner, people } = acme

type Sent = { user_name: string; external_id?: string | null; email?: string | null }
type Matched = { match: string; user_id: string | null; message: string | null; not_found_at: string[] }
type Preflight = {
  counts: Record<string, number>
  targets: { provisioner_id: string; not_found: number }[]
  people: Matched[]
}

const call = (method: string, url: string, body?: unknown, api_key = owner.api_key) =>
  house.call({ method, url, api_key, tenant_id, ...(body !== undefined && { body }) })
const preflight = async (id: string, sent: readonly Sent[]): Promise<Preflight> => {
  const reply = await call('POST', `/v1/identity-providers/${id}/preflight`, { people: sent })
  assert.equal(reply.status, 200, reply.text)
  return reply.body as Preflight
}
const makeUser = async (email: string) =>
  String((await call('POST', '/v1/users', { name: 'Here', roles: ['user'], auth_provider: 'oidc', email })).body.id)

/** What a push makes of the same person, in the words of a preflight: the directory looks for the id, or else the name, and then sends it. */
async function pushed(directory: Awaited<ReturnType<typeof makeDirectory>>, sent: Sent): Promise<string> {
  const { user_name: userName, external_id, email } = sent
  const [attribute, value] = external_id == null ? ['userName', userName] : ['externalId', external_id]
  const filter = encodeURIComponent(`${attribute} eq ${JSON.stringify(value)}`)
  const found = await directory.call('GET', `/Users?filter=${filter}`)
  const [known] = found.body.Resources as { id: string }[]
  const resource = { userName, externalId: external_id, ...(email != null && { emails: [{ value: email }] }) }
  if (known !== undefined) {
    return (await directory.call('PUT', `/Users/${known.id}`, resource)).status === 200 ? 'known' : 'refused'
  }
  const conflicts = async () =>
    ((await call('GET', `/v1/identity-providers/${directory.id}/conflicts`)).body.data as unknown[]).length
  const before = await conflicts()
  const reply = await directory.call('POST', '/Users', resource)
  if (reply.status === 201) return 'add or adopt'
  return (await conflicts()) > before ? 'settle' : 'refused'
}

suite('a preflight of a directory that pushes', async () => {
  const directory = await makeDirectory()
  const ada = await directory.user({ userName: 'ada@example.com', externalId: 'ada' })
  const zoe = await directory.user({ userName: 'zoe@example.com', externalId: 'zoe' })
  const max = await directory.user({ userName: 'max@example.com', externalId: 'max' })
  const gone = await directory.user({ userName: 'gone@example.com', externalId: 'gone-1' })
  const left = await directory.user({ userName: 'left@example.com', externalId: 'left-1' })
  for (const { id } of [left, gone]) {
    const stop = [{ op: 'replace', path: 'active', value: false }]
    assert.equal((await directory.call('PATCH', `/Users/${id}`, { Operations: stop })).status, 200)
  }
  const [grace, linus, apart] = await Promise.all(
    ['grace', 'linus', 'apart'].map((name) => makeUser(`${name}@example.com`)),
  )
  await directory.call('POST', '/Users', { userName: 'apart@example.com', externalId: 'apart' })
  const [conflict] = (await call('GET', `/v1/identity-providers/${directory.id}/conflicts`)).body.data as {
    id: string
  }[]
  await call('POST', `/v1/identity-providers/${directory.id}/conflicts/${conflict?.id}/settle`, { user_id: null })
  await house.asSuperuser('insert into tenant_mail_domain (tenant_id, domain) values ($1, $2)', [
    tenant_id,
    'corp.example',
  ])
  const oscar = await makeUser('oscar@corp.example')
  const signIn = {
    issuer: 'https://id.example.com',
    client_id: 'sallyport',
    redirect_uris: ['https://app.example.com/back'],
  }
  const settings = { ...signIn, enabled: false, identity_provider_id: directory.id }
  assert.equal((await call('PUT', '/v1/settings/sign-in', settings)).status, 200)

  const cases: [string, Sent, string, string | null | undefined][] = [
    ['knows a user by the id', { user_name: 'another', external_id: 'ada', email: 'new@example.com' }, 'known', ada.id],
    ['knows a user by the name, in any case', { user_name: 'ADA@example.com' }, 'known', ada.id],
    ['would make somebody new', { user_name: 'bob', external_id: 'bob', email: 'bob@example.com' }, 'add', null],
    ['takes the user name as the address', { user_name: 'kim@example.com' }, 'add', null],
    ['asks about an address here', { user_name: 'grace@example.com', external_id: 'grace' }, 'settle', grace],
    ['asks about one that is written otherwise', { user_name: 'l', email: 'Linus@Example.com' }, 'settle', linus],
    ['asks about one of whom the directory stopped', { user_name: 'l2', email: 'left@example.com' }, 'settle', left.id],
    [
      'asks about the name of one',
      { user_name: 'gone@example.com', external_id: 'gone-2', email: 'g2@example.com' },
      'settle',
      gone.id,
    ],
    ['finds whom a person kept apart', { user_name: 'apart@example.com', external_id: 'apart' }, 'left_out', apart],
    ['finds whom the operator vouched for', { user_name: 'oscar@corp.example', external_id: 'o' }, 'adopt', oscar],
    [
      'would refuse the address of an active user of it',
      { user_name: 'z2', email: 'zoe@example.com' },
      'refused',
      zoe.id,
    ],
    [
      'would refuse the name of an active user of it',
      { user_name: 'zoe@example.com', external_id: 'z3', email: 'z3@example.com' },
      'refused',
      zoe.id,
    ],
    [
      'would refuse a user of it the address of another',
      { user_name: 'max', external_id: 'max', email: 'owner@example.com' },
      'refused',
      max.id,
    ],
    ['would refuse a person without an address', { user_name: 'nobody' }, 'refused', null],
    ['would refuse a second one of the list', { user_name: 'b2', email: 'BOB@example.com' }, 'refused', undefined],
  ]
  const answer = await preflight(
    directory.id,
    cases.map(([, sent]) => sent),
  )
  for (const [index, [name, , match, user_id]] of cases.entries()) {
    test(name, () => {
      const one = answer.people[index]
      assert.equal(one?.match, match)
      if (user_id !== undefined) assert.equal(one?.user_id, user_id)
      assert.equal(one?.message === null, match !== 'refused', String(one?.message))
    })
  }

  test('counts them, and changes nobody', async () => {
    assert.deepEqual(answer.counts, {
      ...{ people: 15, known: 2, added: 2, adopted: 1, to_settle: 4, left_out: 1, refused: 5 },
    })
    assert.equal((await directory.call('GET', '/Users')).body.totalResults, 5)
  })

  test('says what a push then does', async () => {
    const same = { add: 'add or adopt', adopt: 'add or adopt', left_out: 'refused' } as Record<string, string>
    for (const [name, sent, match] of cases.slice(1)) {
      assert.equal(await pushed(directory, sent), same[match] ?? match, name)
    }
  })
})

suite('a preflight asks the targets that have a directory of their own', async () => {
  const directory = await makeDirectory()
  const target = await makeInventory(house, tenant_id)
  const have = (id: string, login: string) =>
    house.asSuperuser(
      `insert into inventory_person (tenant_id, provisioner_id, id, name, login, login_key, run)
        values ($1, $2, $3, $3, $4, $5, 1)`,
      [tenant_id, target, id, login, emailKey(login)],
    )
  await have('p1', 'Mary@Example.com')
  const sent = ['mary@example.com', 'joan@example.com', 'grace.h@example.com'].map((user_name) => ({ user_name }))

  test('by their user names, in any case, and counts whom they do not have', async () => {
    const { targets, people: found } = await preflight(directory.id, [...sent, { user_name: 'no address' }])
    assert.deepEqual(
      targets.filter(({ provisioner_id }) => provisioner_id === target),
      [{ provisioner_id: target, name: 'an organization', not_found: 2 }],
    )
    assert.deepEqual(
      found.map(({ not_found_at }) => not_found_at.includes(target)),
      [false, true, true, false],
    )
  })

  test('for a caller alone who may see targets', async () => {
    const role = await call('POST', '/v1/roles', { name: 'desk', scopes: ['users:read'] })
    await call('PUT', `/v1/users/${people.auditor.user_id}/roles`, { roles: [role.body.id] })
    const desk = await house.person(tenant_id, people.auditor.user_id)
    const url = `/v1/identity-providers/${directory.id}/preflight`
    const reply = await house.call({ method: 'POST', url, token: desk.token, tenant_id, body: { people: sent } })
    const { targets, people: found } = reply.body as Preflight
    assert.deepEqual(
      [reply.status, targets, found.map(({ not_found_at }) => not_found_at)],
      [200, [], [[], [], []]],
      reply.text,
    )
  })

  test('not those whose people were not read yet', async () => {
    await house.asSuperuser('update inventory_part set finished_at = null where provisioner_id = $1', [target])
    const { targets } = await preflight(directory.id, sent)
    assert.deepEqual(
      targets.filter(({ provisioner_id }) => provisioner_id === target),
      [],
    )
  })
})

suite('a preflight is refused', async () => {
  const { id } = await makeDirectory()
  const url = `/v1/identity-providers/${id}/preflight`
  const one = { people: [{ user_name: 'a@example.com' }] }

  test('to who may not read users, and for a provider that there is not', async () => {
    const asked = { method: 'POST', url, token: people.user.token, tenant_id, body: one }
    assert.equal((await house.call(asked)).status, 403)
    assert.equal((await call('POST', `/v1/identity-providers/${newId()}/preflight`, one)).status, 404)
  })

  test('for a directory that is read', async () => {
    const config = { protocol: 'scim', base_url: 'https://directory.example/scim', token: 'x' }
    const made = await call('POST', '/v1/identity-providers', { name: 'd', provider_type: 'directory_a', config })
    const reply = await call('POST', `/v1/identity-providers/${made.body.id}/preflight`, one)
    assert.deepEqual([reply.status, /`dry_run`/.test(String(reply.body.message))], [422, true], reply.text)
  })

  test('for nobody, and for more than a thousand', async () => {
    for (const count of [0, 1_001]) {
      const many = Array.from({ length: count }, (_, at) => ({ user_name: `u${at}@example.com` }))
      assert.equal((await call('POST', url, { people: many })).status, 400)
    }
  })
})
