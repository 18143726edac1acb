import { properties } from './properties.ts'
import type { Counterexample } from './walk.ts'

/** A counterexample as lines for people: what is broken, and the steps to it, each with a number. */
export function describe({ property, begin, steps }: Counterexample): string[] {
  const { corrects_drift, entitlement } = begin
  const start = [
    entitlement.target.held ? 'the target holds the access already' : 'the target does not hold the access',
    corrects_drift ? 'drift is corrected' : 'drift is left',
  ]
  const end = steps.at(-1)?.to ?? begin
  const { row, target, grants } = end.entitlement
  const statuses = grants
    .filter(({ status }) => status !== null)
    .map((one) => `${one.id} ${one.status}/${one.provisioning}`)
  return [
    `broken: ${property}`,
    `  ${properties[property]}`,
    `in the beginning ${start.join(', and ')}`,
    ...steps.map(({ what }, index) => `${String(index + 1).padStart(3)}. ${what}`),
    `then: ${statuses.join(', ')}; the target ${target.held ? 'holds' : 'does not hold'} the access`,
    `      the ledger: observed ${row.observed}, act ${row.act ?? 'none'}, drift ${row.drift ?? 'none'}, next check ${
      row.next === null ? 'never' : row.next <= end.now ? 'due' : `at ${row.next}`
    }`,
  ]
}
