import { ScimProblem } from '../../http/scim-problem.ts'
import { Problem } from '../../kernel/errors.ts'

/** Why a change is refused, where it is about this one person or group; undefined where the run itself cannot go on. */
export function refusalIn(error: unknown): string | undefined {
  const isRefusal = (error instanceof ScimProblem || error instanceof Problem) && error.status < 500
  return isRefusal ? error.message : undefined
}
