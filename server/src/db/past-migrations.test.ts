import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { bareDatabase } from '../../test/support/backup-database.ts'
import { listMigrations, migrate } from './migrate.ts'
import { type AppliedMigration, inOurTerms } from './past-migrations.ts'

const first = '09b57edd325e122cfcaa1d83270ae32f4829077546af60dcd4edebfded9705fa'
const count = 'b17f0aa0fcba95c1765a3ecedf4d37ee8053cf19018c464320c8f643dc06343b'
const order = '2e72d1730d5e1b3fe9e1299d6fded07496b6c9d92dd25b19d7e930177cef91ed'
const ours: AppliedMigration[] = [
  { name: '0026_deliveries', checksum: 'today' },
  { name: '0030_notification_order', checksum: order },
]

suite('applied migrations, in terms of this version', () => {
  const trials: [string, AppliedMigration[], AppliedMigration[]][] = [
    ['a migration of this version stays', ours, ours],
    ['an edited migration is recognized', [{ name: '0026_deliveries', checksum: first }], ours.slice(0, 1)],
    ['a renamed migration is recognized', [{ name: '0028_notification_order', checksum: order }], ours.slice(1)],
    ['a withdrawn migration is left out', [{ name: '0030_lanes_without_count', checksum: count }], []],
    [
      'another text under the name of an edited migration is not recognized',
      [{ name: '0026_deliveries', checksum: 'other' }],
      [{ name: '0026_deliveries', checksum: 'other' }],
    ],
    [
      'a renamed migration is listed at its new number',
      [
        { name: '0028_notification_order', checksum: order },
        { name: '0029_other', checksum: 'x' },
      ],
      [{ name: '0029_other', checksum: 'x' }, ...ours.slice(1)],
    ],
  ]
  for (const [name, applied, expected] of trials)
    test(name, () => assert.deepEqual(inOurTerms(applied, ours), expected))
})

test('every migration that replaces a past one exists', async () => {
  const names = (await listMigrations()).map(({ name }) => name)
  for (const { name } of ours) assert.ok(names.includes(name), name)
})

test('a database that ran the first version of 0026 is migrated to the current schema', async () => {
  const db = await bareDatabase()
  await migrate(db.owner, '0026_deliveries')
  await db.asSuperuser('alter table delivery_lane add column arrivals bigint not null default 0')
  await db.asSuperuser(`update migration set checksum = $1 where name = '0026_deliveries'`, [first])
  const ran = await migrate(db.owner)
  assert.ok(ran.includes('0032_lanes_without_count') && !ran.includes('0026_deliveries'), ran.join(', '))
  const left = await db.asSuperuser(
    `select from information_schema.columns where table_name = 'delivery_lane' and column_name = 'arrivals'`,
  )
  assert.deepEqual(left, [])
  assert.deepEqual(await migrate(db.owner), [])
})
