import type { ScimCtx } from '../http/scim-operation.ts'

/** The address of a resource of the directory. */
export const resourceUrl = ({ base_url }: ScimCtx, kind: 'Users' | 'Groups', id: string): string =>
  `${base_url}/${kind}/${id}`
