/** Who gains and who loses by a draft: what is asked, and the answer. */
import { type Static, Type } from 'typebox'
import type { CountedKind } from '../../cloud/cloud-account.ts'
import { Body, DateTime, OneOf, Uuid } from '../../http/schema.ts'
import { Problem } from '../../kernel/errors.ts'
import { type Change, Draft } from '../../policies/drafts/draft.ts'
import type { Principal } from '../../policy-engine/cedar/question.ts'
import type { AccountTraits } from '../../policy-engine/cedar/reading.ts'

/** What is examined at most. `kinds`: of accounts that the rules tell apart. */
export const most = { people: 500, kinds: 200, actions: 20 } as const
/** The names that the answer gives of the people and of the accounts of one change. */
export const maxNames = 20

export const GainsInput = Body({ draft: Draft })

const kinds = ['gains', 'at_once', 'needs_approval', 'loses'] as const
export type Kind = (typeof kinds)[number]

const Named = Type.Object({ id: Type.String(), name: Type.String() }, { title: 'GainsName' })
const Count = Type.Integer({ minimum: 0 })

const People = Type.Object({
  count: Type.Integer({ minimum: 1, description: 'how many people, each on at least one of the accounts' }),
  names: Type.Array(Type.Object({ id: Uuid, name: Type.String() }), {
    description: `the first ${maxNames}, by name`,
  }),
})

const Accounts = Type.Object({
  count: Type.Integer({ minimum: 1, description: 'how many accounts, each for at least one of the people' }),
  names: Type.Array(Named, {
    description: `the first ${maxNames}, in the order of the list; \`id\`: the account number`,
  }),
})

const GainsChange = Type.Object(
  {
    action: Type.String(),
    kind: OneOf(kinds, {
      description:
        '`gains`: may not request it now, and may by the draft. `loses`: the reverse. `at_once`: now a person has to decide, and by the ' +
        'draft nobody has to. `needs_approval`: the reverse.',
    }),
    answer: OneOf(['at_once', 'by_approval'], {
      description: 'how such a request is approved by the draft; for `loses`, how it is now',
    }),
    emergency: Type.Boolean({ description: 'whether the request is an emergency (`break_glass`)' }),
    people: People,
    accounts: Accounts,
  },
  { title: 'GainsChange' },
)
export type GainsChange = Static<typeof GainsChange>

const Extent = (description: string) =>
  Type.Object({ people: Count, accounts: Count, actions: Count }, { title: 'GainsExtent', description })

/** The answer. */
export const Gains = Type.Object(
  {
    rule_set_version: Type.String({ description: 'the version of the rules with which the draft was compared' }),
    at: Type.String({
      ...DateTime,
      description:
        'the moment of the requests: now, or where nobody gains now and rules read the time, the first full hour of the next seven days ' +
        'at which somebody does',
    }),
    duration_seconds: Type.Integer({
      description:
        'of the requests: an hour; a quarter of one where only such a request gains; at most the tenant’s maximum',
    }),
    changes: Type.Array(GainsChange, { description: 'by action; emergencies come last' }),
    examined: Extent('what was examined: all of these people on these accounts'),
    total: Extent(
      'what there is: active users who may request, cached accounts, and actions that new, changed and deleted rules name',
    ),
    has_other_resources: Type.Boolean({
      description:
        'whether a new, changed or deleted rule may concern resources other than accounts, as what lies in them: these are not examined',
    }),
    is_complete: Type.Boolean({ description: 'false: more may change than what is shown' }),
  },
  { title: 'Gains' },
)
export type Gains = Static<typeof Gains>

/** Whom and what a draft is compared for. `described`: the first actions that have a description, beside those that rules name. */
export type Field = {
  people: { total: number; people: Principal[] }
  accounts: { total: number; kinds: CountedKind[] }
  described: { total: number; actions: string[] }
}

/** What of the tenant the rules of a draft need: by what they tell accounts apart, and actions beside those that they name. */
export type Wanted = { traits: AccountTraits & { names: boolean }; actions: readonly string[]; any_action: boolean }

/** The scopes without which the answer, which names people and accounts, is refused. */
const needed = ['users:read', 'groups:read', 'cloud_accounts:read'] as const

/** @throws Problem 403 naming the first scope that is missing */
export function requireMayNameThem(actor: { scopes: ReadonlySet<string> }): void {
  const scope = needed.find((one) => !actor.scopes.has(one))
  if (scope === undefined) return
  throw new Problem('forbidden', `who gains by a draft is shown only with the scope \`${scope}\` too`, {
    details: { scope },
  })
}

/** Reading a rule takes the thread for long computations some 10 ms: a draft of so many keeps other drafts of the tenant from it for a second. */
const maxRules = 100

/** @throws Problem 422 where the draft has more rules than are compared at once */
export function requireFewRules({ changes = [], policies = [] }: Draft): void {
  const ofChange = ({ create_rule, update_rule, create_policy }: Change) =>
    (create_rule || update_rule ? 1 : 0) + (create_policy?.rules?.length ?? 0)
  const ofPolicies = policies.map(({ rules }) => rules.length)
  const count = [...changes.map(ofChange), ...ofPolicies].reduce((sum, one) => sum + one, 0)
  if (count <= maxRules) return
  const why = `a draft is compared with at most ${maxRules} rules at a time; this one has ${count}: replay it instead`
  throw new Problem('unprocessable', why)
}
