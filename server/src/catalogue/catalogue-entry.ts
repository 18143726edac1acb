/** What a user may ask for: one resource and one action, with the answer that a request would get. */
import { type Static, Type } from 'typebox'
import { ActionDescription } from '../actions/action.ts'
import { Nullable, OneOf } from '../http/schema.ts'
import { ResourceReference } from '../requests/request.ts'

export const CatalogueEntry = Type.Object(
  {
    resource: ResourceReference,
    resource_name: Nullable(
      Type.String({
        description:
          'the name of a cached account, or of a database or unit that an inventory found; null where none is known',
      }),
    ),
    action: Type.String(),
    action_description: ActionDescription,
    answer: OneOf(['at_once', 'by_approval'], {
      description: 'how a request of `duration_seconds` would be approved: at once, or when a person decides',
    }),
    break_glass: Type.Boolean({
      description: 'true: only an emergency may have it; it is approved at once, and all approvers are notified',
    }),
    needs_reason: Type.Boolean({ description: 'only a request with a reason gets this answer' }),
    duration_seconds: Type.Integer({
      description: 'the default duration; where that does not pass, the longest that does',
    }),
    max_duration_seconds: Type.Integer({
      description: 'the longest duration that passes, though perhaps with another answer',
    }),
    live_grant_id: Nullable(
      Type.String({
        format: 'uuid',
        description: 'a grant of the caller that is pending or active; null where there is none',
      }),
    ),
    is_favourite: Type.Boolean(),
  },
  { title: 'CatalogueEntry' },
)
export type CatalogueEntry = Static<typeof CatalogueEntry>

/** A resource and an action. */
export type Pair = { resource: ResourceReference; action: string }

/** The answer to a pair. */
export type PairAnswer = Pick<
  CatalogueEntry,
  'answer' | 'break_glass' | 'needs_reason' | 'duration_seconds' | 'max_duration_seconds'
>

/** An entry without what is read once it is known to be listed. */
export type FoundEntry = Omit<CatalogueEntry, 'action_description' | 'live_grant_id' | 'is_favourite'>
