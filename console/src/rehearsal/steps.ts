import type { Schemas } from '@sallyport/client'
import type { Choice } from '../access/choice.ts'

export const steps = ['ask', 'approve', 'refusal', 'atOnce'] as const
export type Step = (typeof steps)[number]

type Accounts = Schemas['Rehearsal']['accounts']
type Made = Pick<Schemas['AccessRequest'], 'id' | 'resource' | 'status' | 'decided_by'>

/** What each step requests, in the form of a request. Undefined where the accounts of the rehearsal were removed. */
export function choicesOf(accounts: Accounts): Readonly<Record<'ask' | 'refusal' | 'atOnce', Choice>> | undefined {
  const [production, sandbox] = [accounts[0], accounts.at(-1)]
  if (production === undefined || sandbox === undefined) return undefined
  const on = ({ id }: { id: string }) => ({ type: 'cloud_account' as const, id })
  return {
    ask: { ...on(production), action: 'ReadOnlyAccess' },
    refusal: { ...on(production), action: 'AdministratorAccess', duration: 28_800 },
    atOnce: { ...on(sandbox), action: 'ReadOnlyAccess' },
  }
}

/**
 * Which steps are done, as the person's own requests say. `hasTried`: whether they opened what is not allowed, of which no record tells.
 */
export function doneOf(requests: readonly Made[], accounts: Accounts, hasTried: boolean): ReadonlySet<Step> {
  const ids = accounts.map(({ id }) => id)
  const rehearsed = requests.filter(({ resource }) => ids.includes(resource.id))
  const isDone: Record<Step, boolean> = {
    ask: rehearsed.some(
      ({ resource, status }) => resource.id === ids[0] && (status === 'pending' || status === 'approved'),
    ),
    approve: rehearsed.some(({ status, decided_by }) => status === 'approved' && decided_by !== null),
    refusal: hasTried,
    atOnce: rehearsed.some(({ status, decided_by }) => status === 'approved' && decided_by === null),
  }
  return new Set(steps.filter((step) => isDone[step]))
}

/** The request that waits for a colleague: the newest. */
export function waitingOf(requests: readonly Made[], accounts: Accounts): string | undefined {
  const ids = accounts.map(({ id }) => id)
  return requests.find(({ resource, status }) => status === 'pending' && ids.includes(resource.id))?.id
}
