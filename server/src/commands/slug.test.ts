import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { runAdmin } from '../../test/support/admin-command.ts'
import { dataFolder } from '../../test/support/data-folder.ts'
import { testDatabase } from '../../test/support/database.ts'
import { createTenant } from '../tenants/create-tenant.flow.ts'

const db = await testDatabase()
const DATA_DIR = await dataFolder()

const admin = (...options: string[]) => runAdmin(db, DATA_DIR, options)

suite('`slug`', () => {
  const owner = { email: 'owner@example.com', name: 'Owner', password: 'correct horse battery' }
  let acme: string
  before(async () => {
    acme = (await createTenant(db.database, { name: 'Acme', owner })).tenant_id
  })

  test('sets the slug of a tenant, which `tenant list` shows, and removes it', async () => {
    const rowOf = async () => (await admin('tenant', 'list')).output
    assert.match(await rowOf(), new RegExp(`^ID +NAME +SLUG +MODE .*\n${acme} +Acme +- +rehearsal `))
    assert.deepEqual(await admin('slug', 'set', acme, 'acme-eu'), {
      code: 0,
      output: 'the slug of the tenant is `acme-eu`\n',
    })
    assert.match(await rowOf(), new RegExp(`\n${acme} +Acme +acme-eu +rehearsal `))
    const again = await admin('--json', 'slug', 'set', acme, 'acme-eu')
    assert.deepEqual(JSON.parse(again.output), { tenant_id: acme, slug: 'acme-eu', changed: false })
    const removed = await admin('slug', 'remove', acme, 'acme-eu')
    assert.deepEqual(removed, { code: 0, output: 'the tenant no longer has the slug `acme-eu`\n' })
    assert.match(await rowOf(), new RegExp(`\n${acme} +Acme +- +rehearsal `))
  })

  test('says in one line what is wrong', async () => {
    assert.deepEqual(await admin('slug', 'set', acme, 'Acme EU'), {
      code: 1,
      output:
        'error: `Acme EU` is not a valid slug; use 1 to 63 lower-case letters, digits and hyphens, with no hyphen at either end\n',
    })
  })
})
