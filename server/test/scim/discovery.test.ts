import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { enterpriseSchema, groupSchema, userSchema } from '../../src/scim/attribute.ts'
import { openScimStage } from '../support/scim-stage.ts'

const { directory } = await openScimStage()
const read = async (path: string) => {
  const reply = await directory.call('GET', path)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
type Published = { name: string; mutability: string; required: boolean; returned: string; subAttributes?: Published[] }

suite('the discovery of the service', () => {
  test('says what it can do', async () => {
    const config = await read('/ServiceProviderConfig')
    const { patch, bulk, filter, changePassword, sort, etag } = config
    assert.deepEqual(
      { patch, bulk, filter, changePassword, sort, etag },
      {
        patch: { supported: true },
        bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
        filter: { supported: true, maxResults: 200 },
        changePassword: { supported: false },
        sort: { supported: true },
        etag: { supported: true },
      },
    )
  })

  test('lists each type, and shows it by its name as it lists it', async () => {
    const { Resources, totalResults } = await read('/ResourceTypes')
    assert.equal(totalResults, 2)
    for (const type of Resources as { id: string; endpoint: string; schema: string; meta: { location: string } }[]) {
      assert.deepEqual(await read(`/ResourceTypes/${type.id}`), type)
      assert.ok(type.meta.location.endsWith(`/scim/v2/${directory.id}/ResourceTypes/${type.id}`))
      assert.equal((await directory.call('GET', type.endpoint)).status, 200)
      assert.equal((await read(`/Schemas/${type.schema}`)).id, type.schema)
    }
  })

  test('lists each schema, and shows it by its URI as it lists it', async () => {
    const { Resources } = await read('/Schemas')
    const schemas = Resources as { id: string; attributes: Published[] }[]
    assert.deepEqual(
      schemas.map(({ id }) => id),
      [userSchema, enterpriseSchema, groupSchema],
    )
    for (const schema of schemas) assert.deepEqual(await read(`/Schemas/${schema.id}`), schema)
  })

  test('publishes what it keeps, and nothing that gives rights', async () => {
    const { attributes } = await read(`/Schemas/${userSchema}`)
    const names = (attributes as Published[]).map(({ name }) => name)
    for (const name of ['userName', 'active', 'emails', 'title']) assert.ok(names.includes(name), name)
    for (const name of ['password', 'roles', 'entitlements', 'groups', 'is_owner'])
      assert.ok(!names.includes(name), name)
    const required = (attributes as Published[]).filter((one) => one.required).map(({ name }) => name)
    assert.deepEqual(required, ['userName', 'active', 'emails'])
  })

  test('keeps the value of each attribute that it publishes as one that can be written', async () => {
    const { id } = await directory.user({ userName: 'ada@example.com' })
    for (const schema of [userSchema, enterpriseSchema]) {
      const { attributes } = (await read(`/Schemas/${schema}`)) as { attributes: Published[] }
      for (const { name, subAttributes } of attributes.filter(
        (one) => !['userName', 'active', 'emails'].includes(one.name),
      )) {
        const parts = subAttributes?.filter(
          ({ mutability, name: part }) => mutability === 'readWrite' && part !== 'primary',
        )
        const value = parts === undefined ? 'x' : Object.fromEntries(parts.map((part) => [part.name, 'x']))
        const path = `${schema}:${name}`
        const patched = await directory.call('PATCH', `/Users/${id}`, { Operations: [{ op: 'add', path, value }] })
        assert.equal(patched.status, 200, patched.text)
        const first = subAttributes === undefined ? path : `${path}.${parts?.[0]?.name}`
        const found = await read(
          `/Users?filter=${encodeURIComponent(`${first} eq "X"`)}&attributes=${encodeURIComponent(path)}`,
        )
        const isExact = ['profileUrl', 'manager'].includes(name)
        assert.equal(found.totalResults, isExact ? 0 : 1, path)
      }
    }
  })
})
