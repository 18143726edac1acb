/** What an action means: a line of the tenant's own beside the action's id, for people. Policy never reads it. */
import { type Static, Type } from 'typebox'
import { Body, DateTime, Documented, Name, Nullable } from '../http/schema.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { findActionFault, maxActionLength } from '../policy-engine/cedar/reference-faults.ts'
import type { AskedType } from '../policy-engine/cedar/schema.ts'

/** The maximum number of actions of a tenant that have a description. */
export const maxDescribedActions = 5_000

/** An action with its description, as the API returns it. */
export const DescribedAction = Type.Object(
  {
    action: Type.String({ description: 'as rules and requests name it' }),
    description: Type.String(),
    updated_at: DateTime,
  },
  { title: 'DescribedAction' },
)
export type DescribedAction = Static<typeof DescribedAction>

export const ActionDescriptionInput = Body({
  description: Name(200, { description: 'what the action lets its holder do, in words that an approver understands' }),
})

/** The description beside an action that a record names. */
export const ActionDescription = Nullable(
  Type.String({
    description:
      'what the action means: in the tenant’s own words, else in those of AWS about the permission set that it names; null where it is not described',
  }),
)

/** The types of resources on which an action names a permission set of AWS. */
export const typesGivenBySets = ['cloud_account', 'cloud_organizational_unit'] as const satisfies AskedType[]

/** `own`: in the tenant's words. `of_set`: those of AWS, for an action on a resource of `typesGivenBySets`. */
export type ActionDescriptions = { own: string | null; of_set: string | null }

export function isGivenBySets(type: AskedType): boolean {
  return typesGivenBySets.some((one) => one === type)
}

/** The description of an action on a resource of this type. */
export function descriptionOn(type: AskedType, { own, of_set }: ActionDescriptions): string | null {
  return own ?? (isGivenBySets(type) ? of_set : null)
}

/** `{action}` of a path. */
export const ActionParams = Type.Object({
  action: Documented(
    Type.String({
      description:
        'the action as rules and requests name it, percent-encoded: `arn:aws:iam::aws:policy/Name` is `arn%3Aaws%3Aiam%3A%3Aaws%3Apolicy%2FName`',
    }),
    { maxLength: maxActionLength },
  ),
})

/** @throws Problem 400 for an action that no request can name */
export function requireAction(action: string): string {
  const why =
    [...action].length > maxActionLength
      ? `must not have more than ${maxActionLength} characters`
      : findActionFault(action)
  if (why !== undefined) throw invalidInput([{ pointer: 'action', why }])
  return action
}

export const changesMeanwhile = (action: string) =>
  new Problem('version_conflict', `other requests are changing the description of \`${action}\`; read it and try again`)

export const tooManyDescribed = () =>
  new Problem(
    'unprocessable',
    `the tenant has the maximum of ${maxDescribedActions} described actions; remove one first`,
  )
