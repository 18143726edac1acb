import type { WorkCtx } from '../kernel/context.ts'

/** The directory whose key calls: it sees and writes its own users and groups, and nothing else. */
export type DirectoryCtx = WorkCtx & {
  identity_provider_id: string
  /** The address of its SCIM service, without a slash at the end. */
  base_url: string
}

/** Who calls for a directory: the key, which acts for the user who made it. */
export const resourceUrl = ({ base_url }: DirectoryCtx, kind: 'Users' | 'Groups', id: string): string =>
  `${base_url}/${kind}/${id}`
