import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { runAdmin } from '../../test/support/admin-command.ts'
import { bareDatabase, everything } from '../../test/support/backup-database.ts'
import { dataFolder } from '../../test/support/data-folder.ts'
import type { TestDatabase } from '../../test/support/database.ts'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { migrate } from '../db/migrate.ts'
import { newId } from '../kernel/id.ts'
import type { UpgradeReplay } from '../policy-analysis/replay/replay-upgrade.flow.ts'
import { neededMigration } from './replay-upgrade.ts'

const house = await openHouse()
const old = await bareDatabase()
const DATA_DIR = await dataFolder()
const isProd = 'resource.hasTag("env") && resource.getTag("env") == "prod"'

const run = (on: Pick<TestDatabase, 'service' | 'owner'>, ...options: string[]) => runAdmin(on, DATA_DIR, options)

const replay = (...options: string[]) => run(house, 'replay-upgrade', ...options)

suite('`replay-upgrade`', () => {
  let changing: string
  let quiet: string

  before(async () => {
    const on = await requestStage(house, 'Changing')
    await on.cache({ '600000000001': { tags: { env: 'prod' } } })
    await on.rule('@approval_mode("auto") permit (principal, action, resource);')
    await on.rule(`@approval_mode("auto") forbid (principal, action, resource) when { ${isProd} };`)
    for (let made = 0; made < 22; made += 1)
      await on.ask({ resource: { type: 'cloud_storage_bucket', id: `logs-${made}` }, action: 'ReadOnly' })
    const other = await requestStage(house, 'Quiet')
    await other.rule('permit (principal, action, resource);')
    await other.ask(other.account('600000000001'))
    changing = on.tenant_id
    quiet = other.tenant_id
  })

  test('prints what changes for each tenant, the latest first, and writes nothing', async () => {
    const stored = await everything(house)
    const { code, output } = await replay()
    assert.equal(code, 0, output)
    assert.match(output, /^this version decides 22 of 23 recorded questions of the last 30 days differently\n/)
    assert.ok(output.includes(`\nChanging  ${changing}\n  questions 22, changed 22: tightened 22\n`), output)
    assert.ok(output.includes(`\nQuiet  ${quiet}\n  questions 1, changed 0\n`), output)
    const shown = [...output.matchAll(/ {2}\S+@\S+ {2}ReadOnly on cloud_storage_bucket (\S+)\n(.*)/g)]
    assert.deepEqual(
      shown.map(([, id]) => id),
      Array.from({ length: 20 }, (_, index) => `logs-${21 - index}`),
    )
    assert.match(
      shown[0]?.[2] ?? '',
      /^ {4}approved at once -> a person decides: a rule .*in an unknown account \(rule [0-9a-f-]{36}\)$/,
    )
    assert.match(output, /\n {2}and 2 more; --json lists the first 1,000\n/)
    assert.match(output, /\n- no account is named \(22\): .*`metadata\.account_id`/)
    assert.deepEqual(await everything(house), stored)
  })

  test('says in one sentence that nothing changes', async () => {
    const { code, output } = await replay('--tenant', quiet, '--days', '1')
    assert.deepEqual(
      [code, output],
      [0, 'nothing changes: this version decides each question of the last day as the one before (questions 1)\n'],
    )
  })

  test('prints all of it as JSON', async () => {
    const { code, output } = await run(house, '--json', 'replay-upgrade', '--tenant', changing, '--days', '90')
    assert.equal(code, 0, output)
    type Tenant = UpgradeReplay & { tenant_id: string; name: string }
    const { days, tenants } = JSON.parse(output) as { days: number; tenants: Tenant[] }
    assert.deepEqual([days, tenants.map(({ name }) => name)], [90, ['Changing']])
    const [{ tenant_id, counts, changed_by_account, changed, has_more } = assert.fail()] = tenants
    assert.deepEqual([tenant_id, has_more, counts.questions, counts.tightened], [changing, false, 22, 22])
    assert.deepEqual(changed_by_account, { known: 0, unnamed: 22, unconfirmed: 0 })
    assert.deepEqual(
      changed.map(({ resource, differences, account, before, after }) => [
        ...[resource.id, ...differences, account, before.approval_mode, after.approval_mode],
      ]),
      Array.from({ length: 22 }, (_, index) => [`logs-${21 - index}`, 'tightened', 'unnamed', 'auto', 'require']),
    )
  })

  const refusals: [what: string, options: string[], line: RegExp][] = [
    ...['0', '91', 'many'].map((days): [string, string[], RegExp] => [
      `the days \`${days}\``,
      [`--days=${days}`],
      /^error: option '--days <number>' argument '.*' is invalid\. write a whole number from 1 to 90\n$/,
    ]),
    [
      'an unknown tenant',
      ['--tenant', newId()],
      /^error: there is no tenant with the id or slug `.*`; `tenant list` shows all tenants\n$/,
    ],
    [
      'a name for a tenant',
      ['--tenant', 'Quiet'],
      /^error: there is no tenant with the id or slug `Quiet`; `tenant list` shows .*\n$/,
    ],
  ]
  for (const [what, options, line] of refusals) {
    test(`refuses ${what} in one line`, async () => {
      const { code, output } = await replay(...options)
      assert.equal(code, 1, output)
      assert.match(output, line)
    })
  }
})

suite('on the database of an earlier version', () => {
  const migrationsOf = () => old.asSuperuser('select name from migration order by name')

  test('that has no tables, `replay-upgrade` says so', async () => {
    const { code, output } = await run(old, 'replay-upgrade')
    assert.equal(code, 1)
    assert.match(output, /^error: the database has no tables of Sallyport; check DATABASE_URL or DATA_DIR\n$/)
  })

  test('that is too old to read, it says what to do, and migrates nothing', async () => {
    await migrate(old.owner, '0038_sessions')
    const { code, output } = await run(old, 'replay-upgrade')
    assert.equal(code, 1)
    assert.match(
      output,
      /^error: the database lacks 0039_tenant_mode, without which .*backup.*restore.*run this command there\n$/,
    )
    assert.equal((await migrationsOf()).at(-1)?.name, '0038_sessions')
  })

  test('that has the last migration that is needed, it compares, and migrates nothing', async () => {
    await migrate(old.owner, neededMigration)
    await recordOne()
    const { code, output } = await run(old, 'replay-upgrade')
    assert.equal(code, 0, output)
    assert.match(output, / questions 1, changed 1: newly_allowed 1\n.*ada@example\.com {2}Read on cloud_account 6/)
    assert.match(output, / denied -> a person decides: /)
    assert.equal((await migrationsOf()).at(-1)?.name, neededMigration)
  })
})

/** A tenant with one recorded question, and a rule that reads another user. */
async function recordOne(): Promise<void> {
  const [tenant_id, asker, other] = [newId(), newId(), newId()]
  await old.asSuperuser('insert into tenant (id, name) values ($1, $2)', [tenant_id, 'Old'])
  for (const [id, name] of [
    [asker, 'ada'],
    [other, 'eve'],
  ])
    await old.asSuperuser(
      `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
        values ($1, $2, $3 || '@example.com', $3 || '@example.com', $3, 'local')`,
      [tenant_id, id, name],
    )
  const policy = [tenant_id, newId()]
  await old.asSuperuser(`insert into policy (tenant_id, id, name, priority) values ($1, $2, 'p', 0)`, policy)
  await old.asSuperuser(
    `insert into policy_rule (tenant_id, id, policy_id, ordinal, effect, principal_scope_type, action_scope_type,
        action_ids, resource_scope_type, policy_text, audit_session)
      values ($1, $2, $2, 0, 'permit', 'any', 'any', '{}', 'any', $3, false)`,
    [...policy, `permit (principal, action, resource) when { User::"${other}".active };`],
  )
  const resource = { type: 'cloud_account', id: '600000000001' }
  const question = {
    ...{ resource, places: [{ ...resource, account_id: resource.id }], action: 'Read', duration_seconds: 60 },
    ...{ has_reason: false, break_glass: false, via: 'token', source_ip: '192.0.2.1', now: '2026-03-01T08:05:09.120Z' },
  }
  await old.asSuperuser(
    `insert into decision (tenant_id, id, question_kind, principal_id, question, allowed, rule_set_version, rule_ids,
        errors)
      values ($1, $2, 'ask', $3, $4, false, 1, '{}', '[]')`,
    [tenant_id, newId(), asker, JSON.stringify(question)],
  )
}
