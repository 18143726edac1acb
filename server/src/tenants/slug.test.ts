import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { newId } from '../kernel/id.ts'
import { createTenant, operatorCtx } from './create-tenant.flow.ts'
import { listTenants, removeSlug, setSlug } from './operator.flow.ts'
import { slugFault } from './slug.ts'
import { saveSlug } from './slug-store.ts'

const db = await testDatabase()
const owner = { email: 'owner@example.com', name: 'Owner', password: 'correct horse battery' }
let acme: string
let other: string

before(async () => {
  acme = (await createTenant(db.database, { name: 'Acme', owner })).tenant_id
  other = (await createTenant(db.database, { name: 'Other', owner })).tenant_id
})

const slugs = async () => (await listTenants(db.database)).map(({ slug }) => slug)
const events = (tenant_id: string) =>
  db.asSuperuser(
    `select type, actor_kind, subject_id, data from event
      where tenant_id = $1 and type like 'tenant.slug%' order by seq`,
    [tenant_id],
  )

suite('a slug', () => {
  const valid = ['a', '7', 'acme', 'acme-eu', 'a--b', 'x'.repeat(63), 'deadbeef', '0'.repeat(31)]
  const [id, form] = [/has the form of an id/, /is not a valid slug/]
  const faulty: [string, RegExp][] = [
    ['', form],
    ['Acme', form],
    ['-acme', form],
    ['acme-', form],
    ['-', form],
    ['a.b', form],
    ['a_b', form],
    ['a b', form],
    ['acme\n', form],
    ['ácme', form],
    ['acme\u200b', form],
    ['x'.repeat(64), form],
    ['0197b0d4-0c5e-7d3a-9b52-6f1c2d3e4f50', id],
    ['0197b0d40c5e7d3a9b526f1c2d3e4f50', id],
    ['0'.repeat(32), id],
  ]

  for (const text of valid) {
    test(`may be ${text}, for the rule and for the database`, async () => {
      assert.equal(slugFault(text), undefined)
      await db.asSuperuser('update tenant set slug = $2 where id = $1', [acme, text])
      await db.asSuperuser('update tenant set slug = null where id = $1', [acme])
    })
  }

  for (const [text, why] of faulty) {
    test(`is not ${JSON.stringify(text)}, for the rule and for the database`, async () => {
      await assert.rejects(setSlug(db.database, { tenant_id: acme, slug: text }), why)
      await assert.rejects(
        db.asSuperuser('update tenant set slug = $2 where id = $1', [acme, text]),
        /tenant_slug_(?:not_uuid_)?ck/,
      )
    })
  }
})

suite('the operator', () => {
  test('sets, replaces and removes the slug of a tenant, with one event each', async () => {
    assert.deepEqual(await slugs(), [null, null])
    assert.equal(await setSlug(db.database, { tenant_id: acme, slug: 'acme' }), true)
    assert.equal(await setSlug(db.database, { tenant_id: acme, slug: 'acme' }), false)
    assert.deepEqual(await slugs(), ['acme', null])
    assert.equal(await setSlug(db.database, { tenant_id: acme, slug: 'acme-eu' }), true)
    await assert.rejects(removeSlug(db.database, { tenant_id: acme, slug: 'acme' }), /does not have the slug `acme`/)
    assert.deepEqual(await slugs(), ['acme-eu', null])
    await removeSlug(db.database, { tenant_id: acme, slug: 'acme-eu' })
    assert.deepEqual(await slugs(), [null, null])
    const event = (type: string, slug: string) => ({ type, actor_kind: 'operator', subject_id: acme, data: { slug } })
    assert.deepEqual(await events(acme), [
      event('tenant.slug_set', 'acme'),
      event('tenant.slug_set', 'acme-eu'),
      event('tenant.slug_removed', 'acme-eu'),
    ])
    assert.deepEqual(await events(other), [])
  })

  test('cannot give a slug to two tenants, and learns which one has it', async () => {
    await setSlug(db.database, { tenant_id: acme, slug: 'taken' })
    const refused = setSlug(db.database, { tenant_id: other, slug: 'taken' })
    await assert.rejects(refused, new RegExp(`the tenant ${acme} has the slug \`taken\`; choose another`))
    await assert.rejects(removeSlug(db.database, { tenant_id: other, slug: 'taken' }), /does not have the slug/)
    assert.deepEqual(await slugs(), ['taken', null])
    await removeSlug(db.database, { tenant_id: acme, slug: 'taken' })
    assert.equal(await setSlug(db.database, { tenant_id: other, slug: 'taken' }), true)
  })

  test('cannot give a slug to two tenants at the same moment: the database refuses the second', async () => {
    const both = [acme, other].map((id) => saveSlug(operatorCtx(db.database.tenant(id)), 'at-once'))
    const results = await Promise.allSettled(both)
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    const [refused] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []))
    assert.match(String(refused?.message), /another tenant has this slug; choose another one/)
  })

  test('names a tenant that exists', async () => {
    for (const tenant_id of [newId(), 'acme']) {
      await assert.rejects(setSlug(db.database, { tenant_id, slug: 'nobody' }), /there is no tenant/)
      await assert.rejects(removeSlug(db.database, { tenant_id, slug: 'nobody' }), /there is no tenant/)
    }
  })
})
