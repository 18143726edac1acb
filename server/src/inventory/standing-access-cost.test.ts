import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { inventoryStage } from '../../test/support/inventory-stage.ts'
import { outline, readingOf, recordingTx } from '../../test/support/rows-read.ts'
import type { Inventoried, StandingFilters } from './standing-access.ts'
import { listStandingAccessPage } from './standing-access-store.ts'

const db = await testDatabase()
const { tx, tenant_id, provisioner_id } = await inventoryStage(db)
const lookup = { external_id_issuer: 'https://idp.example', email_domain: null }
const of: Inventoried = { provisioner_id, provisioner: 'aws-identity-center', lookup }

/** Far more than a page reads. */
const many = 20_000

async function seed(table: string, columns: string, values: string, rows = many): Promise<void> {
  await db.asSuperuser(
    `insert into ${table} (tenant_id, ${columns}) select $1, ${values} from generate_series(1, ${rows}) n
      where $2::uuid is not null`,
    [tenant_id, provisioner_id],
  )
}

await seed(
  'cloud_account',
  'id, name, account_id, metadata, rank',
  `'own' || n, 'Own', lpad(n::text, 12, '0'), '{}', 0`,
)
await seed(
  'tenant_user',
  'id, email, email_key, name, auth_provider, issuer, subject',
  `gen_random_uuid(), n || '@example.com', n || '@example.com', 'User', 'oidc', 'https://idp.example', 's' || n`,
)
await seed(
  'inventory_person',
  'provisioner_id, id, name, login, login_key, external_id, run',
  `$2, 'u' || n, 'Person', n || '@example.com', n || '@example.com', case when n % 2 = 0 then 's' || n end, 1`,
)
await seed(
  'inventory_resource',
  'provisioner_id, resource_type, id, name, tags, facts, run',
  `$2, 'cloud_permission_set', 'set' || n, 'Set ' || n, '{}', '{}', 1`,
  50,
)
await seed(
  'standing_access',
  'provisioner_id, account_id, permission_set_id, principal_type, principal_id, run',
  `$2, lpad((n % 1000)::text, 12, '0'), 'set' || (1 + n % 49), 'person', 'u' || n, 1`,
)
await db.asSuperuser('analyze')

suite('what a page of standing access reads does not grow with the tenant:', () => {
  const lists: Record<string, StandingFilters> = {
    'by account': {},
    'by person': { order: 'person' },
    'of an account': { account_id: '000000000500' },
    'of a person': { person_id: 'u500' },
    'of a set that some have': { permission_set: 'Set 7' },
    'of a set that nobody has': { permission_set: 'Set 50' },
    'of an unknown set': { permission_set: 'none' },
  }
  for (const [name, filters] of Object.entries(lists))
    test(name, async () => {
      const recorded = recordingTx(tx)
      await listStandingAccessPage(recorded.tx, of, filters, { limit: 50, after: undefined })
      const [statement] = recorded.statements
      assert.ok(statement)
      for (const generic of [false, true]) {
        const { rows, plan } = await readingOf(db, tenant_id, statement, generic)
        assert.ok(rows <= 5_000, `${rows} rows:\n${outline(plan)}`)
      }
    })
})
