import type { WorkCtx } from '../kernel/context.ts'

/** A directory that says who its users and groups are: it sees and writes its own, and nothing else. */
export type DirectoryCtx = WorkCtx & {
  identity_provider_id: string
  /** As whose doing counts what the directory says: who made its key, or said where it is read. Null: not known. */
  author: string | null
}

/** A directory that makes groups. `source`: it pushes them and their members, or it is read. */
export type GroupingCtx = DirectoryCtx & { source: 'scim' | 'identity_provider' }

/** A directory that calls. */
export type ScimCtx = GroupingCtx & {
  /** The address of its SCIM service, without a slash at the end. */
  base_url: string
}

/** A call of a directory. The body is JSON; undefined where there is none. */
export type ScimCall = {
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, unknown>>
  body: unknown
  /** A header by its lower-case name. */
  header(name: string): string | undefined
}

/** What is answered. `etag`: the version of the resource, weak: other text may stand for the same state. */
export type ScimAnswer = { status: 200 | 201 | 204 | 304; body?: object; etag?: string; location?: string }

/** One endpoint of SCIM, as the server runs it. `path` is below `/scim/v2/{id}`. */
export type ScimOperation = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: `/${string}`
  /** It may change who may sign in, or what rights somebody has. */
  changes?: 'authority'
  /** Bytes; 1 MiB where absent. */
  bodyLimit?: number
  run(ctx: ScimCtx, call: ScimCall): Promise<ScimAnswer>
}

/** Declares one endpoint of SCIM. */
export function scimOperation(declared: ScimOperation): ScimOperation {
  return declared
}
