import type { AskQuestion } from '../server/src/policy-engine/cedar/question.ts'
import type { PolicyRule } from '../server/src/policy-engine/deciding/rule-set.ts'

/** A rule that every contender can express. Null: any holder, action or place. */
export type PlainRule = {
  effect: 'permit' | 'forbid'
  /** A user, a group or a role. */
  holder: { type: 'User' | 'Group' | 'Role'; id: string } | null
  actions: string[] | null
  /** An account, or a unit with all its accounts. */
  place: { type: 'cloud_account' | 'cloud_organizational_unit'; id: string } | null
  /** A condition, as Cedar writes it. casbin and CASL have conditions only as code of the caller, and are not asked such rules. */
  condition?: string
}

/** A question that every contender can evaluate. */
export type PlainQuestion = {
  user: string
  groups: string[]
  roles: string[]
  action: string
  account: string
  units: string[]
  /** The team that the account is tagged with. */
  team: string
}

const everyAction = ['ReadOnly', 'PowerUser', 'Billing', 'Support', 'Network', 'Admin']
const accountsOfTeam = 3
const teamsOfUnit = 10

const group = (team: number) => ({ type: 'Group', id: `team-${team}` }) as const
const account = (id: number) => ({ type: 'cloud_account', id: String(100_000_000_000 + id) }) as const
const unit = (id: number) => ({ type: 'cloud_organizational_unit', id: `ou-root-${id}` }) as const
const unitOf = (team: number) => Math.floor(team / teamsOfUnit)

/** One of a team's twenty rules: about its accounts, its unit, its on-call user, and what it may never do. */
function teamRule(team: number, index: number): PlainRule {
  const place = account(team * accountsOfTeam + (index % accountsOfTeam))
  const action = everyAction[index % 5] as string
  if (index === 19) return { effect: 'permit', holder: group(team), actions: ['ReadOnly'], place: unit(unitOf(team)) }
  if (index === 18) return { effect: 'permit', holder: { type: 'User', id: `u-${team}-0` }, actions: null, place }
  if (index % 6 === 5) return { effect: 'forbid', holder: group(team), actions: [action, 'Admin'], place }
  return { effect: 'permit', holder: group(team), actions: [action, 'ReadOnly'], place }
}

/** Rules for the whole company: a few, however many teams there are. */
const broadRules: PlainRule[] = [
  { effect: 'forbid', holder: null, actions: ['Admin'], place: unit(0) },
  { effect: 'permit', holder: { type: 'Role', id: 'auditor' }, actions: ['ReadOnly', 'Billing'], place: null },
  { effect: 'forbid', holder: { type: 'Group', id: 'leavers' }, actions: null, place: null },
]

/** Rules of a company with its teams. */
export function companyRules(count: number): PlainRule[] {
  const ofTeams = Array.from({ length: count - broadRules.length }, (_, index) =>
    teamRule(Math.floor(index / 20), index % 20),
  )
  return [...broadRules, ...ofTeams]
}

/** Rules without any user or resource, on the same actions: scopes do not tell them apart. */
export function broadRulesOnly(count: number): PlainRule[] {
  const extra = Array.from({ length: 8 }, (_, index) => `Task${index}`)
  return Array.from({ length: count }, (_, index) => ({
    effect: 'permit',
    holder: null,
    actions: [...extra, everyAction[index % 2] as string],
    place: null,
  }))
}

/** The same, but no two list the same actions. */
export function differingRulesOnly(count: number): PlainRule[] {
  return broadRulesOnly(count).map((rule, at) => ({
    ...rule,
    actions: [...(rule.actions ?? []).slice(1), `Task-${at}`],
  }))
}

/** Rules for anybody, anything and any action: only their conditions tell them apart, by a tag of the account. */
export function conditionalRulesOnly(count: number): PlainRule[] {
  const team = (at: number) => JSON.stringify(group(Math.floor(at / 20)).id)
  return Array.from({ length: count }, (_, at) => ({
    effect: 'permit',
    holder: null,
    actions: null,
    place: null,
    condition: `when { resource.hasTag("team") && resource.getTag("team") == ${team(at)} && context.duration_seconds <= ${at + 1} }`,
  }))
}

/** Users of those teams who request accounts, mostly their own. A user's id determines their groups. */
export function questionsFor(rules: number, count: number): PlainQuestion[] {
  const teams = Math.max(1, Math.floor(rules / 20))
  return Array.from({ length: count }, (_, index) => {
    const [team, member] = [(index * 7919) % teams, index % 7]
    const owningTeam = index % 10 < 7 ? team : (team * 31 + index) % teams
    const groups: string[] = [group(team).id]
    if (member === 1) groups.push(group((team + 1) % teams).id)
    if (member === 5 && team % 8 === 0) groups.push('leavers')
    return {
      user: `u-${team}-${member}`,
      groups,
      roles: member === 6 ? ['user', 'auditor'] : ['user'],
      action: everyAction[index % everyAction.length] as string,
      account: account(owningTeam * accountsOfTeam + (index % accountsOfTeam)).id,
      units: [unit(unitOf(owningTeam)).id, 'ou-root'],
      team: group(owningTeam).id,
    }
  })
}

export function asPolicyRule({ effect, holder, actions, place, condition = '' }: PlainRule, index: number): PolicyRule {
  const name = ({ type, id }: { type: string; id: string }) => `${type}::${JSON.stringify(id)}`
  const principal = holder === null ? 'principal' : `principal ${holder.type === 'User' ? '==' : 'in'} ${name(holder)}`
  const action =
    actions === null ? 'action' : `action in [${actions.map((id) => name({ type: 'Action', id })).join(', ')}]`
  const resource =
    place === null ? 'resource' : `resource ${place.type === 'cloud_account' ? '==' : 'in'} ${name(place)}`
  const policy_text = `${effect}(${principal}, ${action}, ${resource}) ${condition};`
  const id = `0b5e8a52-6f6b-4f0e-9f1c-${String(index).padStart(12, '0')}`
  const stored = { id, policy_id: 'policy', priority: 1, ordinal: index, saved_by: null }
  return { ...stored, effect, policy_text, notice: null, audit_session: false, approval_mode: null }
}

export function asAskQuestion(question: PlainQuestion): AskQuestion {
  const { user, groups, roles, action, account: id, units, team } = question
  const parents = units.map((one) => ({ type: 'cloud_organizational_unit' as const, id: one }))
  return {
    principal: {
      id: user,
      email: `${user}@example.com`,
      name: user,
      active: true,
      email_verified: false,
      auth_provider: 'local',
      is_owner: false,
      scopes: ['requests:create'],
      group_ids: groups,
      role_ids: roles,
    },
    action,
    resources: [{ type: 'cloud_account', id, name: '', tags: { team }, parents }],
    context: {
      duration_seconds: 3_600,
      has_reason: true,
      break_glass: false,
      now: new Date('2026-01-05T12:00:00Z'),
      time_zone: 'UTC',
      via: 'token',
      source_ip: '192.0.2.1',
    },
  }
}
