import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { enterpriseSchema } from '../../src/scim/attribute.ts'
import { insertDirectoryUsers } from '../support/scim-rows.ts'
import { openScimStage } from '../support/scim-stage.ts'

/** What a directory may say, and what it may not do by saying it: gain rights, change our objects, hold us up. */
const { house, acme, directory } = await openScimStage()
const { call } = directory

suite('a body gives no rights (P10)', () => {
  const gifts = {
    ...{ id: newId(), meta: { created: '2000-01-01T00:00:00Z', version: 'W/"1"', resourceType: 'Group' } },
    ...{
      roles: [{ value: 'admin' }],
      entitlements: [{ value: 'all' }],
      groups: [{ value: newId() }],
      password: 'hunter2 hunter2',
    },
    ...{
      is_owner: true,
      isOwner: true,
      scopes: ['roles:write'],
      auth_provider: 'local',
      email_verified: true,
      deleted_at: null,
    },
    ...{ tenant_id: newId(), identity_provider_id: newId(), user_id: newId(), suspended_at: null, password_hash: 'x' },
    'urn:sallyport:1.0:User': { is_owner: true },
  }
  /** What decides about rights. */
  const rightsOf = (id: string) =>
    house.asSuperuser(
      `select u.is_owner, u.auth_provider, u.email_verified, u.tenant_id, d.identity_provider_id,
          array(select role_id from user_role r where r.user_id = u.id) as roles,
          exists (select from user_password p where p.user_id = u.id) as has_password
        from tenant_user u join directory_user d on d.user_id = u.id where u.id = $1`,
      [id],
    )
  const none = {
    ...{ is_owner: false, auth_provider: 'oidc', email_verified: false, tenant_id: acme.tenant_id },
    ...{ identity_provider_id: directory.id, roles: ['user'], has_password: false },
  }

  test('when a user is made, replaced or patched', async () => {
    const made = await call('POST', '/Users', { ...gifts, userName: 'gift@example.com' })
    assert.equal(made.status, 201, made.text)
    const id = String(made.body.id)
    assert.notEqual(id, gifts.id)
    assert.deepEqual(await rightsOf(id), [none])
    assert.equal((await call('PUT', `/Users/${id}`, { ...gifts, userName: 'gift@example.com' })).status, 200)
    assert.deepEqual(await rightsOf(id), [none])
    // A patch names what it changes: a name that is not known is refused, one that is never kept is left out.
    for (const [name, value] of Object.entries(gifts)) {
      for (const operation of [
        { op: 'add', path: name, value },
        { op: 'replace', value: { [name]: value } },
      ]) {
        const reply = await call('PATCH', `/Users/${id}`, { Operations: [operation] })
        assert.ok(reply.status === 200 || reply.body.scimType === 'invalidPath', `${name}: ${reply.text}`)
      }
    }
    assert.deepEqual(await rightsOf(id), [none])
    const { body } = await call('GET', `/Users/${id}`)
    assert.deepEqual(Object.keys(body).toSorted(), ['active', 'id', 'meta', 'schemas', 'userName'])
    assert.notDeepEqual(body.meta, gifts.meta)
  })

  test('when a group is made, replaced or patched', async () => {
    const more = { ...gifts, role_ids: ['admin'], source: 'local', name: 'Other', mappings: ['admin'] }
    const made = await call('POST', '/Groups', { ...more, displayName: 'Gifts' })
    const id = String(made.body.id)
    assert.equal((await call('PUT', `/Groups/${id}`, { ...more, displayName: 'Gifts' })).status, 200)
    for (const name of ['roles', 'role_ids', 'source']) {
      await call('PATCH', `/Groups/${id}`, { Operations: [{ op: 'add', value: { [name]: ['admin'] } }] })
    }
    const rows = await house.asSuperuser('select source, name from tenant_group where id = $1', [id])
    assert.deepEqual(rows, [{ source: 'scim', name: 'Gifts' }])
    assert.deepEqual(await house.asSuperuser('select from group_role where group_id = $1', [id]), [])
  })
})

suite('names of JavaScript change no object (I4)', () => {
  test('in bodies, as names of attributes', async () => {
    const { id } = await directory.user({ userName: 'proto@example.com' })
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString']) {
      const text = (value: string) =>
        `{"userName": "p${name.length}@example.com", "${name}": ${value}, "name": {"${name}": ${value}}}`
      const reply = await call('POST', '/Users', text('{"active": false, "polluted": true}'))
      assert.ok([201, 400].includes(reply.status), reply.text)
      const patch = await call(
        'PATCH',
        `/Users/${id}`,
        `{"Operations": [{"op": "add", "value": {"${name}": {"polluted": true}}}]}`,
      )
      assert.equal(patch.status, 400, patch.text)
      for (const path of [name, `name.${name}`, `emails[type eq "work"].${name}`]) {
        assert.equal(
          (await call('PATCH', `/Users/${id}`, { Operations: [{ op: 'add', path, value: 'x' }] })).status,
          400,
          path,
        )
      }
      for (const query of [
        `filter=${name} pr`,
        `filter=emails[${name} pr]`,
        `sortBy=${name}`,
        `attributes=${name}`,
        `${name}=x`,
      ]) {
        const [key, value = ''] = query.split('=', 2)
        const listed = await call('GET', `/Users?${key}=${encodeURIComponent(value)}`)
        assert.ok([200, 400].includes(listed.status), query)
      }
    }
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
    assert.equal((await call('GET', `/Users/${id}`)).body.active, true)
  })
})

suite('a text is only a text (J6, J7)', () => {
  const texts = [
    `'; drop table tenant_user; --`,
    '%',
    '_',
    '\\',
    '$1',
    '"',
    '\u202e',
    '<script>',
    '=cmd',
    '\r\nX-Evil: 1',
    '{{x}}',
  ]

  test('whatever it has, it is kept and found as it is', async () => {
    for (const [n, text] of texts.entries()) {
      const { id } = await directory.user({
        userName: `text${n}@example.com`,
        nickName: text,
        title: `<${text}>`,
        externalId: `${text}${n}`,
      })
      for (const filter of [
        `nickName eq ${JSON.stringify(text)}`,
        `externalId sw ${JSON.stringify(text)}`,
        `title eq ${JSON.stringify(`<${text}>`)}`,
      ]) {
        const { body } = await call('GET', `/Users?filter=${encodeURIComponent(filter)}`)
        assert.deepEqual(
          (body.Resources as { id: string }[]).map((one) => one.id),
          [id],
          filter,
        )
      }
    }
  })

  test('in a path it finds nothing, and makes no header', async () => {
    for (const text of [...texts, `${newId()}\r\nX-Evil: 1`, '..', '../../v1/users', newId().replace(/-/g, '')]) {
      for (const kind of ['Users', 'Groups', 'Schemas', 'ResourceTypes']) {
        const reply = await call('GET', `/${kind}/${encodeURIComponent(text)}`)
        assert.ok([400, 404].includes(reply.status), `${text} ${reply.text}`)
        assert.equal(reply.headers['x-evil'], undefined)
      }
    }
  })
})

suite('large bodies', () => {
  test('a group of 10,000 members is one call, and so is its change', async () => {
    const ids = await insertDirectoryUsers(house, {
      tenant_id: acme.tenant_id,
      identity_provider_id: directory.id,
      count: 10_000,
    })
    const members = ids.map((value) => ({ value, display: 'person@many.example', type: 'User' }))
    const { id } = await directory.group('Everybody')
    const count = async () => (await house.asSuperuser('select from group_member where group_id = $1', [id])).length
    const put = await call('PUT', `/Groups/${id}?excludedAttributes=members`, { displayName: 'Everybody', members })
    assert.deepEqual([put.status, await count()], [200, 10_000], put.text)
    const read = await call('GET', `/Groups/${id}`)
    assert.deepEqual(
      (read.body.members as { value: string }[]).map(({ value }) => value),
      ids.toSorted(),
    )
    const half = { Operations: [{ op: 'remove', path: 'members', value: members.slice(0, 5_000) }] }
    assert.deepEqual([(await call('PATCH', `/Groups/${id}`, half)).status, await count()], [204, 5_000])
    const one = { Operations: members.slice(0, 5_000).map((value) => ({ op: 'add', path: 'members', value: [value] })) }
    assert.deepEqual([(await call('PATCH', `/Groups/${id}`, one)).status, await count()], [204, 10_000])
    const listed = await call('GET', '/Groups')
    assert.equal(listed.status, 200)
    const page = await call('GET', '/Users?startIndex=9901&count=200')
    assert.equal((page.body.Resources as object[]).length, Math.min(200, Number(page.body.totalResults) - 9_900))
  })

  test('a user is bounded, and so is what one call does with them', async () => {
    const many = (length: number, of: (n: number) => object) => Array.from({ length }, (_, n) => of(n))
    const filled = (long: string) => ({
      userName: 'full@example.com',
      emails: many(100, (n) => ({ value: `e${n}@example.com`, display: `${long}${n}`, type: `t${n}` })),
      phoneNumbers: many(100, (n) => ({ value: `${long}${n}`, display: long, type: `t${n}` })),
      addresses: many(100, (n) => ({
        formatted: `${long}${n}`,
        streetAddress: long,
        locality: long,
        region: long,
        country: long,
        type: `t${n}`,
      })),
      [enterpriseSchema]: { department: long, manager: { value: long } },
    })
    assert.equal((await call('POST', '/Users', filled('x'.repeat(590)))).status, 400)
    const made = await call('POST', '/Users', filled('x'.repeat(40)))
    assert.equal(made.status, 201, made.text.slice(0, 500))
    const Operations = many(500, (n) => ({
      op: 'replace',
      path: `addresses[type eq "t${n % 100}"].country`,
      value: `${n}`,
    }))
    const patched = await call('PATCH', `/Users/${made.body.id}`, { Operations })
    assert.equal(patched.status, 200, patched.text.slice(0, 500))
    assert.deepEqual(
      (patched.body.addresses as { country: string }[]).map(({ country }) => country),
      many(100, (n) => ({ n })).map((_, n) => `${n + 400}`),
    )
    for (const more of [{ emails: many(101, (n) => ({ value: `e${n}@example.com` })) }, { title: 'x'.repeat(601) }]) {
      assert.equal((await call('POST', '/Users', { userName: 'over@example.com', ...more })).status, 400)
    }
  })
})
