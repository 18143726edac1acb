import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../test/support/chance.ts'
import { testDatabase } from '../../test/support/database.ts'
import { rounds } from '../../test/support/race.ts'
import { sampleRule, sampleRuleSet } from '../../test/support/sample-rule.ts'
import { newId } from '../kernel/id.ts'
import type { Resource } from '../policy-engine/cedar/question.ts'
import { sampleQuestion } from '../policy-engine/cedar/samples.ts'
import { decideAsk } from '../policy-engine/deciding/decide.ts'
import { asIfIn } from './account-kind.ts'
import { findPolicyFacts } from './policy-facts.flow.ts'

/** A resource of an unknown account gets the answer of every single account of the cache, though far fewer are evaluated. */
const { database, asSuperuser } = await testDatabase()

const accountIds = Array.from({ length: 12 }, (_, index) => String(910000000000 + index))
const uncached = '919999999999'
const units = ['ou-ab12-91000001', 'ou-ab12-91000002', 'ou-ab12-91000003']
const values = ['prod', 'dev', 'team-a']
const anyAccount = fc.record({
  tags: fc.dictionary(fc.constantFrom('env', 'team', 'cost', 'ou'), fc.constantFrom(...values), { maxKeys: 3 }),
  above: fc.subarray(units),
  // What is no text is no tag.
  odd: fc.constantFrom({}, { env: 7 }, { team: { env: 'prod' } }, { organizational_unit_ids: 'ou' }),
})
const conditions = [
  'true',
  'resource.hasTag("env") && resource.getTag("env") == "prod"',
  'resource.hasTag("team") && resource.getTag("team") != "team-a"',
  'resource.hasTag("nothing")',
  'resource.hasTag(if context.has_reason then "cost" else "env")',
  `resource in cloud_organizational_unit::"${units[0]}"`,
  `resource in [cloud_organizational_unit::"${units[1]}", cloud_organizational_unit::"${units[2]}"]`,
  `resource in cloud_account::"${accountIds[3]}"`,
  `resource in cloud_account::"${uncached}"`,
  `resource in cloud_account::"${accountIds[5]}" && resource.hasTag("env")`,
]
const anyRule = fc.record({
  effect: fc.constantFrom('permit', 'permit', 'forbid'),
  mode: fc.constantFrom('auto', 'auto', ''),
  resource: fc.constantFrom('resource', 'resource', `resource in cloud_organizational_unit::"${units[0]}"`),
  kind: fc.constantFrom('when', 'unless'),
  condition: fc.constantFrom(...conditions),
})
type Drawn = typeof anyRule extends fc.Arbitrary<infer Value> ? Value : never
const textOf = ({ effect, mode, resource, kind, condition }: Drawn) =>
  `${mode && `@approval_mode("${mode}") `}${effect}(principal, action, ${resource}) ${kind} { ${condition} };`

const bucket = { type: 'cloud_storage_bucket', id: 'logs' } as const

test('the answer for an unknown account is that of every account, of the uncached ones that rules name, and of none', async () => {
  let [allowed, denied, most] = [0, 0, 0]
  const property = fc.asyncProperty(
    fc.array(anyAccount, { minLength: 12, maxLength: 12 }),
    fc.array(fc.array(anyRule, { minLength: 1, maxLength: 6 }), { minLength: 20, maxLength: 20 }),
    async (accounts, drawnSets) => {
      const tenant_id = newId()
      await asSuperuser(`insert into tenant (id, name) values ($1, 'kinds')`, [tenant_id])
      const entries = accounts.map(({ tags, above, odd }, index) => {
        const metadata = { ...tags, organizational_unit_ids: above, ...odd }
        return { id: accountIds[index], account_id: accountIds[index], metadata }
      })
      await asSuperuser(
        `insert into cloud_account (tenant_id, id, name, account_id, metadata, rank)
          select $1, id, account_id, account_id, metadata, 0
          from jsonb_to_recordset($2) as entry (id text, account_id text, metadata jsonb)`,
        [tenant_id, JSON.stringify(entries)],
      )
      for (const drawn of drawnSets) {
        const ruleSet = sampleRuleSet(drawn.map(textOf).map((text, index) => sampleRule(`rule-${index}`, text)))
        const { kinds } = await findPolicyFacts(database.tenant(tenant_id), [ruleSet], { accountUnknown: true })
        assert.ok(kinds !== 'too_many')
        const outcome = (resources: readonly Resource[]) => {
          const { allowed: may, mode, errors } = decideAsk(ruleSet, { ...sampleQuestion, resources })
          assert.deepEqual(errors, [])
          return { may, mode }
        }
        // Every account by itself, with everything that the cache has of it.
        const single = entries.map(({ account_id = '', metadata }): Resource => {
          const texts = Object.entries(metadata).filter(
            (entry): entry is [string, string] => typeof entry[1] === 'string',
          )
          const { organizational_unit_ids: above } = metadata
          const within = (Array.isArray(above) ? above : []).map((id) => ({
            type: 'cloud_organizational_unit' as const,
            id,
          }))
          const parents = [{ type: 'cloud_account' as const, id: account_id }, ...within]
          return { ...bucket, name: 'logs', tags: Object.fromEntries(texts), parents }
        })
        const bare = { ...bucket, name: 'logs', tags: {} }
        const named = drawn.map(textOf).join()
        const others: Resource[] = [
          { ...bare, parents: [] },
          { ...bare, parents: [{ type: 'cloud_account', id: uncached }] },
          ...units
            .filter((id) => named.includes(id))
            .map((id) => ({ ...bare, parents: [{ type: 'cloud_organizational_unit' as const, id }] })),
        ]
        // A unit that no cached account is in counts as well; one that some are in is among those accounts.
        const inUse = new Set(single.flatMap(({ parents }) => parents.map(({ id }) => id)))
        const expected = outcome([
          ...single,
          ...others.filter(({ parents }) => !parents.some(({ id }) => inUse.has(id))),
        ])
        const got = outcome(kinds.map((kind) => asIfIn(bucket, kind, 'unnamed')))
        assert.deepEqual(got, expected, named)
        most = Math.max(most, kinds.length)
        if (got.may) allowed += 1
        else denied += 1
      }
    },
  )
  await fc.assert(property, { numRuns: rounds(4).length })
  assert.ok(allowed > 5 && denied > 5, `${allowed} allowed, ${denied} denied`)
})

test('accounts that the rules cannot tell apart are one kind', async () => {
  const tenant_id = newId()
  await asSuperuser(`insert into tenant (id, name) values ($1, 'many')`, [tenant_id])
  await asSuperuser(
    `insert into cloud_account (tenant_id, id, name, account_id, metadata, rank)
      select $1, n::text, 'account ' || n, (920000000000 + n)::text,
        jsonb_build_object('owner', 'team ' || n, 'env', case when n % 2 = 0 then 'prod' else 'dev' end), 0
      from generate_series(1, 5000) n`,
    [tenant_id],
  )
  const ruleSet = sampleRuleSet([
    sampleRule(
      'one',
      'permit(principal, action, resource) when { resource.hasTag("env") && resource.getTag("env") == "dev" };',
    ),
  ])
  const { kinds } = await findPolicyFacts(database.tenant(tenant_id), [ruleSet], { accountUnknown: true })
  const tags = kinds === 'too_many' ? [] : kinds.map((kind) => JSON.stringify(kind.tags))
  assert.deepEqual(tags.toSorted(), ['{"env":"dev"}', '{"env":"prod"}', '{}'])
})
