import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../test/support/chance.ts'
import { findResources } from '../../test/support/found-resources.ts'
import { openHouse } from '../../test/support/house.ts'
import { rounds } from '../../test/support/race.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import type { Ctx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { evaluateRequest } from '../requests/evaluate-request.flow.ts'
import type { RequestInput } from '../requests/request-input.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'

/** On random rules, the catalogue lists exactly what a preview permits, with the answer that the preview gives. */
const house = await openHouse()
const on = await requestStage(house, 'random rules')
const me = on.people.user
const unit = 'ou-ab12-84000000'
const [prod, play, lone, uncached] = ['840000000001', '840000000002', '840000000003', '840000000009'] as const
await on.cache({ [prod]: { units: [unit], tags: { env: 'prod' } }, [play]: { units: [unit] }, [lone]: {} })
const group = await on.created(on.owner, '/v1/groups', { name: 'engineers' })
const other = await on.created(on.owner, '/v1/groups', { name: 'others' })
await on.created(on.owner, `/v1/groups/${group.id}/members`, { user_id: me.user_id })
const policy = await on.created(on.owner, '/v1/policies', { name: 'drawn' })

const database = { type: 'cloud_db_instance', id: `arn:aws:rds:eu-west-1:${prod}:db:orders` } as const
/** What a target has; each rule about its resources alone may permit it. */
const others = [
  { type: 'cloud_db_instance', id: `arn:aws:rds:eu-west-1:${play}:db:bills` },
  { type: 'cloud_db_instance', id: `arn:aws:rds:eu-west-1:${prod}:db:bills` },
] as const
/** The name of a permission set there, which no rule names. */
const setName = 'Billing'
await findResources(house, on.tenant_id, [
  ...[database, ...others].map(({ type, id }) => ({ resource_type: type, id, name: 'found' })),
  { resource_type: 'cloud_permission_set', id: 'arn:aws:sso:::permissionSet/ssoins-1/ps-1', name: setName },
])
const bucket = { type: 'cloud_storage_bucket', id: 'logs' } as const
const account = (id: string) => ({ type: 'cloud_account', id }) as const
/** With what a rule calls them. */
const named = [account(uncached), { type: 'cloud_organizational_unit', id: unit }, database, bucket] as const
const text = ({ type, id }: { type: string; id: string }) => `${type}::${JSON.stringify(id)}`

/** Principals, and whether they are the caller. */
const principals: [string, boolean][] = [
  ['principal', true],
  [`principal == User::"${me.user_id}"`, true],
  [`principal in Group::"${group.id}"`, true],
  ['principal in Role::"user"', true],
  [`principal in Group::"${other.id}"`, false],
]
const actions: [string, string[] | undefined][] = [
  ['action', undefined],
  ['action == Action::"Read"', ['Read']],
  ['action in [Action::"Admin", Action::"Power user"]', ['Admin', 'Power user']],
]
const resources = [
  'resource',
  'resource is cloud_account',
  `resource == ${text(account(prod))}`,
  `resource in ${text({ type: 'cloud_organizational_unit', id: unit })}`,
  `resource is cloud_account in ${text({ type: 'cloud_organizational_unit', id: unit })}`,
  'resource is cloud_db_instance',
  ...named.map((one) => `resource == ${text(one)}`),
]
const conditions = [
  ...['', '', '', 'when { context.duration_seconds <= 1800 }', 'when { 7200 > context.duration_seconds }'],
  ...['when { context.duration_seconds > 5000 }', 'unless { context.duration_seconds == 43200 }'],
  ...['when { context.has_reason }', 'unless { context.has_reason }', 'when { context.break_glass }'],
  ...['when { resource.hasTag("env") }', 'unless { resource.hasTag("env") && resource.getTag("env") == "prod" }'],
  ...[`when { ${text(account(prod))}.hasTag("env") }`, `unless { ${text(account(play))}.hasTag("env") }`],
  ...[
    'when { action == Action::"Admin" }',
    'when { resource.name == "account 840000000002" }',
    'when { context has has_reason }',
  ],
  ...[`when { resource == ${text(others[0])} }`, `unless { resource in ${text(account(prod))} }`],
  ...[`when { resource == ${text(account(lone))} }`, `unless { resource in cloud_organizational_unit::"${unit}" }`],
  ...['when { context.via == "token" }', 'when { context.duration_seconds * 9223372036854775807 > 0 }'],
]
const modes = { permit: ['require', 'auto', 'break_glass'], forbid: ['', '', 'auto', 'break_glass'] } as const

const anyRule = (effect: 'permit' | 'forbid') =>
  fc.record({
    effect: fc.constant(effect),
    mode: fc.constantFrom(...modes[effect]),
    principal: fc.constantFrom(...principals),
    action: fc.constantFrom(...actions),
    resource: fc.constantFrom(...resources),
    condition: fc.constantFrom(...conditions),
  })
type Drawn = typeof anyRule extends (effect: 'permit') => fc.Arbitrary<infer Rule> ? Rule : never

const textOf = ({ effect, mode, principal, action, resource, condition }: Drawn) =>
  `${mode ? `@approval_mode("${mode}") ` : ''}${effect}(${principal[0]}, ${action[0]}, ${resource}) ${condition};`

const anyRules = fc
  .tuple(
    fc.array(anyRule('permit'), { minLength: 1, maxLength: 4 }),
    fc.array(anyRule('forbid'), { maxLength: 2 }),
    fc.record({ limit: fc.integer({ min: 1, max: 4 }), reason: fc.boolean(), cap: fc.constantFrom('43200', '2400') }),
  )
  .map(([permits, forbids, how]) => ({ rules: [...permits, ...forbids], ...how }))

async function listAll(limit: number): Promise<CatalogueEntry[]> {
  const entries: CatalogueEntry[] = []
  for (let cursor = ''; ; ) {
    const reply = await on.call(me, 'GET', `/v1/catalogue?limit=${limit}${cursor && `&cursor=${cursor}`}`)
    assert.equal(reply.status, 200, reply.text)
    const { data, next_cursor, has_more } = reply.body as {
      data: CatalogueEntry[]
      next_cursor?: string
      has_more: boolean
    }
    // So few candidates never make a page end early, and no page is announced that has nothing.
    assert.equal(data.length, has_more ? limit : data.length)
    assert.ok(data.length > 0 || entries.length === 0, 'a page without entries was announced')
    entries.push(...data)
    if (next_cursor === undefined) return entries
    cursor = encodeURIComponent(next_cursor)
  }
}

/** The answer of a preview, without its explanation: null where it is refused. */
async function modeOf(input: RequestInput): Promise<string | null> {
  const actor = { kind: 'user', user_id: me.user_id, api_key_id: null, scopes: new Set(['requests:create']) }
  const ctx = { tx: house.database.tenant(on.tenant_id), actor, now: new Date(), via: 'token', source_ip: '127.0.0.1' }
  try {
    return (await evaluateRequest(ctx as unknown as Ctx, input)).decision.mode
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_input') return null
    throw error
  }
}

const durations = [60, 599, 1800, 1801, 2400, 3600, 5000, 5001, 7199, 7200, 43_199, 43_200]
const keyOf = ({ resource, action }: Pick<CatalogueEntry, 'resource' | 'action'>) => `${text(resource)} ${action}`

async function requireTrue(entry: CatalogueEntry, cap: number): Promise<void> {
  const { resource, action, answer, break_glass, needs_reason, duration_seconds, max_duration_seconds } = entry
  const body = { resource, action, break_glass, ...(needs_reason && { reason: 'a reason' }) }
  const preview = await on.call(me, 'POST', '/v1/requests/preview', { ...body, duration_seconds })
  const shown = preview.body.approval_mode === 'require' ? 'by_approval' : 'at_once'
  assert.deepEqual([preview.status, preview.body.allowed, shown], [200, true, answer], preview.text)
  assert.equal(break_glass, preview.body.approval_mode === 'break_glass')
  const usual = await modeOf(body)
  assert.equal(duration_seconds, usual === null ? max_duration_seconds : Math.min(3600, cap))
  assert.notEqual(await modeOf({ ...body, duration_seconds: max_duration_seconds }), null, 'the longest passes')
  for (const longer of [max_duration_seconds + 1, ...durations]) {
    if (longer <= max_duration_seconds || longer > cap) continue
    assert.equal(await modeOf({ ...body, duration_seconds: longer }), null, `${longer} passes too`)
  }
}

/** Everything that a preview permits by any duration, with or without a reason, in an emergency too. */
async function permitted(rules: readonly Drawn[], cap: number): Promise<string[]> {
  const known = ['Read', 'Admin', 'Power user'].filter((one) => rules.some((rule) => textOf(rule).includes(`"${one}"`)))
  const mine = rules.filter(({ effect, principal }) => effect === 'permit' && principal[1])
  const resourcesNamed = named.filter((one) => mine.some(({ resource }) => resource.includes(text(one))))
  const found: string[] = []
  const unfound = resourcesNamed.filter((one) => one !== database)
  for (const resource of [account(prod), account(play), account(lone), database, ...others, ...unfound]) {
    const isGivenBySets = resource.type === 'cloud_account' || resource.type === 'cloud_organizational_unit'
    for (const action of isGivenBySets ? [...known, setName] : known) {
      const ways = [{}, { reason: 'a reason' }, { reason: 'a reason', break_glass: true }].flatMap((way) =>
        durations.filter((one) => one <= cap).map((duration_seconds) => ({ ...way, duration_seconds })),
      )
      let isPermitted = false
      for (const way of ways) isPermitted ||= (await modeOf({ resource, action, ...way })) !== null
      if (isPermitted) found.push(keyOf({ resource, action }))
    }
  }
  return found
}

test('lists exactly what a preview permits, with its answer and its longest duration', async () => {
  let listed = 0
  const set = (key: string, value: string) => on.call(on.owner, 'PUT', `/v1/settings/requests.${key}`, { value })
  const property = fc.asyncProperty(anyRules, async ({ rules, limit, reason, cap }) => {
    const cedar = rules.map(textOf).join('\n')
    const saved = await on.call(on.owner, 'PUT', `/v1/policies/${policy.id}/cedar`, { cedar })
    assert.equal(saved.status, 200, saved.text)
    await set('require_reason', String(reason))
    await set('max_duration_seconds', cap)
    const entries = await listAll(limit)
    for (const entry of entries) await requireTrue(entry, Number(cap))
    assert.deepEqual(entries.map(keyOf), (await permitted(rules, Number(cap))).sort(byPlace(rules)))
    listed += entries.length
  })
  await fc.assert(property, { numRuns: rounds(12).length })
  assert.ok(listed > 20, `only ${listed} entries were listed`)
})

/** Cached accounts come first, here by name; then databases, if any rule covers all of them; then what rules name, by type and id. */
const order = [prod, play, lone].map((id) => text(account(id)))
const types = ['cloud_account', 'cloud_storage_bucket', 'cloud_db_instance', 'cloud_organizational_unit']
const covering = ['resource', 'resource is cloud_db_instance', `resource in ${text(named[1])}`]
const byPlace = (rules: readonly Drawn[]) => (one: string, two: string) => {
  const isCovered = rules.some(
    ({ effect, principal, resource }) => effect === 'permit' && principal[1] && covering.includes(resource),
  )
  const placeOf = (key: string) => {
    const cached = order.findIndex((known) => key.startsWith(known))
    if (isCovered && key.startsWith('cloud_db_instance')) return 5
    const type = types.findIndex((known) => key.startsWith(known))
    return cached >= 0 ? cached : 10 + type
  }
  return placeOf(one) - placeOf(two) || (one < two ? -1 : 1)
}
