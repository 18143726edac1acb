import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { everything } from '../../../test/support/backup-database.ts'
import { openHouse } from '../../../test/support/house.ts'
import { requestStage } from '../../../test/support/request-stage.ts'
import { newId } from '../../kernel/id.ts'
import { replayUpgrade } from './replay-upgrade.flow.ts'

const house = await openHouse()
const [prod, dev] = ['600000000001', '600000000002']

type Stage = Awaited<ReturnType<typeof requestStage>>

/** A tenant with an account for production and one for development. */
async function stage(): Promise<Stage> {
  const on = await requestStage(house, newId())
  await on.cache({ [prod]: { tags: { env: 'prod' } }, [dev]: { tags: { env: 'dev' } } })
  return on
}

const isProd = 'resource.hasTag("env") && resource.getTag("env") == "prod"'
const bucket = (account_id?: string, more: object = {}) => ({
  resource: { type: 'cloud_storage_bucket', id: 'logs' },
  action: 'ReadOnly',
  ...(account_id !== undefined && { metadata: { account_id } }),
  ...more,
})

/** Asks whatever policy decides about it: a refusal is recorded too. */
async function ask(on: Stage, body: object): Promise<void> {
  const { status, text } = await on.call(on.people.user, 'POST', '/v1/requests', body)
  assert.ok(status === 201 || status === 403, text)
}

/** A provisioner that may find a bucket in another account than the request names. */
async function serveBuckets({ tenant_id }: Stage): Promise<void> {
  await house.asSuperuser(
    `with made as (insert into provisioner (tenant_id, id, name, provisioner_type)
        values ($1, gen_random_uuid(), 'hook', 'webhook') returning tenant_id, id)
      insert into served_resource (tenant_id, resource_type, provisioner_id)
      select tenant_id, 'cloud_storage_bucket', id from made`,
    [tenant_id],
  )
}

const dayMs = 24 * 3_600_000

async function upgradeOf(
  { tenant_id }: Stage,
  { days = 30, ...more }: { days?: number; max?: number; maxListed?: number } = {},
) {
  const until = new Date(Date.now() + dayMs)
  const span = { since: new Date(Date.now() - days * dayMs), until }
  return replayUpgrade(house.database.tenant(tenant_id), span, { maxListed: 100, ...more })
}

/** What changed: the differences, what is known of the account, and the modes before and after. */
const changesOf = ({ changed }: Awaited<ReturnType<typeof upgradeOf>>) =>
  changed.map(({ differences, account, before, after }) => [
    ...[...differences, account],
    ...[before, after].map(({ approval_mode }) => approval_mode),
  ])

suite('an upgrade', () => {
  test('tightens an approval at once for a bucket that may lie in a forbidden account', async () => {
    const on = await stage()
    await on.rule('@approval_mode("auto") permit (principal, action, resource);')
    await on.rule(`@approval_mode("auto") forbid (principal, action, resource) when { ${isProd} };`)
    await ask(on, bucket())
    await ask(on, bucket(dev))
    await ask(on, on.account(dev))
    const upgrade = await upgradeOf(on)
    assert.deepEqual(changesOf(upgrade), [['tightened', 'unnamed', 'auto', 'require']])
    const { counts, changed_by_account, changed, has_more } = upgrade
    assert.deepEqual([counts.questions, counts.changed, counts.tightened, has_more], [3, 1, 1, false])
    assert.deepEqual(changed_by_account, { known: 0, unnamed: 1, unconfirmed: 0 })
    assert.match(changed[0]?.after.reasoning ?? '', /a person decides on .*in an unknown account/)
    const [user] = await house.asSuperuser('select email from tenant_user where id = $1', [on.people.user.user_id])
    assert.deepEqual([changed[0]?.requester_email, changed[0]?.approver_email], [user?.email, null])
  })

  test('denies what a rule forbids by the tags of the account, known or not', async () => {
    const on = await stage()
    await on.rule('permit (principal, action, resource);')
    await on.rule(`forbid (principal, action, resource) when { ${isProd} };`)
    await ask(on, bucket(dev))
    await ask(on, bucket(prod))
    await ask(on, bucket())
    await ask(on, on.account(prod))
    assert.deepEqual(changesOf(await upgradeOf(on)), [
      ['newly_denied', 'unnamed', 'require', null],
      ['newly_denied', 'known', 'require', null],
    ])
  })

  test('denies by a named account that nothing confirms, until the tenant trusts it', async () => {
    const on = await stage()
    await on.rule('permit (principal, action, resource);')
    await on.rule(`forbid (principal, action, resource) when { ${isProd} };`)
    await serveBuckets(on)
    await ask(on, bucket(dev))
    assert.deepEqual(changesOf(await upgradeOf(on)), [['newly_denied', 'unconfirmed', 'require', null]])
    const setting = await on.call(on.owner, 'PUT', '/v1/settings/policies.trust_named_accounts', { value: 'true' })
    assert.equal(setting.status, 200, setting.text)
    assert.deepEqual(changesOf(await upgradeOf(on)), [])
  })

  test('allows and denies by what a rule reads of an entity that it names', async () => {
    const [on, other] = [await stage(), await stage()]
    await on.rule(`permit (principal, action, resource) when { User::"${on.owner.user_id}".is_owner };`)
    await ask(on, on.account(dev))
    assert.deepEqual(changesOf(await upgradeOf(on)), [['newly_allowed', 'known', null, 'require']])

    await other.rule('permit (principal, action, resource);')
    await other.rule(`forbid (principal, action, resource) when { cloud_account::"${prod}".hasTag("env") };`)
    await ask(other, other.account(dev))
    assert.deepEqual(changesOf(await upgradeOf(other)), [['newly_denied', 'known', 'require', null]])
  })

  test('changes who may decide a request', async () => {
    const on = await stage()
    await on.rule('permit (principal, action, resource);')
    await on.approve(await on.ask(on.account(dev)))
    const owner = `User::"${on.owner.user_id}"`
    await on.rule(`forbid (principal, action == Action::"approve", resource) when { ${owner} in Role::"admin" };`)
    const { counts, changed } = await upgradeOf(on)
    assert.deepEqual([counts.questions, counts.newly_denied], [2, 1])
    const [approver] = await house.asSuperuser('select email from tenant_user where id = $1', [
      on.people.approver.user_id,
    ])
    assert.deepEqual(
      changed.map(({ kind, approver_email, before, after }) => [kind, approver_email, before.allowed, after.allowed]),
      [['approve', approver?.email, true, false]],
    )
  })

  test('denies what would have to be evaluated for too many kinds of account', async () => {
    const on = await stage()
    await on.rule('permit (principal, action, resource);')
    const many = Array.from({ length: 201 }, (_, index) => [`7${String(index).padStart(11, '0')}`, `${index}`] as const)
    await on.cache(Object.fromEntries(many.map(([id, env]) => [id, { tags: { env } }])))
    await ask(on, bucket())
    await on.rule(
      'forbid (principal, action, resource) when { resource.hasTag("env") && resource.getTag("env") == "x" };',
    )
    const { changed } = await upgradeOf(on)
    assert.deepEqual(
      changed.map(({ differences, account }) => [...differences, account]),
      [['newly_denied', 'unnamed']],
    )
    assert.match(changed[0]?.after.reasoning ?? '', /too many to evaluate all of them/)
  })
})

suite('the comparison', () => {
  /** A tenant in which each question changes, with so many. */
  async function changing(questions: number): Promise<Stage> {
    const on = await stage()
    await on.rule('permit (principal, action, resource);')
    await ask(on, bucket())
    await on.rule(`forbid (principal, action, resource) when { ${isProd} };`)
    await house.asSuperuser(
      `insert into decision (tenant_id, id, question_kind, principal_id, question, allowed, rule_set_version, rule_ids,
          errors, decided_at)
        select d.tenant_id, made.id, d.question_kind, d.principal_id, d.question, true, 1, '{}', '[]', d.decided_at
        from decision d, unnest($2::uuid[]) made(id) where d.tenant_id = $1`,
      [on.tenant_id, Array.from({ length: questions - 1 }, newId)],
    )
    return on
  }

  test('covers each question of the tenant once, page by page, and writes nothing', async () => {
    const on = await changing(250)
    const before = await everything(house)
    const pages: number[] = []
    const span = { since: new Date(Date.now() - dayMs), until: new Date(Date.now() + dayMs) }
    const { counts, changed, has_more } = await replayUpgrade(house.database.tenant(on.tenant_id), span, {
      maxListed: 1_000,
      onPage: async (compared) => void pages.push(compared),
    })
    assert.deepEqual([counts.questions, counts.changed, has_more, pages], [250, 250, false, [0, 200, 250]])
    assert.equal(new Set(changed.map(({ decision_id }) => decision_id)).size, 250)
    assert.deepEqual(await everything(house), before)
  })

  test('covers the latest up to a maximum, lists the latest, and says that there are more', async () => {
    const on = await changing(4)
    const { counts, changed, has_more } = await upgradeOf(on, { max: 3, maxListed: 2 })
    assert.deepEqual([counts.questions, counts.changed, changed.length, has_more], [3, 3, 2, true])
    const latest = await house.asSuperuser('select id from decision where tenant_id = $1 order by id desc limit 2', [
      on.tenant_id,
    ])
    assert.deepEqual(
      changed.map(({ decision_id }) => decision_id),
      latest.map(({ id }) => id),
    )
    assert.equal((await upgradeOf(on, { max: 4 })).has_more, false)
  })

  test('counts apart what the engine could not answer in either way', async () => {
    const on = await changing(2)
    await house.asSuperuser(`update policy_rule set policy_text = 'nonsense' where tenant_id = $1`, [on.tenant_id])
    const { counts } = await upgradeOf(on)
    assert.deepEqual([counts.questions, counts.changed, counts.undecidable], [2, 0, 2])
  })

  test('covers the given time span', async () => {
    const on = await changing(2)
    await house.asSuperuser(
      `update decision set decided_at = decided_at - interval '2 days'
        where tenant_id = $1 and id = (select min(id::text)::uuid from decision where tenant_id = $1)`,
      [on.tenant_id],
    )
    assert.equal((await upgradeOf(on, { days: 1 })).counts.questions, 1)
    assert.equal((await upgradeOf(on, { days: 3 })).counts.questions, 2)
  })
})

test('an equal question to this version is another one where the former version put it differently', async () => {
  const on = await stage()
  await on.rule('permit (principal, action, resource);')
  await on.rule(`forbid (principal, action, resource in cloud_account::"${prod}");`)
  await serveBuckets(on)
  await ask(on, bucket(prod))
  await ask(on, bucket(dev))
  assert.deepEqual(changesOf(await upgradeOf(on)), [['newly_denied', 'unconfirmed', 'require', null]])
})
