import type { Target } from '../driver.ts'
import type { OwnSet } from './own-set.ts'

/**
 * An assignment: a person, an account, and a permission set of the organization or an own set made for the person. `cuts`: the plan
 * said that sessions are cut at the end.
 */
export type Assignment = { account_id: string; principal_id: string } & (
  | { permission_set_arn: string; cuts?: true }
  | { own_set: OwnSet }
)

/** An assignment of a permission set of the organization. */
export type SetAssignment = Extract<Assignment, { permission_set_arn: string }>

/** The unique key of an assignment, independent of how it was requested. */
export function keyOf(instance_arn: string, assignment: Assignment): string {
  const { account_id, principal_id } = assignment
  const set = 'own_set' in assignment ? assignment.own_set.name : assignment.permission_set_arn
  return JSON.stringify([instance_arn, account_id, set, principal_id])
}

/** The same, in the instance of a center. */
export function keyIn({ config }: { config: { instance_arn: string } }, assignment: Assignment): string {
  return keyOf(config.instance_arn, assignment)
}

/** INVARIANT: a target comes only from a plan of this driver, or from a sighting. */
export function assignmentOf(target: Target): Assignment {
  return target as Assignment
}
