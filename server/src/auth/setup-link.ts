import { Type } from 'typebox'
import { Problem } from '../kernel/errors.ts'

export const SetupKey = Type.String({ maxLength: 200, description: 'what follows `#k=` in the setup link' })

/** The same for every cause: a stranger learns nothing from it. */
export function linkOver(): Problem {
  const why = 'this setup link was used, was replaced or is older than an hour'
  return new Problem('unauthenticated', `${why}; the operator makes a new one: npm run admin -- setup-link`)
}
