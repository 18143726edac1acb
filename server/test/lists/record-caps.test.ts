import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../support/house.ts'
import { sampleBodies } from '../support/sample-bodies.ts'
import { callerOf } from '../support/whole-list.ts'

/** Lists that test each record stay bounded, because a tenant has no more than so many. */
const house = await openHouse()
const theirs = callerOf(house, await house.tenant('others'))

const caps = [
  {
    url: '/v1/identity-providers',
    body: sampleBodies.createIdentityProvider,
    most: 100,
    insert: `insert into identity_provider (tenant_id, id, name, provider_type)
      select $1::uuid, gen_random_uuid(), 'many', 'custom_scim' from generate_series(1, $2::integer)`,
    created: 'identity_provider.created',
  },
  {
    url: '/v1/provisioners',
    body: sampleBodies.createProvisioner,
    most: 500,
    insert: `insert into provisioner (tenant_id, id, name, provisioner_type)
      select $1::uuid, gen_random_uuid(), 'many', 'sandbox' from generate_series(1, $2::integer)`,
    created: 'provisioner.created',
  },
]

for (const { url, body, most, insert, created } of caps) {
  suite(`POST ${url}`, () => {
    test(`is refused to a tenant that has ${most}, until one is deleted`, async () => {
      const ours = await house.tenant('caps')
      const { send, create, whole } = callerOf(house, ours)
      await house.asSuperuser(insert, [ours.tenant_id, most - 1])
      const last = await create(url, body)
      const refused = await send('POST', url, body)
      assert.deepEqual([refused.status, refused.body.code], [422, 'unprocessable'], refused.text)
      assert.match(String(refused.body.message), new RegExp(`at most ${most} `))
      assert.equal((await whole(url)).length, most)
      const events = await house.asSuperuser('select from event where tenant_id = $1 and type = $2', [
        ours.tenant_id,
        created,
      ])
      assert.equal(events.length, 1, 'the refused call emits nothing')
      await theirs.create(url, body)

      assert.equal((await send('PATCH', `${url}/${last}`, { name: 'another name' })).status, 200)
      assert.deepEqual(
        (await whole(`${url}?q=another&sort=name`)).map(({ id }) => id),
        [last],
      )
      assert.equal((await send('DELETE', `${url}/${last}`)).status, 204)
      await create(url, body)
    })
  })
}
