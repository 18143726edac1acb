import type { Target } from '../driver.ts'
import type { OwnSet } from './own-set.ts'

/** An assignment: a person, on an account, by a permission set of the house or one made for them. */
export type Assignment = { account_id: string; principal_id: string } & (
  | { permission_set_arn: string }
  | { own_set: OwnSet }
)

/** The one identity of an assignment, however it was asked for. */
export function keyOf(instance_arn: string, assignment: Assignment): string {
  const { account_id, principal_id } = assignment
  const set = 'own_set' in assignment ? assignment.own_set.name : assignment.permission_set_arn
  return JSON.stringify([instance_arn, account_id, set, principal_id])
}

/** INVARIANT: a target is what a plan of ours made, or a sighting; nobody else writes one. */
export function assignmentOf(target: Target): Assignment {
  return target as Assignment
}
