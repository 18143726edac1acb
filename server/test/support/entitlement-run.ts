import { beginRun, type EntitlementRow, type Run } from '../../src/grants/convergence.ts'

/** An entitlement that no grant wants and that is absent. */
export const row: EntitlementRow = {
  held: false,
  waiting: [],
  provisioner: 'sandbox',
  provisioner_id: null,
  provisioner_version: null,
  enabled: true,
  target: {},
  until_ms: 1_000_000,
  given_until_ms: null,
  act_polls: 0,
  failures: 0,
  due_at: '',
  held_before: false,
  observed: 'absent',
  suspected: false,
  awaited: false,
  drift: null,
  corrects_drift: false,
  is_made: false,
  may_land: false,
  act: null,
  act_reference: null,
}

/** A run of it. */
export const runOf = (about: Partial<Run> = {}): Run => ({ ...beginRun(row), ...about })

/** The fields of `whole` that `part` has. */
export function pick<Whole extends object>(whole: Whole, part: Partial<Whole>): Partial<Whole> {
  return Object.fromEntries(Object.keys(part).map((key) => [key, whole[key as keyof Whole]])) as Partial<Whole>
}
