import type { AccessRequest } from '../requests/request.ts'

type Decided = Pick<AccessRequest, 'updated_at'>

/** Of the requests that a person decided, those of today, the last decision first. A decided request changes no more. */
export const decidedToday = <One extends Decided>(decided: readonly One[], isToday: (at: string) => boolean): One[] =>
  decided
    .filter(({ updated_at }) => isToday(updated_at))
    .sort((one, other) => Date.parse(other.updated_at) - Date.parse(one.updated_at))
