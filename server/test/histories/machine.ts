/**
 * The states of requests and grants as callers see them, and the steps between them. The table of grants is written down a second time
 * on purpose: a wrong row of the service's own would otherwise make its effect right. A test compares the two.
 */

/** `step`: how far the target of a grant is; null for a request. `by`: who decided the request, or ended the grant. */
export type ObjectState = { status: string; step: string | null; by: string | null }

/** Before it was made. */
export const absent: ObjectState = { status: 'absent', step: null, by: null }

const notGiven = ['not_attempted', 'attempting']
const leaving = ['deprovisioning', 'deprovisioning_failed']

type Row = { from: readonly string[]; was: readonly string[]; to: string | null; becomes: string }

/** Steps of workers, which come at any time. */
const workerRows: readonly Row[] = [
  { from: ['pending'], was: notGiven, to: null, becomes: 'attempting' },
  { from: ['pending'], was: notGiven, to: 'active', becomes: 'successful' },
  { from: ['pending'], was: notGiven, to: 'active', becomes: 'not_attempted' },
  { from: ['pending'], was: notGiven, to: 'failed', becomes: 'failed' },
  { from: ['active'], was: ['not_attempted'], to: 'expired', becomes: 'not_attempted' },
  { from: ['active'], was: ['successful'], to: 'expired', becomes: 'deprovisioning' },
  { from: ['expired', 'revoked'], was: leaving, to: null, becomes: 'deprovisioned' },
  { from: ['expired', 'revoked'], was: leaving, to: null, becomes: 'deprovisioning_failed' },
  { from: ['failed'], was: ['failed', 'deprovisioning_failed'], to: null, becomes: 'deprovisioning_failed' },
  { from: ['failed'], was: ['deprovisioning_failed'], to: null, becomes: 'deprovisioned' },
]

const revokeRows: readonly Row[] = [
  { from: ['pending', 'active'], was: ['not_attempted'], to: 'revoked', becomes: 'not_attempted' },
  { from: ['pending'], was: ['attempting'], to: 'revoked', becomes: 'deprovisioning' },
  { from: ['active'], was: ['successful'], to: 'revoked', becomes: 'deprovisioning' },
]

const retryRows: readonly Row[] = [
  {
    from: ['failed'],
    was: ['failed', 'deprovisioning_failed', 'deprovisioned'],
    to: 'pending',
    becomes: 'not_attempted',
  },
]

/** The steps of a grant, each with one state before and after, as `status/step`; for the comparison with the service's table. */
export function grantSteps(): Set<string> {
  const rows = [...workerRows, ...revokeRows, ...retryRows]
  return new Set(
    rows.flatMap(({ from, was, to, becomes }) =>
      from.flatMap((status) => was.map((step) => `${status}/${step} > ${to ?? status}/${becomes}`)),
    ),
  )
}

/** A state as text: equal texts are equal states. */
export const textOf = ({ status, step, by }: ObjectState): string => `${status}/${step}/${by}`

/** A grant as an approval makes it. */
export const newGrant: ObjectState = { status: 'pending', step: 'not_attempted', by: null }

function stepsBy(rows: readonly Row[], state: ObjectState, by: string | null): ObjectState[] {
  return rows
    .filter(({ from, was }) => from.includes(state.status) && was.includes(state.step ?? ''))
    .map(({ to, becomes }) => ({ status: to ?? state.status, step: becomes, by: to === null ? state.by : by }))
}

/** What becomes of a live grant that a caller ends; none: it cannot be ended. */
export const revoked = (state: ObjectState, by: string): ObjectState[] => stepsBy(revokeRows, state, by)

/** What becomes of a failed grant that a caller retries; none: it has not failed. */
export const retried = (state: ObjectState): ObjectState[] => stepsBy(retryRows, state, null)

const known = new Map<string, readonly ObjectState[]>()

/** The state itself, then all states to which workers may bring it without any caller. */
export function reachable(state: ObjectState): readonly ObjectState[] {
  const text = textOf(state)
  const found = known.get(text)
  if (found !== undefined) return found
  const all = new Map([[text, state]])
  for (const one of all.values()) for (const next of workerSteps(one)) all.set(textOf(next), next)
  const states = [...all.values()]
  known.set(text, states)
  return states
}

function workerSteps(state: ObjectState): ObjectState[] {
  if (state.step !== null) return stepsBy(workerRows, state, null)
  return state.status === 'pending' ? [{ ...state, status: 'expired' }] : []
}
