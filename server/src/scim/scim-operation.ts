import type { DirectoryCtx } from './directory.ts'

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

/** One endpoint of SCIM. `path` is below `/scim/v2/{id}`. */
export type ScimOperation = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: `/${string}`
  /** It may change who may sign in, or what rights somebody has. */
  changes?: 'authority'
  /** Bytes; 1 MiB where absent. */
  bodyLimit?: number
  run(ctx: DirectoryCtx, call: ScimCall): Promise<ScimAnswer>
}
