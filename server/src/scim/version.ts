import { namesState } from '../http/if-none-match.ts'
import type { ScimAnswer } from '../http/scim-operation.ts'
import { ScimProblem } from '../http/scim-problem.ts'

/** The version of a resource, as `meta.version` and `ETag` have it. */
export const weakTag = (version: string): string => `W/"${version}"`

/**
 * Refuses a change of another version than the one that the client has seen. Tags compare as weak ones: `W/"1"` is `"1"`.
 * @throws ScimProblem 412
 */
export function requireVersion(header: string | undefined, version: string): void {
  if (header === undefined || namesVersion(header, version)) return
  throw new ScimProblem(412, 'the resource has changed since the version in `If-Match`; read it again')
}

/** Whether a list of tags names the version, or any. */
export function namesVersion(header: string | undefined, version: string): boolean {
  return namesState(header, `"${version}"`)
}

/** The answer to a client that has this version already; undefined for every other. */
export function unchanged(ifNoneMatch: string | undefined, version: string): ScimAnswer | undefined {
  return namesVersion(ifNoneMatch, version) ? { status: 304, etag: weakTag(version) } : undefined
}
